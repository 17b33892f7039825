"""The API for a web server behind Lambda Web Adapter, which passes on an answer while it is made: live streams."""

from dataclasses import replace

from stepweave.api.app import create_app
from stepweave.api.streams import CONTRACT_PACE
from stepweave.runtime.aws import engine, settings

app = create_app(engine(), settings(), live=True, pace=replace(CONTRACT_PACE, longest=settings().stream_seconds))
