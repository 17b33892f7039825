import zipfile
from pathlib import Path

import pytest

from stepweave_local import launch_ministack

zips = launch_ministack._Zipfile()


def archive(path: Path, size: int, name: str = "python/engine.py") -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, b"#" * size)
    return path


@pytest.fixture
def layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "layers"
    folder.mkdir()
    monkeypatch.setenv("STEPWEAVE_LAYERS", str(folder))
    return folder


def unpack(file: Path, target: Path) -> Path:
    target.mkdir()
    with zips.ZipFile(str(file)) as opened:
        opened.extractall(str(target))
    return target


def test_a_large_layer_is_unpacked_once_for_all_workers(layers: Path, tmp_path: Path) -> None:
    layer = archive(tmp_path / "layer.zip", launch_ministack.LARGE)
    first, second = unpack(layer, tmp_path / "one"), unpack(layer, tmp_path / "two")
    assert len(list(layers.iterdir())) == 1
    assert (first / "python").resolve() == (second / "python").resolve()
    assert (first / "python/engine.py").stat().st_size == launch_ministack.LARGE


def test_another_layer_of_the_same_name_is_another(layers: Path, tmp_path: Path) -> None:
    first = unpack(archive(tmp_path / "layer.zip", launch_ministack.LARGE), tmp_path / "one")
    second = unpack(archive(tmp_path / "layer.zip", launch_ministack.LARGE + 1), tmp_path / "two")
    assert (first / "python").resolve() != (second / "python").resolve()
    assert (second / "python/engine.py").stat().st_size == launch_ministack.LARGE + 1


def test_the_code_of_a_function_is_a_copy_of_its_own(layers: Path, tmp_path: Path) -> None:
    code = archive(tmp_path / "code.zip", 10, "handler.py")
    unpacked = unpack(code, tmp_path / "one")
    assert not (unpacked / "handler.py").is_symlink()
    assert list(layers.iterdir()) == []


def test_what_was_left_half_unpacked_is_unpacked_again(layers: Path, tmp_path: Path) -> None:
    layer = archive(tmp_path / "layer.zip", launch_ministack.LARGE)
    [place] = [unpack(layer, tmp_path / "one") / "python"]
    whole = place.resolve().parent
    whole.rename(whole.with_suffix(".partial"))
    (whole.with_suffix(".partial") / "python/engine.py").write_text("half")
    again = unpack(layer, tmp_path / "two")
    assert (again / "python/engine.py").stat().st_size == launch_ministack.LARGE


def test_everything_else_of_the_module_is_the_module_itself() -> None:
    assert zips.BadZipFile is zipfile.BadZipFile
    assert issubclass(zips.LargeFileError, Exception)
