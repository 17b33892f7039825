"""docs/configuration.md lists every setting, as the code has it (contract §7)."""

from pathlib import Path

from pydantic.fields import FieldInfo

from stepweave.settings import Settings, variable_of

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def row(name: str, field: FieldInfo) -> str:
    if field.is_required():
        default = "required"
    elif field.default is None:
        default = "–"
    else:
        default = f"`{field.default}`"
    return f"| `{variable_of(name)}` | {default} | {field.description} |"


def test_the_page_lists_every_setting_and_no_other() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert rows == [row(name, field) for name, field in Settings.model_fields.items()]
