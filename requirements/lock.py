"""Locks the requirements, or checks that the locks are fresh: `python requirements/lock.py [--check | --upgrade]`.

Each `X.in` is compiled to `X.txt`: exact versions with hashes, for every Linux machine, without download addresses.
The first line of a lock tells the digest of what it was made from, so that the check needs no network and does not
fail because somebody somewhere published a release.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# In this order: the tools are constrained to the versions of the layer.
SOURCES = (
    ROOT / "layers/engine/requirements.in",
    ROOT / "requirements/dev.in",
    ROOT / "requirements/bench.in",
    ROOT / "requirements/sam.in",
    ROOT / "requirements/ministack.in",
)
UV = Path(sys.executable).parent / "uv"
OPTIONS = (
    *("--quiet", "--no-config", "--universal", "--python-version", "3.12", "--allow-unsafe"),
    *("--generate-hashes", "--no-header", "--no-emit-index-url", "--no-emit-find-links"),
)


def lock_of(source: Path) -> Path:
    return source.with_suffix(".txt")


def first_line(source: Path) -> str:
    """What the first line of the lock has to be: a digest of the source and of the files that it names."""
    digest = hashlib.sha256()
    for file in (source, *_named_in(source)):
        digest.update(file.read_bytes() + b"\0")
    return f"# made by `make lock` from {source.name} sha256:{digest.hexdigest()}\n"


def stale() -> list[Path]:
    """The locks that are missing or were made from other sources than there are now."""
    return [
        lock_of(source)
        for source in SOURCES
        if not lock_of(source).exists() or not lock_of(source).read_text().startswith(first_line(source))
    ]


def lock(*, upgrade: bool) -> None:
    """Compiles every source; versions already locked stay, unless `upgrade`."""
    for source in SOURCES:
        target = lock_of(source)
        command = [str(UV), "pip", "compile", *OPTIONS, source.name, "-o", target.name]
        subprocess.run([*command, *(["--upgrade"] if upgrade else [])], cwd=source.parent, check=True)
        target.write_text(first_line(source) + target.read_text())


def _named_in(source: Path) -> list[Path]:
    """The files of its `-r` and `-c` lines."""
    lines = (line.split() for line in source.read_text().splitlines())
    return [source.parent / words[1] for words in lines if len(words) > 1 and words[0] in {"-r", "-c"}]


def main() -> int:
    options = set(sys.argv[1:])
    if options - {"--check", "--upgrade"}:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    if "--check" not in options:
        lock(upgrade="--upgrade" in options)
        return 0
    for target in stale():
        sys.stderr.write(f"{os.path.relpath(target)} is stale: run `make lock` and commit what it changes.\n")
    return 1 if stale() else 0


if __name__ == "__main__":
    sys.exit(main())
