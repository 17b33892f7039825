"""Where the server is and which keys it gets."""

import json
from pathlib import Path

import pytest

from stepweave_local.command_error import CommandError
from stepweave_local.endpoint import Endpoint, find_endpoint

DEV = {"baseUrl": "http://127.0.0.1:2438", "apiKey": "dev-key", "adminKey": "dev-admin"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A directory deep below the one with `.stepweave/dev.json`."""
    (tmp_path / ".stepweave").mkdir()
    (tmp_path / ".stepweave" / "dev.json").write_text(json.dumps(DEV), "utf-8")
    below = tmp_path / "examples" / "deep"
    below.mkdir(parents=True)
    return below


def found(endpoint: Endpoint) -> tuple[str, str, str]:
    return endpoint.url, endpoint.key, endpoint.admin_key


def test_dev_json_is_found_in_a_directory_above(checkout: Path) -> None:
    endpoint = find_endpoint(None, None, {}, checkout)
    assert found(endpoint) == ("http://127.0.0.1:2438", "dev-key", "dev-admin")
    assert endpoint.is_dev


def test_the_keys_of_dev_json_never_go_to_another_server(checkout: Path) -> None:
    with pytest.raises(CommandError, match=r"no key for https://other\.example"):
        find_endpoint("https://other.example", None, {}, checkout)


def test_the_address_of_dev_json_may_be_given_too_and_gets_its_keys(checkout: Path) -> None:
    assert find_endpoint("http://127.0.0.1:2438/", None, {}, checkout).admin_key == "dev-admin"


def test_options_win_over_the_environment_and_the_environment_over_dev_json(checkout: Path) -> None:
    environment = {"STEPWEAVE_URL": "https://env.example/", "STEPWEAVE_API_KEY": "env", "STEPWEAVE_ADMIN_KEY": "adm"}
    assert found(find_endpoint(None, None, environment, checkout)) == ("https://env.example", "env", "adm")
    assert found(find_endpoint("http://opt", "k", environment, checkout)) == ("http://opt", "k", "k")


def test_one_key_serves_for_both_where_there_is_only_one() -> None:
    nowhere = Path("/")
    assert find_endpoint("http://a", None, {"STEPWEAVE_API_KEY": "one"}, nowhere).admin_key == "one"
    assert find_endpoint("http://a", None, {"STEPWEAVE_ADMIN_KEY": "one"}, nowhere).key == "one"


@pytest.mark.parametrize("url", ["localhost:2438", "ftp://a", "http://"])
def test_an_address_that_is_none_is_told(url: str) -> None:
    with pytest.raises(CommandError, match="is no address of a server"):
        find_endpoint(url, "k", {}, Path("/"))


@pytest.mark.parametrize("content", ["", "[]", '{"apiKey": "x"}'])
def test_a_broken_dev_json_says_how_to_make_it_anew(checkout: Path, content: str) -> None:
    (checkout.parents[1] / ".stepweave" / "dev.json").write_text(content, "utf-8")
    with pytest.raises(CommandError, match="run `stepweave up` again"):
        find_endpoint(None, None, {}, checkout)


def test_without_any_server_it_says_to_run_up() -> None:
    with pytest.raises(CommandError, match="run `stepweave up`, or give --endpoint"):
        find_endpoint(None, None, {}, Path("/"))
