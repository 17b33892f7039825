"""`smartAction`: a model that carries out one instruction with tools."""

from stepweave.execution.outcome import Outcome, Result
from stepweave.execution.work import Work
from stepweave.expressions.scope import Scope
from stepweave.graph.locating import node_problem
from stepweave.graph.model import Node
from stepweave.graph.problem import Problem
from stepweave.graph.spec import Field
from stepweave.nodes.inputs import Inputs
from stepweave.nodes.model_call import ModelCall
from stepweave.nodes.tool_user import ToolUserData, lost_tool_user, only_output, run_tool_user, tool_user_faults
from stepweave.texts import Text

NO_INSTRUCTION = Text("指令为空", "the instruction is empty")


class SmartActionData(ToolUserData):
    instruction: str = ""


class SmartAction:
    light = False
    chain = "smartAction"

    def problems(self, node: Node) -> list[Problem]:
        return [node_problem(node.id, fault.below("data")) for fault in tool_user_faults(SmartActionData, node)]

    def outputs(self, node: Node) -> tuple[Field, ...]:
        return only_output(node)

    def handles(self, node: Node) -> None:
        """Its edges carry no choice."""

    def run(self, node: Node, scope: Scope, work: Work) -> Result:
        """The instruction is the prompt; there is no other. Raises what `work` raises."""
        inputs = Inputs.of(node, scope)
        data = SmartActionData.model_validate(node.data)
        instruction = inputs.render(data.instruction)
        call = ModelCall(work, data.model, inputs, whole=True)
        if problem := inputs.failure():
            return call.failed(problem)
        if not instruction.strip():
            return call.failed(NO_INSTRUCTION)
        return run_tool_user(node, data, call, work, system="", prompt=instruction)

    def lost(self, node: Node, work: Work, reason: Text) -> Outcome:
        return lost_tool_user(node, work, reason)
