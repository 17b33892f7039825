"""The platform's API: API keys (contract §4; key scope `admin`)."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.concurrency import run_in_threadpool

from stepweave.api.access import Admin, KeyId
from stepweave.api.answers import answer
from stepweave.api.bodies import KeyBody
from stepweave.api.body import JsonObject, documented, read
from stepweave.api.context import ApiContext
from stepweave.store.keys import ApiKey

router = APIRouter(tags=["keys"])


@router.post("/keys", summary="Make an API key", openapi_extra=documented(KeyBody, required=False))
async def create(_: Admin, raw: JsonObject, api: ApiContext) -> Response:
    """`key` and `callbackSecret`, which signs the callbacks of its runs, are shown this once."""
    body = read(KeyBody, raw)
    made = await run_in_threadpool(api.keys.create, body.name, body.scopes, body.workflows)
    return answer(_shown(made.key) | {"key": made.secret, "callbackSecret": made.callback_secret})


@router.get("/keys", summary="All API keys")
def keys(_: Admin, api: ApiContext) -> Response:
    """Oldest first."""
    items = [_shown(key) for key in api.keys.listed()]
    return answer({"total": len(items), "items": items})


@router.delete("/keys/{keyId}", summary="Revoke an API key")
def revoke(_: Admin, key_id: KeyId, api: ApiContext) -> Response:
    """Acts everywhere within 10 seconds."""
    api.keys.revoke(key_id)
    return answer({"keyId": key_id, "revoked": True})


def _shown(key: ApiKey) -> dict[str, Any]:
    return {
        "keyId": key.key_id,
        "name": key.name,
        "scopes": list(key.scopes),
        "workflows": list(key.workflows) if key.workflows is not None else None,
        "createdAt": key.created_at,
    }
