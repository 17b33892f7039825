"""The planner of an AGENTIC workflow: a model that decides which node runs next (contract §2).

It is no node type: nobody draws it. What it has to know of the run it finds in what its own last visit left behind and
in what the node visited last gave, so that a decision costs the same however long the run is (law 6).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stepweave.agents.models import is_scripted
from stepweave.agents.request import LoopRequest, LoopResult
from stepweave.agents.script import script_problems
from stepweave.execution.ledger import Ledger
from stepweave.execution.outcome import Outcome
from stepweave.execution.visit import PLANNER, VisitBody
from stepweave.execution.work import Work
from stepweave.expressions.envelopes import data_of
from stepweave.expressions.scope import Scope
from stepweave.graph import shape
from stepweave.graph.model import Node
from stepweave.graph.spec import Specs
from stepweave.graph.topology import Graph
from stepweave.nodes import planner_prompt
from stepweave.nodes.inputs import Inputs
from stepweave.nodes.model_call import ModelCall
from stepweave.scheduling.planning import Decided, Refused, planner_of, read_decision
from stepweave.texts import Text

MOST_REFUSALS = 3
"""How often in a row a refused decision is asked for again (contract §2)."""


@dataclass(frozen=True, slots=True)
class Past:
    """`before` is what the planner's last visit left behind, None at first; `ledger` tells all visits since."""

    ledger: Ledger
    before: VisitBody | None


def plan(graph: Graph, specs: Specs, scope: Scope, past: Past, work: Work) -> Outcome:
    """Asks the planner for a decision; the outcome has it as its `decision`, and as `data` what the next visit needs:
    `{turns, visits}`, the requests made so far and the last visits in short.

    A decision that is refused is told to the planner, who is asked again. Raises what `work` raises.
    """
    planner = planner_of(graph)
    inputs = Inputs.of(pseudo_node(graph), scope)
    known = data_of(past.before.output) if past.before is not None else {}
    visits = planner_prompt.visits_so_far(graph, scope, past, known.get("visits", []))
    prompt = planner_prompt.prompt(graph, specs, scope, past.ledger, visits, work.language)
    system = planner_prompt.SYSTEM.to(work.language) + "\n\n" + inputs.render(planner.instructions or "")
    call = ModelCall(work, planner.model, inputs)
    request = LoopRequest(
        model=planner.model,
        prompt=prompt,
        system=system.strip(),
        opening=call.opening,
        script=planner.script,
        first_turn=known.get("turns", 0),
    )
    from stepweave.agents.loop import run_loop  # the agent library is large: not before a model is called

    refused: list[tuple[str, Text]] = []
    spent: list[LoopResult] = []
    while True:
        told = planner_prompt.refusals(refused).to(work.language)
        instruction = planner_prompt.form(graph).to(work.language) + told
        spent.append(run_loop(replace(request, instruction=instruction), work))
        result = _together(spent)
        if result.failure is not None:
            return call.outcome(result, ())
        request = replace(request, first_turn=request.first_turn + spent[-1].steps)
        try:
            decided = _playable(read_decision(result.text, graph, past.ledger), planner.model)
        except Refused as refusal:
            refused.append((result.text, refusal.text))
            if len(refused) > MOST_REFUSALS:
                return call.failed(_gave_up(refused))
            continue
        left = {"turns": request.first_turn, "visits": planner_prompt.kept(visits)}
        return call.succeeded(result, left, decision=decided)


def _playable(decided: Decided, model: str) -> Decided:
    """The decision with its script checked, as a saved one would be; only a scripted planner gives any (contract §8)."""
    if "script" not in decided:
        return decided
    if not is_scripted(model):
        return {name: value for name, value in decided.items() if name != "script"}
    faults = script_problems(decided["script"])
    if faults:
        place, text = shape.spell(faults[0].below("script").path), faults[0].text
        raise Refused(Text(f"{place} {text.zh}", f"{place} {text.en}"))
    return decided


def pseudo_node(graph: Graph) -> Node:
    """The planner as a node, for what nodes have in common; validation knows no such type."""
    return Node(id=PLANNER, type=PLANNER, data={"model": planner_of(graph).model})


def _together(results: Sequence[LoopResult]) -> LoopResult:
    """What all requests of a visit cost, with the answer of the last."""
    usage: dict[str, int] = {}
    for result in results:
        usage = {name: usage.get(name, 0) + tokens for name, tokens in result.usage.items()}
    return replace(
        results[-1],
        usage=usage,
        thinking="".join(result.thinking for result in results),
        steps=sum(result.steps for result in results),
        seconds=sum(result.seconds for result in results),
    )


def _gave_up(refused: Sequence[tuple[str, Text]]) -> Text:
    last = refused[-1][1]
    return Text(
        f"连续 {len(refused)} 次决定都不能执行，最后一次：{last.zh}",
        f"{len(refused)} decisions in a row could not be carried out, the last one because {last.en}",
    )
