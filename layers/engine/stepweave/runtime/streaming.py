"""The API for a web server behind Lambda Web Adapter, which passes on an answer while it is made: live streams."""

from stepweave.api.app import create_app
from stepweave.runtime.aws import engine, settings

app = create_app(engine(), settings(), live=True)
