"""`agent`, alias `skill`: a model that works on a prompt with tools, as its node or a skill instructs it."""

from typing import Annotated

from pydantic import AfterValidator

from stepweave.agents.skills import is_skill_name
from stepweave.execution.outcome import Outcome, Result
from stepweave.execution.skill import Skill
from stepweave.execution.work import Work
from stepweave.expressions.scope import Scope
from stepweave.graph import shape
from stepweave.graph.locating import node_problem
from stepweave.graph.model import Node
from stepweave.graph.problem import Problem, quoted
from stepweave.graph.spec import Field
from stepweave.nodes.inputs import Inputs
from stepweave.nodes.model_call import ModelCall
from stepweave.nodes.model_data import NO_PROMPT
from stepweave.nodes.tool_user import ToolUserData, lost_tool_user, only_output, run_tool_user, tool_user_faults
from stepweave.texts import Language, Text

_LISTED_FILES = 100


def _names_a_skill(name: str) -> str:
    if name and not is_skill_name(name):
        raise shape.refuse(Text("不是技能名，例如 write-report", "is no name of a skill, such as write-report"))
    return name


class AgentData(ToolUserData):
    """With `skill_name` the skill's instructions come first, then the node's own."""

    skill_name: Annotated[str, AfterValidator(_names_a_skill)] = ""
    instructions: str = ""
    prompt: str = ""


class Agent:
    light = False
    chain = "agent"

    def problems(self, node: Node) -> list[Problem]:
        return [node_problem(node.id, fault.below("data")) for fault in tool_user_faults(AgentData, node)]

    def outputs(self, node: Node) -> tuple[Field, ...]:
        return only_output(node)

    def handles(self, node: Node) -> None:
        """Its edges carry no choice."""

    def run(self, node: Node, scope: Scope, work: Work) -> Result:
        """Raises what `work` raises: then nothing of this counts any more."""
        inputs = Inputs.of(node, scope)
        data = AgentData.model_validate(node.data)
        instructions, prompt = inputs.render(data.instructions), inputs.render(data.prompt)
        call = ModelCall(work, data.model, inputs, whole=True)
        if problem := inputs.failure():
            return call.failed(problem)
        if not prompt.strip():
            return call.failed(NO_PROMPT)
        skill = work.skills.get(data.skill_name) if data.skill_name else None
        if data.skill_name and skill is None:
            return call.failed(_no_skill(data.skill_name))
        parts = []
        if skill is not None:
            call.note(
                Text(f"使用技能 {skill.name}，版本 {skill.version}", f"skill {skill.name}, version {skill.version}")
            )
            parts.append(_of_skill(skill, work.language))
        system = "\n\n".join(part for part in (*parts, instructions) if part.strip())
        return run_tool_user(node, data, call, work, system=system, prompt=prompt, skill=skill)

    def lost(self, node: Node, work: Work, reason: Text) -> Outcome:
        return lost_tool_user(node, work, reason)


def _of_skill(skill: Skill, language: Language) -> str:
    """The skill's instructions, and where its files are; they are no template."""
    if not skill.files:
        return skill.instructions
    paths = [f"- {skill.folder}{path}" for path in sorted(skill.files)]
    shown, more = "\n".join(paths[:_LISTED_FILES]), "\n…" if len(paths) > _LISTED_FILES else ""
    told = Text("此技能的文件，可用 read_file 读取：", "Files of this skill, which read_file reads:").to(language)
    return f"{skill.instructions}\n\n{told}\n{shown}{more}"


def _no_skill(name: str) -> Text:
    return Text(
        f"没有技能 {quoted(name)}：请在运行开始前用 stepweave skills push 发布它",
        f"there is no skill {quoted(name)}: push it with stepweave skills push before the run starts",
    )
