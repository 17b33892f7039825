"""What the routes work with: the services of one engine, made once when the app is made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from stepweave.api.streams import Streams
from stepweave.services.asks import Asks
from stepweave.services.definitions import Definitions
from stepweave.services.ending import Ending
from stepweave.services.history import History
from stepweave.services.keys import ApiKeys
from stepweave.services.redrive import Redrive
from stepweave.services.results import RunResults
from stepweave.services.runs import RunService
from stepweave.store.workflows import Workflows

Share = Callable[[str, bytes], str]


@dataclass(frozen=True, slots=True)
class Api:
    """`live` tells whether answers may be streamed and of any size, or pass a gateway that buffers them; `share`
    stores an object and gives an address where it can be read for a while, None where there is no such address."""

    workflows: Workflows
    definitions: Definitions
    runs: RunService
    results: RunResults
    history: History
    ending: Ending
    asks: Asks
    redrive: Redrive
    keys: ApiKeys
    streams: Streams
    live: bool
    share: Share | None


def _of(request: Request) -> Api:
    api: Api = request.app.state.api
    return api


ApiContext = Annotated[Api, Depends(_of)]
