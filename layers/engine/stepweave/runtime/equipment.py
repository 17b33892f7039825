"""What the settings of a deployment lend to its nodes."""

from datetime import timedelta

from stepweave.execution.bridge import Bridge
from stepweave.runtime.models import LazyModels
from stepweave.services.context_tokens import ContextRules
from stepweave.services.visit_work import Equipment
from stepweave.settings import Settings


def equipment_of(settings: Settings) -> Equipment:
    return Equipment(LazyModels(settings), settings.trace_max_bytes, settings.tools_private_hosts, _bridge_of(settings))


def context_rules_of(settings: Settings) -> ContextRules:
    return ContextRules(
        enabled=settings.hermes_context_query_enabled,
        ttl=timedelta(seconds=settings.hermes_context_query_token_ttl_seconds),
        cleanup_interval=timedelta(seconds=settings.hermes_context_query_cleanup_interval_seconds),
        most_a_visit=settings.hermes_context_query_max_tokens_per_visit,
    )


def _bridge_of(settings: Settings) -> Bridge | None:
    """Where agents run; None: in the engine's own process (contract §2, `hermes.enabled`)."""
    if not settings.hermes_enabled or settings.hermes_bridge_url is None:
        return None
    token = settings.hermes_bridge_token
    return Bridge(
        settings.hermes_bridge_url,
        token.get_secret_value() if token is not None else None,
        settings.hermes_bridge_idle_seconds,
    )
