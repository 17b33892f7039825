import pytest

from stepweave.graph.naming import is_node_id, is_workflow_name, node_id_problem, workflow_name_problem


@pytest.mark.parametrize("node_id", ["a", "node-1", "node_1", "A9", "-", "-a-", "x" * 64, "a_b_c"])
def test_letters_digits_hyphens_and_single_inner_underscores_make_a_node_id(node_id: str) -> None:
    assert is_node_id(node_id)
    assert node_id_problem(node_id) is None


@pytest.mark.parametrize(
    "node_id", ["", "x" * 65, "a__b", "_a", "a_", "_", "a b", "节点", "a.b", "a\n", "a/b", "a$", "é", "１"]
)
def test_other_forms_are_no_node_ids_and_the_problem_names_them(node_id: str) -> None:
    problem = node_id_problem(node_id)
    assert problem is not None
    assert (problem.code, problem.node_id) == ("BAD_ID", node_id)
    assert not is_node_id(node_id)


@pytest.mark.parametrize("name", ["a", "research-report", "a1-2b", "12", "x" * 64])
def test_kebab_case_makes_a_workflow_name(name: str) -> None:
    assert is_workflow_name(name)
    assert workflow_name_problem(name) is None


@pytest.mark.parametrize("name", ["", "A", "a_b", "a--b", "-a", "a-", "a b", "x" * 65, "研究", "a\n"])
def test_other_forms_are_no_workflow_names(name: str) -> None:
    problem = workflow_name_problem(name)
    assert problem is not None
    assert problem.code == "BAD_NAME"


@pytest.mark.parametrize("name", ["runs", "validate"])
def test_words_of_the_paths_of_the_api_are_reserved(name: str) -> None:
    problem = workflow_name_problem(name)
    assert problem is not None
    assert problem.code == "RESERVED_NAME"
    assert not is_workflow_name(name)


def test_names_that_only_begin_with_a_reserved_word_are_free() -> None:
    assert is_workflow_name("runs-2")
