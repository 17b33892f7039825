"""The engine on AWS, or on the emulator: the same code, another endpoint (`AWS_ENDPOINT_URL`)."""

import json
import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Any

from stepweave.adapters.aws.connect import Connection, read_secret
from stepweave.clock import SystemClock
from stepweave.errors import SettingInvalid
from stepweave.runtime.engine import Engine, Ports
from stepweave.runtime.equipment import context_rules_of, equipment_of
from stepweave.settings import Settings, read_settings
from stepweave.texts import Text


@cache
def engine() -> Engine:
    """The engine of this process, with the settings of its environment; built once, kept while the process is warm."""
    return build_engine(settings(), Connection(settings()))


@cache
def settings() -> Settings:
    return read_settings(_with_secrets(os.environ))


def build_engine(given: Settings, connection: Connection, **options: Any) -> Engine:
    """`options` are those of `Engine`, for who wants it otherwise: the local server, tests."""
    return Engine(
        Ports(connection.items(), connection.blobs(), connection.chains(), connection.callbacks(), SystemClock()),
        equipment=equipment_of(given),
        events_kept=timedelta(hours=given.events_ttl_hours),
        records_kept=timedelta(days=given.runs_ttl_days),
        flat=given.workflow_workspace_legacy_flat_inject,
        context=context_rules_of(given),
        **options,
    )


def _with_secrets(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment completed by the secret that holds the providers' keys, for the functions that call models."""
    name = environment.get("MODEL_SECRET_NAME", "")
    if not name:
        return environment
    try:
        secrets = json.loads(read_secret(name))
    except ValueError:
        secrets = None
    if not isinstance(secrets, dict):
        raise SettingInvalid(
            Text(
                f'密钥 {name} 的内容必须是 JSON 对象，例如 {{"OPENAI_API_KEY": "…"}}',
                f'the secret {name} must hold a JSON object such as {{"OPENAI_API_KEY": "…"}}',
            )
        )
    return {str(key): str(value) for key, value in secrets.items()} | dict(environment)
