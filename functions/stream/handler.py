"""The HTTP API with streams that are held open, for the web server that run.sh starts (docs/streaming.md)."""

from stepweave.runtime.streaming import app

__all__ = ["app"]
