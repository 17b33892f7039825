"""Callbacks on the deployed stack: the function, its queue and a receiver on this machine."""

from stepweave.execution.callback import WAITS, Callback, signed_headers
from tests.e2e.server import Server
from tests.functional.receiver import receiver


def test_a_receiver_that_fails_at_first_is_told_again_under_the_same_delivery(server: Server) -> None:
    made = server.data("POST", "/api/keys", {"name": "shop"}, admin=True)
    shop = Server(server.base_url, made["key"], server.admin_key, server.pid)
    nodes = {"in": {"type": "userInput"}, "out": {"type": "output"}, "say": {"type": "llm", **SAYS}}
    workflow = server.save(nodes, [["in", "say"], ["say", "out"]])
    with receiver(503, 200) as there:
        run_id = shop.start(workflow, callbackUrl=f"{there.base_url}/ended")
        first, second = there.wait(2, seconds=WAITS[0] + 60)
    assert first.delivery == second.delivery
    assert first.body == second.body
    result = shop.data("GET", f"/api/v1/workflows/{workflow}/runs/{run_id}")
    del result["nodes"]
    assert second.json == {"type": "workflow_complete", **result}
    assert second.json["outputs"]["data"] == {"result": "tea"}
    for told in (first, second):
        timestamp = int(told.headers["x-stepweave-timestamp"])
        callback = Callback(run_id, "", made["keyId"], told.delivery)
        for name, value in signed_headers(callback, made["callbackSecret"], timestamp, told.body).items():
            assert told.headers[name.lower()] == value


SAYS = {"model": "scripted:inline", "userPrompt": "go", "script": [[{"text": "tea"}]]}
