"""The HTTP API: the three families behind API Gateway (contract §4)."""

from stepweave.runtime.web import handler

__all__ = ["handler"]
