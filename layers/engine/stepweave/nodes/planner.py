"""The planner of an AGENTIC workflow: a model that decides which node runs next (contract §2).

It is no node type: nobody draws it. What it has to know of the run it finds in what its own last visit left behind and
in what the node visited last gave, so that a decision costs the same however long the run is (law 6).
"""

from dataclasses import dataclass, replace

from stepweave.agents.models import is_scripted
from stepweave.agents.request import MOST_REFUSALS, Abilities, LoopRequest, LoopResult, ProviderFailed
from stepweave.agents.script import script_problems
from stepweave.execution.ledger import Ledger
from stepweave.execution.outcome import Result
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


@dataclass(frozen=True, slots=True)
class Past:
    """`before` is what the planner's last visit left behind, None at first; `ledger` tells all visits since."""

    ledger: Ledger
    before: VisitBody | None


def plan(graph: Graph, specs: Specs, scope: Scope, past: Past, work: Work) -> Result:
    """Asks the planner for a decision; the outcome has it as its `decision`, and as `data` what the next visit needs:
    `{turns, visits}`, the requests made so far and the last visits in short.

    The planner may look closer at what came before with the context tools. A decision that is refused is told to it, and
    it is asked again. Raises what `work` raises.
    """
    planner = planner_of(graph)
    inputs = Inputs.of(pseudo_node(graph), scope)
    known = data_of(past.before.output) if past.before is not None else {}
    visits = planner_prompt.visits_so_far(graph, scope, past, known.get("visits", []))
    prompt = planner_prompt.prompt(graph, specs, scope, past.ledger, visits, work.language)
    system = (
        planner_prompt.system(tools=work.context_query is not None).to(work.language)
        + "\n\n"
        + inputs.render(planner.instructions or "")
    )
    call = ModelCall(work, planner.model, inputs, whole=True)

    def read(answer: str) -> Decided:
        return _playable(read_decision(answer, graph, past.ledger), planner.model)

    def judge(answer: str) -> Text | None:
        try:
            read(answer)
        except Refused as refused:
            return planner_prompt.refusal(refused.text)
        return None

    request = LoopRequest(
        model=planner.model,
        prompt=prompt,
        system=system.strip(),
        instruction=planner_prompt.form(graph).to(work.language),
        opening=call.opening,
        abilities=Abilities(asks=False, max_steps=planner.max_steps),
        judge=judge,
        script=planner.script,
        first_turn=known.get("turns", 0),
    )
    from stepweave.agents.loop import run_agent  # the agent library is large: not before a model is called

    result = run_agent(request, work)
    if not isinstance(result, LoopResult):
        return result
    if result.failure is not None:
        return call.outcome(result, ())
    try:
        decided = read(result.text)
    except Refused as refused:
        return call.outcome(replace(result, failure=ProviderFailed(_gave_up(refused.text), retryable=False)), ())
    left = {"turns": request.first_turn + result.steps, "visits": planner_prompt.kept(visits)}
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


def _gave_up(last: Text) -> Text:
    times = MOST_REFUSALS + 1
    return Text(
        f"连续 {times} 次决定都不能执行，最后一次：{last.zh}",
        f"{times} decisions in a row could not be carried out, the last one because {last.en}",
    )
