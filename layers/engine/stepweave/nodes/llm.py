"""`llm`: one call of a model, whose answer is the node's output, or is read into several (contract §2, §3)."""

from typing import Any

from pydantic import Field as Shape

from stepweave.agents.models import is_scripted, model_problem
from stepweave.agents.request import LoopRequest, LoopResult
from stepweave.agents.script import script_problems
from stepweave.execution import log
from stepweave.execution.outcome import CALLED, Outcome, failed, succeeded
from stepweave.execution.trace import trace
from stepweave.execution.work import Work
from stepweave.expressions import structured
from stepweave.expressions.scope import Scope
from stepweave.graph import shape
from stepweave.graph.locating import node_problem
from stepweave.graph.model import Node
from stepweave.graph.problem import Problem
from stepweave.graph.shape import DataModel, Fault
from stepweave.graph.spec import Field
from stepweave.nodes.inputs import Inputs
from stepweave.nodes.naming import output_fields
from stepweave.texts import Text

NO_PROMPT = Text("用户提示词为空", "the user prompt is empty")
NO_ANSWER = Text("LLM 返回空结果", "the LLM gave an empty answer")


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
        model = node.data.get("model")
        if isinstance(model, str) and (problem := model_problem(model)):
            faults.append(Fault(("model",), problem))
        elif is_scripted(model):
            faults += [fault.below("script") for fault in script_problems(node.data.get("script"))]
        return [node_problem(node.id, fault.below("data")) for fault in faults]

    def outputs(self, node: Node) -> tuple[Field, ...]:
        return output_fields(node)

    def handles(self, node: Node) -> None:
        """Its edges carry no choice."""

    def run(self, node: Node, scope: Scope, work: Work) -> Outcome:
        """Calls the model once; whether a failed call is tried again is decided by whoever runs the node.

        Raises what `work` raises: then nothing of this counts any more.
        """
        inputs = Inputs.of(node, scope)
        data = LlmData.model_validate(node.data)
        system, prompt = inputs.render(data.system_prompt), inputs.render(data.user_prompt)
        call = _Call(work, data.model, inputs)
        if problem := inputs.failure():
            return call.failed(problem)
        if not prompt.strip():
            return call.failed(NO_PROMPT)
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
            script=data.script,
        )
        return call.outcome(request, fields)


class _Call:
    """One attempt: what it has to tell, whichever way it ends."""

    def __init__(self, work: Work, model: str, inputs: Inputs) -> None:
        self._work = work
        self._model = model
        self._inputs = inputs
        self._began = work.clock.monotonic()
        self._logs = [*inputs.logs(work.language, work.clock.now())]
        self._told: dict[str, Any] = {}

    def outcome(self, request: LoopRequest, fields: tuple[Field, ...]) -> Outcome:
        from stepweave.agents.loop import run_loop  # the agent library is large: not before a model is called

        result = run_loop(request, self._work)
        self._take(result)
        if result.failure is not None:
            return self.failed(result.failure.text, retryable=result.failure.retryable)
        if not result.text.strip():
            return self.failed(NO_ANSWER)
        reading = structured.read(result.text, fields)
        for warning in reading.warnings:
            self._log("WARN", warning)
        return succeeded(CALLED.to(self._work.language), reading.values, **self._rest())

    def failed(self, reason: Text, *, retryable: bool = False) -> Outcome:
        self._log("ERROR", reason)
        return failed(reason.to(self._work.language), retryable=retryable, **self._rest())

    def _take(self, result: LoopResult) -> None:
        self._logs += result.logs
        if result.cut_short is not None:
            self._log("WARN", result.cut_short)
        self._told = {
            "trace": trace(result.thinking, result.tool_calls, limit=self._work.trace_limit),
            "metadata": {
                "model": self._model,
                "usage": dict(result.usage),
                "durationMs": round((self._work.clock.monotonic() - self._began) * 1000),
                "attempts": self._work.tries + 1,
            },
        }

    def _log(self, kind: log.LogType, text: Text) -> None:
        self._logs.append(log.entry(kind, self._work.clock.now(), text.to(self._work.language)))

    def _rest(self) -> dict[str, Any]:
        return {**self._told, "variables": self._inputs.variables, "logs": tuple(self._logs)}
