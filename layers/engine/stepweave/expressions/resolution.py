"""Finding what a name stands for, in the order of contract §3: mapping, initial inputs, earlier nodes in four levels.

Nothing is read that a name does not need: a node whose declared variables cannot answer is passed over unread.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stepweave.expressions.envelopes import data_of, read_field
from stepweave.expressions.paths import MISSING, Missing, Step, find_alike, plain, search, steps_of, walk, walk_loosely
from stepweave.expressions.scope import Scope, open_to_nodes
from stepweave.graph.node_data import InputField
from stepweave.graph.problem import quoted
from stepweave.texts import Text

FLAT = "__"
"""Between node and field in flat names (`node_1__field`); no node id has it (contract §1)."""


@dataclass(frozen=True, slots=True)
class Found:
    """A value and the node that gave it; None where it came from the run's inputs or a default."""

    value: Any
    source: str | None = None


Finding = Found | Missing


class Resolver:
    """The names of one node. Each is looked for once; `warnings` gathers what a person should know about them."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._visible = frozenset(scope.predecessors())
        self._inputs = open_to_nodes(scope.inputs)
        self._own: dict[str, Finding] = {}
        self._names: dict[str, Finding] = {}
        self.warnings: list[Text] = []

    def bind(self, name: str, finding: Finding) -> None:
        """Settles a name that the node declares itself: nothing else is looked for under it, also where it is missing."""
        self._own[name] = finding

    def declared(self, declaration: InputField) -> Finding:
        """The value of a declared input: by its mapping where it has one, else by name; its default where there is none.

        A mapping that finds nothing does not fall through to the name.
        """
        found = self._mapped(declaration) if declaration.is_mapped else self.name(declaration.name)
        if found is MISSING and declaration.default is not None:
            return Found(declaration.default)
        return found

    def name(self, name: str) -> Finding:
        """The value of a plain name, or MISSING. Null counts as missing everywhere."""
        return self._own[name] if name in self._own else self._by_name(name)

    def reference(self, reference: str) -> Finding:
        """The value of a reference as templates write it: `name`, `node.field`, `node__field`, `name.path[0].into`."""
        if reference in self._own:
            return self._own[reference]
        node_id, dot, field = reference.partition(".")
        if dot and node_id in self._visible:
            return self._of_node(node_id, field)
        steps = steps_of(reference)
        if steps is None or len(steps) == 1:
            return self.name(reference)
        head = str(steps[0])
        found = self.name(head)
        if isinstance(found, Found):
            value = walk(found.value, steps[1:])
            if value is not MISSING:
                return Found(value, found.source)
        if head in self._own:
            return MISSING
        inside = self._in_dotted_input(steps)
        return inside if inside is not MISSING else self.name(reference)

    def _in_dotted_input(self, steps: Sequence[Step]) -> Finding:
        """A path into an initial input whose own name has dots, such as `chat.history[0].content`."""
        for length in range(len(steps) - 1, 1, -1):
            name = ".".join(map(str, steps[:length]))
            if name in self._inputs:
                value = walk(self._inputs[name], steps[length:])
                return MISSING if value is MISSING else Found(value)
        return MISSING

    @cached_property
    def _declared(self) -> list[tuple[str, frozenset[str] | None]]:
        """The visible nodes, nearest first, with the names that each declares."""
        return [(node_id, self._scope.declared(node_id)) for node_id in self._scope.predecessors()]

    def _mapped(self, declaration: InputField) -> Finding:
        if declaration.source_node_id not in self._visible:
            return MISSING
        path = declaration.source_path.strip()
        field = declaration.source_field.strip() or ("data" if path else declaration.name)
        found = self._of_node(declaration.source_node_id, field)
        if not path or not isinstance(found, Found):
            return found
        value = search(found.value, path)
        return MISSING if value is MISSING else Found(value, found.source)

    def _of_node(self, node_id: str, field: str) -> Finding:
        value = read_field(self._scope.envelope(node_id), field)
        return MISSING if value is MISSING else Found(value, node_id)

    def _by_name(self, name: str) -> Finding:
        if name not in self._names:
            self._names[name] = self._look_for(name)
        return self._names[name]

    def _look_for(self, name: str) -> Finding:
        node_id, flat, field = name.partition(FLAT)
        if flat and node_id in self._visible:
            found = self._of_node(node_id, field)
            if found is not MISSING:
                return found
        if self._inputs.get(name) is not None:
            return Found(self._inputs[name])
        return self._in_predecessors(name)

    def _in_predecessors(self, name: str) -> Finding:
        """Levels (a) to (d), each on all visible nodes before the next. A path of one step is a plain name."""
        alike = plain(name)
        found = self._level(name, lambda declared: declared == name, lambda data: _get(data, name))
        if found is MISSING and alike:
            found = self._level(name, lambda declared: plain(declared) == alike, lambda data: find_alike(data, name))
        steps = steps_of(name)
        if found is not MISSING or steps is None or len(steps) == 1:
            return found
        head = str(steps[0])
        alike = plain(head)
        found = self._level(name, lambda declared: declared == head, lambda data: walk(data, steps), inside=True)
        if found is MISSING and alike:
            found = self._level(
                name, lambda declared: plain(declared) == alike, lambda data: walk_loosely(data, steps), inside=True
            )
        return found

    def _level(
        self,
        name: str,
        fits: Callable[[str], bool],
        read: Callable[[Mapping[str, Any]], Any],
        *,
        inside: bool = False,
    ) -> Finding:
        """The nearest node that has the name in one sense of having it, and a warning where a second has it too.

        A node whose declared variables do not fit is passed over unread. That a second one declares the name is proof
        enough, unless the name leads `inside` a variable; one that declares nothing is read only if the nearer did
        not either: names that the graph declares cost one read.
        """
        winner: Found | None = None
        proven = False
        for node_id, declared in self._declared:
            if declared is not None and not any(map(fits, declared)):
                continue
            proof = declared is not None and not inside
            if winner is None:
                value = read(data_of(self._scope.envelope(node_id)))
                if value is not MISSING:
                    winner, proven = Found(value, node_id), proof
            elif proof or (not proven and read(data_of(self._scope.envelope(node_id))) is not MISSING):
                self._warn_of_two(name, str(winner.source), node_id)
                break
        return winner or MISSING

    def _warn_of_two(self, name: str, nearer: str, farther: str) -> None:
        self.warnings.append(
            Text(
                f"变量 {quoted(name)} 有多个来源：取较近的节点 {quoted(nearer)}，忽略 {quoted(farther)}；"
                f"如需指定，请写 {{{{节点.变量}}}} 或设置映射",
                f"{quoted(name)} comes from more than one node: the nearer, {quoted(nearer)}, is taken and "
                f"{quoted(farther)} is not; to choose, write {{{{node.name}}}} or map the input",
            )
        )


def _get(data: Mapping[str, Any], name: str) -> Any:
    value = data.get(name)
    return MISSING if value is None else value
