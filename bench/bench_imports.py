"""What a cold start imports before it can work, beside what the peers import."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from measuring import Times, median_ms, percentile_ms
from report import Column, Goal, Section

LIMIT_MS = 350
_ABSENT = ("fastapi", "starlette", "pydantic_ai", "openai", "anthropic")

_PROGRAM = """
import json, runpy, sys, time
wall, cpu = time.perf_counter(), time.process_time()
{work}
told = [time.perf_counter() - wall, time.process_time() - cpu, sorted(set(sys.modules) & set({watched!r}))]
print(json.dumps(told))
"""


def measure(root: Path, scratch: Path, turns: int) -> Section:
    """Each import in a process of its own; the first round compiles the bytecode (the layer that is deployed brings its
    own) and does not count."""
    programs = {
        "functions/flow/handler.py": "runpy.run_path('functions/flow/handler.py')",
        "boto3 alone": "import boto3",
        "LangGraph with SqliteSaver": "import langgraph.graph, langgraph.checkpoint.sqlite",
        "DBOS": "import dbos",
    }
    times = {name: Times() for name in programs}
    found: set[str] = set()
    for turn in range(-1, turns):
        for name, work in programs.items():
            wall, cpu, modules = _import(root, scratch / "bytecode", work)
            if name.startswith("functions"):
                found |= set(modules)
            if turn >= 0:
                times[name].wall.append(wall)
                times[name].cpu.append(cpu)
    ours, *peers = programs
    took = median_ms(times[ours].wall)
    rows = [{"what": ours, "wall": took, "p99": percentile_ms(times[ours].wall, 99), "cpu": median_ms(times[ours].cpu)}]
    for peer in peers:
        wall = median_ms(times[peer].wall)
        rows.append({"what": peer, "ratio": took / wall, "wall": wall, "p99": percentile_ms(times[peer].wall, 99)})
        rows[-1]["cpu"] = median_ms(times[peer].cpu)
    return Section(
        "imports",
        "Cold import, ms",
        [
            Column("what", "", "text"),
            Column("ratio", "handler to it", "ratio"),
            Column("wall", "median"),
            Column("p99", "p99"),
            Column("cpu", "CPU"),
        ],
        rows=rows,
        goals=[
            Goal("cold import of functions/flow/handler.py", took, LIMIT_MS, " ms"),
            Goal(f"of {', '.join(_ABSENT)} imported there", len(found), 0),
        ],
    )


def _import(root: Path, bytecode: Path, work: str) -> Any:
    program = _PROGRAM.format(work=work, watched=_ABSENT)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(root / "layers/engine"), "PYTHONPYCACHEPREFIX": str(bytecode)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])
