"""`llm`: one call of a model, whose answer is the node's output, or is read into several (contract §2, §3)."""

from typing import Any

from pydantic import Field as Shape

from stepweave.agents.request import Abilities, LoopRequest, LoopResult
from stepweave.execution.outcome import Result
from stepweave.execution.work import Work
from stepweave.expressions import structured
from stepweave.expressions.scope import Scope
from stepweave.graph import shape
from stepweave.graph.locating import node_problem
from stepweave.graph.model import Node
from stepweave.graph.problem import Problem
from stepweave.graph.shape import DataModel
from stepweave.graph.spec import Field
from stepweave.nodes.inputs import Inputs
from stepweave.nodes.model_call import ModelCall
from stepweave.nodes.model_data import NO_PROMPT, model_faults
from stepweave.nodes.naming import output_fields


class LlmData(DataModel):
    """The data special to the type. A prompt may be blank here: whether it is is known only when it is rendered."""

    model: str
    system_prompt: str = ""
    user_prompt: str = ""
    temperature: float | None = Shape(default=None, ge=0, le=2)
    max_tokens: int | None = Shape(default=None, ge=1)
    context_tools: bool = False
    script: Any = None


class Llm:
    light = False
    chain = "llm"

    def problems(self, node: Node) -> list[Problem]:
        _, faults = shape.read(LlmData, node.data)
        return [node_problem(node.id, fault.below("data")) for fault in (*faults, *model_faults(node))]

    def outputs(self, node: Node) -> tuple[Field, ...]:
        return output_fields(node)

    def handles(self, node: Node) -> None:
        """Its edges carry no choice."""

    def run(self, node: Node, scope: Scope, work: Work) -> Result:
        """Calls the model once, with `contextTools` until it asks no more about what came before; whether a failed call
        is tried again is decided by whoever runs the node.

        Raises what `work` raises: then nothing of this counts any more.
        """
        inputs = Inputs.of(node, scope)
        data = LlmData.model_validate(node.data)
        system, prompt = inputs.render(data.system_prompt), inputs.render(data.user_prompt)
        call = ModelCall(work, data.model, inputs, whole=data.context_tools)
        if problem := inputs.failure():
            return call.failed(problem)
        if not prompt.strip():
            return call.failed(NO_PROMPT)
        from stepweave.agents.loop import run_agent  # the agent library is large: not before a model is called

        fields = output_fields(node)
        several = fields if len(fields) > 1 else ()
        request = LoopRequest(
            model=data.model,
            prompt=prompt,
            system=system,
            instruction=structured.instruction(several).to(work.language) if several else "",
            fields=several,
            temperature=data.temperature,
            max_tokens=data.max_tokens,
            timeout=node.common.timeout_seconds,
            opening=call.opening,
            abilities=Abilities(asks=False) if data.context_tools else None,
            script=data.script,
        )
        result = run_agent(request, work)
        return call.outcome(result, fields) if isinstance(result, LoopResult) else result
