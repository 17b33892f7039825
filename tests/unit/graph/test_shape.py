import pytest
from pydantic import Field, field_validator

from stepweave.graph.shape import DataModel, Fault, JsonModel, read, refuse, spell
from stepweave.texts import Text


class Wheel(JsonModel):
    size_mm: int = Field(ge=1, le=999)
    colour: str = "black"


class Cart(JsonModel):
    owner: str = ""
    wheels: list[Wheel] = Field(default_factory=list)
    load_kg: float = Field(default=0, gt=-1, lt=500)

    @field_validator("owner")
    @classmethod
    def _is_somebody(cls, owner: str) -> str:
        if owner == "nobody":
            raise refuse(Text("必须有人", "must be somebody"))
        return owner


class Note(DataModel):
    words: str = "none"


def paths(faults: list[Fault]) -> list[str]:
    return [spell(fault.path) for fault in faults]


def test_what_fits_is_read_without_faults() -> None:
    cart, faults = read(Cart, {"owner": "a", "wheels": [{"sizeMm": 5}], "loadKg": 2})
    assert cart is not None
    assert (cart.wheels[0].size_mm, cart.load_kg, faults) == (5, 2, [])


def test_every_fault_is_told_and_the_sound_parts_remain() -> None:
    raw = {"owner": 1, "wheels": [{"sizeMm": 0}, {"sizeMm": 7, "colour": 3}, {}, 4, {"sizeMm": 9}], "loadKg": 1000}
    cart, faults = read(Cart, raw)
    assert cart is not None
    assert sorted(paths(faults)) == [
        "loadKg",
        "owner",
        "wheels[0].sizeMm",
        "wheels[1].colour",
        "wheels[2].sizeMm",
        "wheels[3]",
    ]
    assert cart.owner == ""
    assert [(wheel.size_mm, wheel.colour) for wheel in cart.wheels] == [(7, "black"), (9, "black")]


def test_the_raw_value_is_not_changed() -> None:
    raw = {"wheels": [{"sizeMm": 0}]}
    read(Cart, raw)
    assert raw == {"wheels": [{"sizeMm": 0}]}


def test_nothing_remains_of_what_is_no_object() -> None:
    cart, faults = read(Cart, [])
    assert cart is None
    assert [fault.text for fault in faults] == [Text("必须是对象", "must be an object")]


def test_nothing_remains_without_what_the_whole_needs() -> None:
    wheel, faults = read(Wheel, {"sizeMm": "large"})
    assert wheel is None
    assert paths(faults) == ["sizeMm"]


@pytest.mark.parametrize(("raw", "words"), [({"owner": 1}, "必须是字符串"), ({"owner": "nobody"}, "必须有人")])
def test_faults_speak_chinese_too(raw: dict[str, object], words: str) -> None:
    assert [fault.text.zh for fault in read(Cart, raw)[1]] == [words]


@pytest.mark.parametrize("raw", [{"loadKg": "3"}, {"loadKg": True}, {"wheels": {}}, {"wheels": [{"sizeMm": 1.5}]}])
def test_nothing_is_coerced(raw: dict[str, object]) -> None:
    assert len(read(Cart, raw)[1]) == 1


def test_null_counts_as_absent_in_node_data_only() -> None:
    note, faults = read(Note, {"words": None})
    assert note is not None
    assert (note.words, faults) == ("none", [])
    assert paths(read(Cart, {"owner": None})[1]) == ["owner"]


def test_only_the_camel_case_names_of_json_are_read() -> None:
    wheel, faults = read(Wheel, {"size_mm": 5})
    assert wheel is None
    assert paths(faults) == ["sizeMm"]


def test_paths_are_spelled_as_people_write_them_and_never_at_great_length() -> None:
    assert spell(("graphData", "nodes", 3, "data")) == "graphData.nodes[3].data"
    assert spell(()) == ""
    assert len(spell(("x" * 1000, "y" * 1000))) < 130


def test_a_fault_can_be_seen_from_further_outside() -> None:
    assert spell(Fault(("a",), Text.same("")).below("b", 1).path) == "b[1].a"
