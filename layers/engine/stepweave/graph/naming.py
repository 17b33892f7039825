"""Forms of names in a definition (contract §1)."""

import re

from stepweave.graph.problem import Problem, quoted
from stepweave.ids import WORKFLOW_NAME
from stepweave.texts import Text

NAME_LENGTH = 64
# They stand where a workflow's name would in paths of the API.
RESERVED_NAMES = frozenset({"runs", "validate"})

_NODE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_node_id(text: str) -> bool:
    """`__` separates node and field in flat names (`node_1__field`): a `_` at either end would make them ambiguous."""
    return (
        _NODE_ID.fullmatch(text) is not None
        and "__" not in text
        and not text.startswith("_")
        and not text.endswith("_")
    )


def is_workflow_name(text: str) -> bool:
    """Kebab-case, at most 64 characters, and not a word that the API's paths use themselves."""
    return len(text) <= NAME_LENGTH and WORKFLOW_NAME.fullmatch(text) is not None and text not in RESERVED_NAMES


def node_id_problem(node_id: str) -> Problem | None:
    if is_node_id(node_id):
        return None
    return Problem(
        "BAD_ID",
        Text(
            f"节点 ID {quoted(node_id)} 不合规：应为 1 到 64 个字母、数字、_ 或 -，不含 __，且不以 _ 开头或结尾",
            f"node id {quoted(node_id)} is not valid: use 1 to 64 letters, digits, _ or -, "
            "without __ and neither beginning nor ending with _",
        ),
        node_id,
    )


def workflow_name_problem(name: str) -> Problem | None:
    if is_workflow_name(name):
        return None
    if name in RESERVED_NAMES:
        return Problem(
            "RESERVED_NAME",
            Text(
                f"工作流名称 {quoted(name)} 是保留字，请换一个名称",
                f"workflow name {quoted(name)} is reserved: choose another",
            ),
        )
    return Problem(
        "BAD_NAME",
        Text(
            f"工作流名称 name {quoted(name)} 不合规：应为小写字母和数字，用单个 - 连接，最多 {NAME_LENGTH} 个字符，例如 research-report",
            f"workflow name {quoted(name)} is not valid: use lower-case letters and digits joined by single hyphens, "
            f"at most {NAME_LENGTH} characters, such as research-report",
        ),
    )
