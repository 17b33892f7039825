"""The run viewer as the API serves it, and what it asks of the API about a run (contract §4)."""

import gzip
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from stepweave.api.errors import handle_errors
from stepweave.api.viewer import Viewer
from tests.functional.api.definitions import echo
from tests.functional.api.stack import Stack, run_async

SCRIPT = b"console.log('a page')"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<head><title>page</title></head>")
    (tmp_path / "assets" / "index-1.js").write_bytes(SCRIPT)
    (tmp_path / "assets" / "index-1.js.gz").write_bytes(gzip.compress(SCRIPT))
    (tmp_path / "assets" / "font.woff2").write_bytes(b"wOF2")
    (tmp_path.parent / "secret.txt").write_text("secret")
    return tmp_path


def get(viewer: Viewer, path: str, **headers: str) -> httpx.Response:
    app = Starlette(routes=viewer.routes())
    handle_errors(app)  # type: ignore[arg-type]

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return await client.get(path, headers={"Accept-Encoding": "identity", **headers})

    return run_async(send())


def policy(answer: httpx.Response) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in answer.headers["Content-Security-Policy"].split(";"))
    return {name: value for name, _, value in parts}


@pytest.mark.parametrize("path", ["/ui", "/ui/", "/ui/runs/a3f9b2c1", "/ui/workflows/echo/definition", "/ui/x/y/z"])
def test_every_address_of_the_viewer_is_its_page(built: Path, path: str) -> None:
    answer = get(Viewer([], directory=built), path)
    assert answer.status_code == 200
    assert "<title>page</title>" in answer.text
    assert answer.headers["Cache-Control"] == "no-cache"


def test_assets_are_kept_forever_and_sent_as_they_were_compressed(built: Path) -> None:
    plain = get(Viewer([], directory=built), "/ui/assets/index-1.js")
    assert (plain.content, plain.headers["Content-Type"]) == (SCRIPT, "text/javascript; charset=utf-8")
    assert plain.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert plain.headers["Vary"] == "Accept-Encoding"
    small = get(Viewer([], directory=built), "/ui/assets/index-1.js", **{"Accept-Encoding": "br, gzip"})
    assert (small.content, small.headers["Content-Encoding"]) == (SCRIPT, "gzip")
    font = get(Viewer([], directory=built), "/ui/assets/font.woff2", **{"Accept-Encoding": "gzip"})
    assert font.headers["Content-Type"] == "font/woff2"
    assert "Content-Encoding" not in font.headers


@pytest.mark.parametrize(
    "path",
    ["/ui/assets/gone.js", "/ui/assets/", "/ui/assets/..%2F..%2Fsecret.txt", "/ui/assets/%2e%2e/%2e%2e/secret.txt"],
)
def test_what_is_no_asset_is_not_found(built: Path, path: str) -> None:
    answer = get(Viewer([], directory=built), path)
    assert answer.status_code == 404
    assert answer.json()["code"] == "NOT_FOUND"
    assert "secret" not in answer.text


def test_only_the_page_of_a_run_may_be_framed_and_only_by_the_origins_that_are_named(built: Path) -> None:
    viewer = Viewer(["https://portal.example.com", "http://localhost:8080"], directory=built)
    assert policy(get(viewer, "/ui/runs/a3f9b2c1"))["frame-ancestors"] == (
        "https://portal.example.com http://localhost:8080"
    )
    assert policy(get(viewer, "/ui/workflows/echo"))["frame-ancestors"] == "'none'"
    assert policy(get(Viewer([], directory=built), "/ui/runs/a3f9b2c1"))["frame-ancestors"] == "'none'"


def test_the_policy_lets_nothing_in_and_nothing_out(built: Path) -> None:
    answer = get(Viewer([], directory=built), "/ui/runs/a3f9b2c1")
    told = policy(answer)
    assert told["default-src"] == "'none'"
    assert told["script-src"] == told["style-src"] == told["connect-src"] == "'self'"
    assert told["form-action"] == told["base-uri"] == "'none'"
    assert told["require-trusted-types-for"] == "'script'"
    assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_behind_a_gateway_the_page_may_send_files_to_object_storage_too(built: Path) -> None:
    viewer = Viewer([], lambda: "https://data.s3.amazonaws.com/ui?X-Amz-Signature=0", directory=built)
    answer = get(viewer, "/ui")
    assert policy(answer)["connect-src"] == "'self' https://data.s3.amazonaws.com"
    assert "&quot;signedUploads&quot;: true" in answer.text


def test_a_viewer_that_was_not_built_says_how_to_get_it(tmp_path: Path) -> None:
    zh = get(Viewer([], directory=tmp_path), "/ui/runs/a3f9b2c1")
    assert zh.status_code == 404
    assert "Node.js 20" in zh.text
    assert "尚未构建" in zh.text
    assert get(Viewer([], directory=tmp_path), "/ui", **{"Accept-Language": "en"}).text.startswith("The run viewer")


def test_the_api_leads_to_the_viewer() -> None:
    answer = Stack(embed_origins="https://portal.example.com").call("GET", "/")
    assert (answer.status_code, answer.headers["Location"]) == (307, "/ui")


def test_the_drawing_of_a_run_is_that_of_its_version_without_what_only_authors_see(stack: Stack) -> None:
    definition: dict[str, Any] = echo("drawn", title="Drawn")
    definition["graphData"]["nodes"][0]["position"] = {"x": 1.5, "y": -2}
    definition["graphData"]["nodes"][1]["position"] = {"x": "far", "y": 0}
    stack.save(definition)
    run_id = stack.create_run("drawn", variables={"topic": "tea"})
    stack.data("PUT", "/api/workflows/drawn", echo("drawn", title="Renamed"), admin=True)
    told = stack.data("GET", f"/api/v1/runs/{run_id}/graph")
    assert (told["runId"], told["workflow"], told["version"], told["mode"]) == (run_id, "drawn", 1, "DAG")
    assert told["title"] == "Renamed"
    assert told["nodes"] == [
        {"id": "in", "type": "userInput", "label": "Start", "position": {"x": 1.5, "y": -2}},
        {"id": "say", "type": "llm", "label": "say", "position": None},
        {"id": "out", "type": "output", "label": "out", "position": None},
    ]
    assert told["edges"][0] == {"source": "in", "target": "say", "sourceHandle": None}


def test_the_snapshots_of_a_run_are_those_of_the_platform(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables={"topic": "tea", "extra": 1})
    told = stack.data("GET", f"/api/v1/runs/{run_id}/nodes")
    assert told == stack.data("GET", f"/api/runs/{run_id}/nodes", admin=True)
    assert told[-1]["contextSnapshot"]["extra"] == 1
    one = stack.data("GET", f"/api/v1/runs/{run_id}/nodes?visitUuid={told[1]['visitUuid']}")
    assert [visit["visitUuid"] for visit in one] == [told[1]["visitUuid"]]
