"""What the routes work with: the services of one engine, made once when the app is made."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from stepweave.api.streams import Streams
from stepweave.ports import BlobStore
from stepweave.services.asks import Asks
from stepweave.services.chats import ChatService
from stepweave.services.context_desk import ContextDesk
from stepweave.services.creating import Creating
from stepweave.services.definitions import Definitions
from stepweave.services.drawing import Drawings
from stepweave.services.ending import Ending
from stepweave.services.files import Files
from stepweave.services.history import History
from stepweave.services.keys import ApiKeys
from stepweave.services.rate_limits import RequestLimit
from stepweave.services.receivers import Receivers
from stepweave.services.redrive import Redrive
from stepweave.services.results import RunResults
from stepweave.services.run_limits import RunLimit
from stepweave.services.run_lists import RunLists
from stepweave.services.runs import RunService
from stepweave.services.skills import SkillService
from stepweave.services.starting import Starting
from stepweave.services.viewing import Viewing
from stepweave.store.workflows import Workflows


@dataclass(frozen=True, slots=True)
class Api:
    """`requests` limits what keys ask and `at_once` what they have running, `queries` what visits ask.

    `live` tells whether answers may be streamed and of any size, or pass a gateway that buffers them.
    """

    blobs: BlobStore
    workflows: Workflows
    definitions: Definitions
    runs: RunService
    creating: Creating
    starting: Starting
    receivers: Receivers
    files: Files
    results: RunResults
    lists: RunLists
    history: History
    chats: ChatService
    ending: Ending
    asks: Asks
    redrive: Redrive
    keys: ApiKeys
    viewing: Viewing
    requests: RequestLimit
    at_once: RunLimit
    queries: RequestLimit
    drawings: Drawings
    skills: SkillService
    context: ContextDesk
    streams: Streams
    live: bool


def _of(request: Request) -> Api:
    api: Api = request.app.state.api
    return api


ApiContext = Annotated[Api, Depends(_of)]
