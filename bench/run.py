"""`make bench`: every promise about speed, measured beside a peer in the same run; ratios first, then what they are made of.

Options: `--only nodes,growth,live,readers,agentic,asks,deltas,context,imports,prompt,viewer` measures these, `--turns N` takes N turns of each (default 30).
The table goes to the terminal, and with the machine it was taken on to bench/results/ as JSON. A missed goal is told and
fails nothing: times depend on the machine, and the tests do not.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import bench_agentic
import bench_asks
import bench_context
import bench_deltas
import bench_growth
import bench_imports
import bench_live
import bench_nodes
import bench_prompt
import bench_readers
import bench_viewer
import machine
from local_stack import Api, up
from report import Section, show
from rich.console import Console
from workshop import open_workshop

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
NAMES = ("nodes", "growth", "live", "readers", "agentic", "asks", "deltas", "context", "imports", "prompt", "viewer")


def main() -> int:
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 200)
    began = datetime.now(UTC)
    before = machine.noise()
    (ROOT / ".tools").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / ".tools", prefix="bench-data-") as scratch:
        sections = _measure(
            set(options.only), options.turns, Path(scratch), lambda told: console.print(told, style="dim")
        )
    after = machine.noise()
    for section in sections:
        show(section, console)
    console.print(f"machine: {machine.describe()}\nnoise before: {before}\nnoise after: {after}", style="dim")
    if set(options.only) == set(NAMES):
        RESULTS.mkdir(exist_ok=True)
        file = RESULTS / f"{began:%Y-%m-%d-%H%M}.json"
        told = {
            "v": 1,
            "at": f"{began:%Y-%m-%dT%H:%M:%SZ}",
            "turns": options.turns,
            "machine": machine.describe(),
            "noise": {"before": before, "after": after},
            "sections": [section.to_json() for section in sections],
        }
        file.write_text(json.dumps(told, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        console.print(f"written to {file.relative_to(ROOT)}")
    return 0


def _measure(only: set[str], turns: int, scratch: Path, tell: Callable[[str], None]) -> list[Section]:
    """In an order that leaves the machine to one thing at a time: the stack is down before the engine is measured."""
    sections: list[Section] = []
    if "prompt" in only:
        tell("prompt …")
        sections.append(bench_prompt.measure(turns))
    if "imports" in only:
        tell("imports …")
        sections.append(bench_imports.measure(ROOT, scratch, turns))
    if "viewer" in only:
        tell("viewer …")
        sections.append(bench_viewer.measure(max(3, turns // 3)))
    whole_runs: dict[str, float] = {}
    if only & {"live", "readers", "agentic", "asks"}:
        tell("the local stack …")
        with up(ROOT, ROOT / ".stepweave" / "bench") as api:
            whole_runs = _measure_stack(api, only, turns, scratch, tell, sections)
    if only & {"nodes", "growth", "deltas", "context"}:
        with open_workshop(scratch / "emulator") as workshop:
            if "deltas" in only:
                tell("deltas …")
                sections.append(bench_deltas.measure(workshop, max(1, turns // 10)))
            if "context" in only:
                tell("context …")
                sections.append(bench_context.measure(workshop, turns))
            if "growth" in only:
                tell("growth …")
                sections.append(bench_growth.measure(workshop, scratch, max(2, turns // 10)))
            if "nodes" in only:
                tell("nodes …")
                sections.append(bench_nodes.measure(workshop, scratch, turns, whole_runs))
    return sorted(sections, key=lambda section: NAMES.index(section.name))


def _measure_stack(
    api: Api, only: set[str], turns: int, scratch: Path, tell: Callable[[str], None], sections: list[Section]
) -> dict[str, float]:
    """Adds to `sections`; gives the times of whole runs where those were taken."""
    whole_runs: dict[str, float] = {}
    if "live" in only:
        tell("live …")
        whole_runs = bench_live.whole_runs(api, bench_nodes.LENGTH, max(5, turns // 3))
        sections.append(bench_live.measure(api, scratch, max(5, turns // 2)))
    if "readers" in only:
        tell("readers …")
        sections.append(bench_readers.measure(api, turns * 10))
    if "agentic" in only:
        tell("agentic …")
        sections.append(bench_agentic.measure(api, scratch, max(1, turns // 10)))
    if "asks" in only:
        tell("asks …")
        sections.append(bench_asks.measure(api, max(5, turns // 2)))
    return whole_runs


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=_names, default=NAMES, metavar="NAME,…", help=", ".join(NAMES))
    parser.add_argument("--turns", type=int, default=30)
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(NAMES):
        raise argparse.ArgumentTypeError(
            f"no benchmark is called {', '.join(sorted(unknown))}: choose of {', '.join(NAMES)}"
        )
    return names


if __name__ == "__main__":
    sys.exit(main())
