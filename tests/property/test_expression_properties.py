"""Laws of expressions that hold for every text, value and scope (contract §2, §3)."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from stepweave.expressions import conditions
from stepweave.expressions.conversion import accept, convert, fits, load_json
from stepweave.expressions.envelopes import read_field
from stepweave.expressions.paths import MISSING, read_path, search, steps_of, walk_loosely
from stepweave.expressions.resolution import Found, Resolver
from stepweave.expressions.structured import read
from stepweave.expressions.templates import Reference, parse, render, to_text
from stepweave.graph.spec import Field
from tests.builders.scopes import WrittenScope

TYPES = st.sampled_from(["string", "number", "boolean", "array", "object", "filePath"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))
BRACED = st.text(alphabet="{}\\ ab.n")
NAMES = st.sampled_from(
    ["a", "A", "a-b", "a_B", "AB", "ab", "c", "c.d", "C.d", "c.D.e", "c[0]", "n1.a", "n1__a", "_git"]
)
KEYS = st.sampled_from(["a", "A", "a-b", "a_B", "ab", "c", "C", "d", "D", "e", "c.d", "_git"])
DATA = st.dictionaries(
    KEYS,
    st.recursive(
        st.none() | st.integers(0, 9),
        lambda inner: st.dictionaries(KEYS, inner, max_size=3) | st.lists(inner, max_size=2),
        max_leaves=5,
    ),
    max_size=4,
)


# --- templates


@given(st.text() | BRACED, st.dictionaries(st.text(), JSON))
@example(r"\{{a}}", {"a": 1})
def test_rendering_never_raises_and_asks_for_exactly_the_references(template: str, values: dict[str, Any]) -> None:
    asked: list[str] = []

    def lookup(name: str) -> Any:
        asked.append(name)
        return values.get(name, MISSING)

    text, missing = render(template, lookup)
    assert isinstance(text, str)
    assert tuple(asked) == parse(template).references
    assert set(missing) == {name for name in asked if values.get(name) is None}


@given(st.text().filter(lambda text: "{" not in text))
def test_text_without_braces_is_itself(text: str) -> None:
    assert render(text, lambda name: MISSING) == (text, ())


@given(BRACED, BRACED | st.text(), BRACED | st.text())
def test_what_is_filled_in_is_never_rendered_again(template: str, first: str, second: str) -> None:
    values = {"a": first, "b": second}
    text, _ = render(template, lambda name: values.get(name, MISSING))
    parts = parse(template).parts
    assert text == "".join(values.get(p.name, "") if isinstance(p, Reference) else p for p in parts)


@given(st.lists(st.tuples(st.text().filter(lambda t: "{" not in t and "}" not in t and not t.endswith("\\")), JSON)))
def test_references_between_plain_texts_are_replaced_each_by_its_value(pieces: list[tuple[str, Any]]) -> None:
    template = "".join(f"{text}{{{{v{index}}}}}" for index, (text, _) in enumerate(pieces))
    rendered, _ = render(template, lambda name: pieces[int(name[1:])][1])
    assert rendered == "".join(text + to_text(value) for text, value in pieces)


@given(JSON)
def test_what_is_no_string_stands_as_json_that_reads_back(value: Any) -> None:
    text = to_text(value)
    if isinstance(value, str):
        assert text == value
    elif value is not None:
        assert json.loads(text) == value


# --- paths


@given(JSON, st.text() | st.text(alphabet="a.[]0-"))
def test_reading_a_path_never_raises_and_never_finds_null(value: Any, path: str) -> None:
    assert read_path(value, path) is not None
    assert search(value, path) is not None
    assert read_field({"status": 200, "message": "", "data": value}, path) is not None
    steps = steps_of(path)
    if steps is not None:
        exact, loose = read_path(value, path), walk_loosely(value, steps)
        assert exact is MISSING or loose == exact


@given(JSON, st.data())
def test_every_value_is_found_by_its_path(value: Any, data: st.DataObject) -> None:
    path, here = "", value
    while isinstance(here, Mapping | list) and here:
        if isinstance(here, list):
            index = data.draw(st.integers(0, len(here) - 1))
            path, here = f"{path}[{index}]", here[index]
        else:
            key = data.draw(st.sampled_from(sorted(here)))
            if not key or set(key) & set(".[]"):
                return
            path, here = f"{path}.{key}" if path else key, here[key]
    if path:
        assert read_path(value, path) == (MISSING if here is None else here)


# --- conversion


@given(JSON, TYPES)
def test_conversion_gives_the_declared_type_or_says_that_it_cannot(value: Any, declared: str) -> None:
    converted = convert(value, declared)
    assert converted is MISSING or fits(converted, declared)
    if fits(value, declared):
        assert converted == value


@given(JSON, TYPES)
def test_what_is_accepted_has_the_same_text_as_before(value: Any, declared: str) -> None:
    accepted = accept(value, declared)
    assert accepted is MISSING or (fits(accepted, declared) and to_text(accepted) == to_text(value))


@given(st.dictionaries(st.sampled_from("abc"), JSON), st.tuples(TYPES, TYPES, TYPES))
def test_structured_output_keeps_what_it_cannot_convert(answer: dict[str, Any], types: tuple[str, ...]) -> None:
    fields = [Field(name, declared) for name, declared in zip("abc", types, strict=True)]
    said = json.dumps(answer)
    stored = load_json(said)
    reading = read(said, fields)
    assert set(reading.values) == set("abc")
    for field in fields:
        value, given_value = reading.values[field.name], stored.get(field.name)
        if not fits(value, field.type):
            assert value == (None if given_value is None else to_text(given_value))
            assert any(f'"{field.name}"' in warning.en for warning in reading.warnings)


@given(st.text(), st.lists(TYPES, min_size=1, max_size=3))
def test_any_answer_of_a_model_is_read(answer: str, types: list[str]) -> None:
    fields = [Field(f"v{index}", declared) for index, declared in enumerate(types)]
    assert "v0" in read(answer, fields).values


# --- conditions


@given(st.sampled_from(sorted(set(conditions.OPERATORS) - {"matches"})), JSON, JSON)
def test_every_operator_judges_every_pair_of_values(name: str, left: Any, right: Any) -> None:
    assert conditions.holds(left, name, right) in (True, False)


@given(SCALARS | JSON, SCALARS | JSON)
def test_operators_and_their_opposites_agree(left: Any, right: Any) -> None:
    if left is None or right is None:
        return
    for name, opposite in (("eq", "ne"), ("contains", "notContains"), ("in", "notIn"), ("isEmpty", "isNotEmpty")):
        assert conditions.holds(left, name, right) is not conditions.holds(left, opposite, right)
    assert conditions.holds(left, "eq", left)
    assert conditions.holds(left, "eq", right) is conditions.holds(right, "eq", left)
    assert conditions.holds(left, "lt", right) is conditions.holds(right, "gt", left)
    assert not (conditions.holds(left, "lt", right) and conditions.holds(left, "gte", right))


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.integers())
def test_numbers_and_their_texts_compare_alike(left: float, right: int) -> None:
    for name in ("eq", "lt", "lte", "gt", "gte"):
        judged = {conditions.holds(a, name, b) for a in (left, str(left)) for b in (right, str(right))}
        assert len(judged) == 1


# --- resolution


def like(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def paths_of(value: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """Every path into a value with what it leads to, in the order in which a loose search takes them."""
    found: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        for key, child in value.items():
            path = f"{prefix}.{key}" if prefix else key
            found += [(path, child), *paths_of(child, path)]
    elif isinstance(value, list):
        for index, child in enumerate(value):
            found += [(f"{prefix}[{index}]", child), *paths_of(child, f"{prefix}[{index}]")]
    return found


def naive(name: str, nodes: dict[str, dict[str, Any]], inputs: dict[str, Any]) -> list[tuple[Any, str | None]]:
    """What contract §3 says, by reading everything: the equally good values of the first level that has any."""
    nodes = {node_id: {k: v for k, v in data.items() if k != "_git"} for node_id, data in nodes.items()}
    node_id, _, field = name.partition("__")
    if node_id in nodes and nodes[node_id].get(field) is not None:
        return [(nodes[node_id][field], node_id)]
    if inputs.get(name) is not None and name != "_git":
        return [(inputs[name], None)]
    levels = [
        lambda data: [v for k, v in data.items() if k == name],
        lambda data: [v for k, v in data.items() if like(k) == like(name)],
        lambda data: [v for p, v in paths_of(data) if p == name and ("." in name or "[" in name)],
        lambda data: [v for p, v in paths_of(data) if like(p) == like(name) and ("." in name or "[" in name)],
    ]
    for level in levels:
        for node_id, data in nodes.items():
            values = [(value, node_id) for value in level(data) if value is not None]
            if values:
                return values
    return []


@given(NAMES, st.lists(DATA, max_size=4), DATA, st.sets(st.sampled_from(["n0", "n1", "n2", "n3"])))
def test_resolution_equals_a_reference_that_reads_everything(
    name: str, datas: list[dict[str, Any]], inputs: dict[str, Any], undeclared: set[str]
) -> None:
    nodes = {f"n{index}": data for index, data in enumerate(datas)}
    scope = WrittenScope(nodes, inputs, undeclared=sorted(undeclared & set(nodes)))
    finding = Resolver(scope).name(name)
    expected = naive(name, nodes, inputs)
    if expected:
        assert isinstance(finding, Found)
        assert (finding.value, finding.source) in expected
    else:
        assert finding is MISSING


@given(NAMES, st.lists(DATA, max_size=4))
def test_what_is_declared_only_saves_reads_and_never_changes_the_value(name: str, datas: list[dict[str, Any]]) -> None:
    nodes = {f"n{index}": data for index, data in enumerate(datas)}
    declaring, silent = WrittenScope(nodes), WrittenScope(nodes, undeclared=list(nodes))
    assert Resolver(declaring).reference(name) == Resolver(silent).reference(name)
    assert set(declaring.reads) <= set(silent.reads)


@given(st.text() | BRACED, st.lists(DATA, max_size=3), DATA)
def test_any_reference_resolves_to_a_value_or_to_nothing(
    name: str, datas: list[dict[str, Any]], inputs: dict[str, Any]
) -> None:
    finding = Resolver(WrittenScope({f"n{index}": data for index, data in enumerate(datas)}, inputs)).reference(name)
    assert finding is MISSING or (isinstance(finding, Found) and finding.value is not None)
