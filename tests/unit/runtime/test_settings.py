"""Settings come from the environment once; a bad one stops the start with a sentence that names it (contract §7)."""

import pytest

from stepweave.errors import SettingInvalid
from stepweave.execution.bridge import Bridge
from stepweave.runtime.equipment import equipment_of
from stepweave.settings import read_provider_settings, read_settings

ENOUGH = {
    "WORKFLOWS_TABLE": "w",
    "RUNS_TABLE": "r",
    "VISITS_TABLE": "v",
    "EVENTS_TABLE": "e",
    "TOKENS_TABLE": "t",
    "DATA_BUCKET": "b",
    "STATE_MACHINE_ARN": "arn",
    "CALLBACK_QUEUE_URL": "url",
}


def test_what_is_not_set_has_its_default() -> None:
    settings = read_settings(ENOUGH | {"OPENAI_BASE_URL": "  "})
    assert (settings.events_ttl_hours, settings.events_max_per_run, settings.openai_base_url) == (25, 5000, None)


def test_the_old_key_of_the_seed_is_known() -> None:
    assert read_settings(
        ENOUGH | {"WORKFLOW_WORKSPACE_LEGACY_FLAT_INJECT": "true"}
    ).workflow_workspace_legacy_flat_inject


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("EVENTS_TTL_HOURS", "many"),
        ("EVENTS_TTL_HOURS", "0"),
        ("LOG_LEVEL", "LOUD"),
        ("OPENAI_BASE_URL", "example.org"),
        ("WORKFLOW_WORKSPACE_LEGACY_FLAT_INJECT", "perhaps"),
        ("MODEL_PRICES", "cheap"),
        ("MODEL_PRICES", '{"openai:m": {"input": 1}}'),
        ("HERMES_BRIDGE_URL", "bridge.internal"),
        ("HERMES_BRIDGE_IDLE_SECONDS", "0"),
    ],
)
def test_a_bad_value_is_told_by_the_name_of_its_variable(variable: str, value: str) -> None:
    with pytest.raises(SettingInvalid) as told:
        read_settings(ENOUGH | {variable: value})
    assert variable in told.value.text.zh
    assert variable in told.value.text.en


def test_prices_are_read_from_json() -> None:
    prices = read_settings(ENOUGH | {"MODEL_PRICES": '{"openai:m": {"input": 1.5, "output": 2}}'}).model_prices
    assert (prices["openai:m"].input, prices["openai:m"].output) == (1.5, 2)


def test_everything_that_is_missing_is_told_at_once() -> None:
    with pytest.raises(SettingInvalid, match=r"WORKFLOWS_TABLE is not set.*DATA_BUCKET is not set"):
        read_settings({})


def test_a_secret_value_is_never_told() -> None:
    with pytest.raises(SettingInvalid) as told:
        read_settings(ENOUGH | {"OPENAI_API_KEY": "sk-very-secret", "LOG_LEVEL": "sk-very-secret"})
    assert "sk-very-secret" not in str(told.value) + told.value.text.zh
    assert told.value.__cause__ is None


def test_a_bridge_that_is_enabled_needs_an_address() -> None:
    with pytest.raises(SettingInvalid, match=r"HERMES_BRIDGE_URL is invalid: .*is needed with HERMES_ENABLED"):
        read_settings(ENOUGH | {"HERMES_ENABLED": "true"})


def test_agents_run_across_a_bridge_only_where_it_is_enabled() -> None:
    bridge = {"HERMES_BRIDGE_URL": "http://127.0.0.1:2439/", "HERMES_BRIDGE_TOKEN": "t"}
    assert equipment_of(read_settings(ENOUGH | bridge)).bridge is None
    enabled = equipment_of(read_settings(ENOUGH | bridge | {"HERMES_ENABLED": "true"})).bridge
    assert enabled == Bridge("http://127.0.0.1:2439", "t", 60)
    assert "'t'" not in repr(enabled)


def test_a_bridge_needs_no_deployment_to_know_its_models() -> None:
    settings = read_provider_settings({"OPENAI_BASE_URL": "http://models", "HERMES_BRIDGE_TOKEN": "t"})
    assert settings.openai_base_url == "http://models"
