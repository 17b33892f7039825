"""What every `ItemStore` keeps (ports.py), on memory and on DynamoDB."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepweave.adapters.memory import MemoryItems
from stepweave.items import (
    RUNS_BY_MONTH,
    RUNS_BY_WORKFLOW,
    RUNS_OPEN,
    Absent,
    Check,
    Condition,
    Delete,
    Equals,
    Item,
    Key,
    Less,
    Present,
    Put,
    Update,
    WriteRefused,
    either,
    every,
    missing,
)
from stepweave.ports import ItemStore

RUN = Key("runs", "a1b2c3d4", "RUN")


def run_item(**attributes: object) -> Item:
    return {"runId": "a1b2c3d4", "sk": "RUN", **attributes}


def test_an_item_comes_back_as_it_was_put(items: ItemStore) -> None:
    item = run_item(
        text="好🚀", number=7, flag=True, nothing=None, list=[1, "x", {"deep": []}], map={"a": {"b": 0}}, empty=""
    )
    items.put("runs", item)
    assert items.get(RUN) == item


def test_a_missing_item_is_none(items: ItemStore) -> None:
    assert items.get(RUN) is None
    assert items.get_many([RUN]) == {}


def test_many_items_come_from_several_tables_in_any_number(items: ItemStore) -> None:
    keys = [Key("visits", "a1b2c3d4", f"HEAD#{number:03}") for number in range(130)]
    for key in keys:
        items.put("visits", {"runId": key.partition, "sk": key.sort})
    items.put("runs", run_item())
    found = items.get_many([*keys, RUN, Key("runs", "00000000", "RUN"), keys[0]])
    assert set(found) == {*keys, RUN}


def test_a_query_gives_one_partition_in_the_order_of_its_sort_key(items: ItemStore) -> None:
    for seq in (10, 9, 2, 33):
        items.put("events", {"runId": "a1b2c3d4", "seq": seq, "first": seq})
    items.put("events", {"runId": "other000", "seq": 5, "first": 5})

    def seqs(**bounds: object) -> list[int]:
        return [item["seq"] for item in items.query("events", "a1b2c3d4", **bounds)]  # type: ignore[arg-type]

    assert seqs() == [2, 9, 10, 33]
    assert seqs(after=9) == [10, 33]
    assert seqs(after=9, limit=1) == [10]
    assert seqs(descending=True, limit=2) == [33, 10]
    assert seqs(after=10, descending=True) == [9, 2]


def test_a_query_keeps_to_a_prefix(items: ItemStore) -> None:
    for sort in ("BODY#1", "HEAD#1", "HEAD#2", "HEADER"):
        items.put("visits", {"runId": "a1b2c3d4", "sk": sort})
    assert [item["sk"] for item in items.query("visits", "a1b2c3d4", prefix="HEAD#")] == ["HEAD#1", "HEAD#2"]


def test_a_query_gives_only_the_attributes_that_are_asked_for_and_those_of_the_key(items: ItemStore) -> None:
    items.put("visits", {"runId": "a1b2c3d4", "sk": "HEAD#1", "nodeId": "a", "source": "in", "status": "RUNNING"})
    items.put("visits", {"runId": "a1b2c3d4", "sk": "HEAD#2", "nodeId": "b", "ledger": [1]})
    assert items.query("visits", "a1b2c3d4", prefix="HEAD#", names=("nodeId", "source")) == [
        {"runId": "a1b2c3d4", "sk": "HEAD#1", "nodeId": "a", "source": "in"},
        {"runId": "a1b2c3d4", "sk": "HEAD#2", "nodeId": "b"},
    ]


def test_an_index_lists_only_what_carries_its_attributes(items: ItemStore) -> None:
    for number, check_at in (("1", "2026-01-01"), ("2", "2026-03-01"), ("3", None)):
        index = {"open": "1", "checkAt": check_at} if check_at else {}
        items.put("runs", {"runId": number, "sk": "RUN", **index})
    found = items.query_index(RUNS_OPEN, "1")
    assert [item["runId"] for item in found] == ["1", "2"]
    assert [item["runId"] for item in items.query_index(RUNS_OPEN, "1", up_to="2026-02-01")] == ["1"]


def test_an_index_is_paged_through_without_a_gap_or_a_repeat(items: ItemStore) -> None:
    for number in range(7):
        items.put(
            "runs", {"runId": f"{number:08}", "sk": "RUN", "workflow": "w", "createdAt": f"2026-01-0{number // 2}"}
        )
    everything = items.query_index(RUNS_BY_WORKFLOW, "w", descending=True)
    paged: list[Item] = []
    while page := items.query_index(
        RUNS_BY_WORKFLOW, "w", descending=True, limit=2, after=paged[-1] if paged else None
    ):
        paged += page
    assert paged == everything
    assert len(paged) == 7


def test_an_index_of_keys_gives_the_keys(items: ItemStore) -> None:
    keys = {"runId": "1", "sk": "RUN", "month": "2026-01", "createdAt": "2026-01-01"}
    items.put("runs", keys | {"status": "RUNNING"})
    assert items.query_index(RUNS_BY_MONTH, "2026-01") == [keys]


def test_an_update_changes_adds_and_removes_and_gives_the_item_as_it_stands(items: ItemStore) -> None:
    items.put("runs", run_item(status="RUNNING", rev=3, closing=True))
    after = items.update(
        Update(RUN, sets={"status": "FAILED"}, adds={"rev": 2, "fresh": 1}, removes=("closing", "unknown"))
    )
    assert after == run_item(status="FAILED", rev=5, fresh=1)
    assert items.get(RUN) == after


def test_an_update_makes_the_item_unless_its_condition_forbids_it(items: ItemStore) -> None:
    with pytest.raises(WriteRefused) as refused:
        items.update(Update(RUN, adds={"rev": 1}, condition=Present("runId")))
    assert refused.value.items == {RUN: None}
    assert items.update(Update(RUN, adds={"rev": 1})) == run_item(rev=1)


def test_a_refused_update_shows_the_item_as_it_stands(items: ItemStore) -> None:
    items.put("runs", run_item(owner="other", rev=3))
    with pytest.raises(WriteRefused) as refused:
        items.update(Update(RUN, adds={"rev": 1}, condition=Equals("owner", "me")))
    assert refused.value.items == {RUN: run_item(owner="other", rev=3)}
    assert items.get(RUN) == run_item(owner="other", rev=3)


def test_a_transaction_is_all_or_nothing(items: ItemStore) -> None:
    head = Key("visits", "a1b2c3d4", "HEAD#1")
    items.put("runs", run_item(rev=1))
    items.put("visits", {"runId": "a1b2c3d4", "sk": "HEAD#1", "owner": "other"})
    writes = [
        Update(RUN, sets={"rev": 2}, condition=Equals("rev", 1)),
        Put("events", {"runId": "a1b2c3d4", "seq": 1}, missing("events")),
        Update(head, sets={"x": 1}, condition=Equals("owner", "me")),
    ]
    with pytest.raises(WriteRefused) as refused:
        items.transact(writes)
    assert set(refused.value.items) == {head}
    assert items.get(RUN) == run_item(rev=1)
    assert items.get(Key("events", "a1b2c3d4", 1)) is None
    items.transact(writes[:2])
    assert items.get(RUN) == run_item(rev=2)
    assert items.get(Key("events", "a1b2c3d4", 1)) == {"runId": "a1b2c3d4", "seq": 1}


def test_a_transaction_checks_and_deletes(items: ItemStore) -> None:
    items.put("runs", run_item(rev=1))
    items.put("visits", {"runId": "a1b2c3d4", "sk": "HEAD#1"})
    head = Key("visits", "a1b2c3d4", "HEAD#1")
    with pytest.raises(WriteRefused):
        items.transact([Check(RUN, Equals("rev", 2)), Delete(head)])
    assert items.get(head) is not None
    items.transact([Check(RUN, Equals("rev", 1)), Delete(head)])
    assert items.get(head) is None


def test_two_writes_on_one_item_are_refused_before_they_are_sent() -> None:
    with pytest.raises(ValueError, match="two writes on one item"):
        MemoryItems().transact([Put("runs", run_item()), Delete(RUN)])


conditions: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(
        st.builds(Equals, st.sampled_from("ab"), st.one_of(st.integers(0, 2), st.sampled_from(["", "x"]))),
        st.builds(Less, st.sampled_from("ab"), st.integers(0, 2)),
        st.builds(Present, st.sampled_from("abc")),
        st.builds(Absent, st.sampled_from("abc")),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda some: every(*some)),
        st.lists(inner, min_size=1, max_size=3).map(lambda some: either(*some)),
    ),
    max_leaves=6,
)
attributes = st.dictionaries(st.sampled_from("ab"), st.integers(0, 2), max_size=2)


@given(condition=conditions, there=st.one_of(st.none(), attributes))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_condition_means_the_same_everywhere(
    items: ItemStore, condition: Condition, there: dict[str, int] | None
) -> None:
    """Each implementation is held against the memory store, so against each other."""
    reference = MemoryItems()
    for store in (items, reference):
        store.delete(RUN)
        if there is not None:
            store.put("runs", run_item(**there))

    def outcome(store: ItemStore) -> object:
        try:
            return store.update(Update(RUN, sets={"c": 1}, condition=condition))
        except WriteRefused as refused:
            return refused.items

    assert outcome(items) == outcome(reference)
    assert items.get(RUN) == reference.get(RUN)
