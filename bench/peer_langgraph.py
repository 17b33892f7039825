"""The same shapes in LangGraph, each checkpoint written before the next node runs (`durability="sync"`)."""

import operator
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from workflows import WIDTH


class State(TypedDict):
    """`x` stays; each node adds its part to `done`, as a node's output joins a run's."""

    x: int
    done: Annotated[list[int], operator.add]


def chain(length: int) -> Any:
    graph = StateGraph(State)
    names = [f"n{number}" for number in range(length)]
    for name in names:
        graph.add_node(name, _node)
    for source, target in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(source, target)
    return graph


def diamond() -> Any:
    graph = StateGraph(State)
    wide = [f"m{number}" for number in range(WIDTH)]
    for name in ("first", *wide, "last"):
        graph.add_node(name, _node)
    graph.add_edge(START, "first")
    for name in wide:
        graph.add_edge("first", name)
    graph.add_edge(wide, "last")
    graph.add_edge("last", END)
    return graph


@contextmanager
def open_saver(folder: Path) -> Iterator[SqliteSaver]:
    """Checkpoints in a database file, with the saver's own settings."""
    with SqliteSaver.from_conn_string(str(folder / "langgraph.sqlite")) as saver:
        yield saver


def runner(graph: Any, saver: SqliteSaver) -> Callable[[], object]:
    """Does a whole run at each call."""
    app, threads = graph.compile(checkpointer=saver), count()
    return lambda: app.invoke(_inputs(), _thread(threads), durability="sync")


def pace(graph: Any, saver: SqliteSaver) -> tuple[list[float], list[float]]:
    """One run: wall and CPU seconds of each node after the first, from the end of the one before it to its own."""
    app = graph.compile(checkpointer=saver)
    wall, cpu = [], []
    config = _thread(count()) | {"recursion_limit": 10_000}
    last_wall, last_cpu = time.perf_counter(), time.process_time()
    for _ in app.stream(_inputs(), config, durability="sync", stream_mode="updates"):
        now_wall, now_cpu = time.perf_counter(), time.process_time()
        wall.append(now_wall - last_wall)
        cpu.append(now_cpu - last_cpu)
        last_wall, last_cpu = now_wall, now_cpu
    return wall[1:], cpu[1:]


def first_update(graph: Any, saver: SqliteSaver) -> Callable[[], object]:
    """Runs until the first update is there."""
    app, threads = graph.compile(checkpointer=saver), count()
    return lambda: next(app.stream(_inputs(), _thread(threads), durability="sync", stream_mode="updates"))


def _node(state: State) -> dict[str, Any]:
    return {"done": [1]} if state["x"] > 0 else {}


def _inputs() -> State:
    return {"x": 1, "done": []}


def _thread(threads: Iterator[int]) -> dict[str, Any]:
    return {"configurable": {"thread_id": f"{time.time_ns()}-{next(threads)}"}}
