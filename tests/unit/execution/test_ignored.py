"""Which files are never listed or downloaded (contract §3, `.agentignore`)."""

import time

import pytest

from stepweave.execution.ignored import Ignored

ALWAYS = [
    ".hermes/state.json",
    "deep/.hermes/state.json",
    "run.log",
    "logs/run.log",
    "x.log/inside.txt",
    "cache.tmp",
    ".DS_Store",
    "a/.DS_Store",
    "Thumbs.db",
    "a/b/Thumbs.db",
]
NEVER = [".hermes", "log", "a.logs", "tmp/a", "Thumbs.db.txt", ".agentignore", "run.LOG"]


@pytest.mark.parametrize("rules", ["", "# nothing\n\n", "!*.log\n!.hermes/\n!.DS_Store\n"])
@pytest.mark.parametrize("path", ALWAYS)
def test_some_files_are_always_ignored_whatever_the_rules_say(rules: str, path: str) -> None:
    assert Ignored.of(rules).matches(path)


@pytest.mark.parametrize("path", NEVER)
def test_nothing_else_is_ignored_without_rules(path: str) -> None:
    assert not Ignored.of("").matches(path)


@pytest.mark.parametrize(
    ("rules", "ignored", "kept"),
    [
        ("*.csv", ["a.csv", "d/a.csv"], ["a.csv2"]),
        ("/a.csv", ["a.csv"], ["d/a.csv"]),
        ("build/", ["build/a", "d/build/b/c"], ["build"]),
        ("data/*.json", ["data/a.json"], ["data/d/a.json", "x/data/a.json"]),
        ("**/old/**", ["old/a", "d/old/a/b"], ["older/a"]),
        ("*.csv\n!keep.csv", ["a.csv"], ["keep.csv", "d/keep.csv"]),
        ("out/*\n!out/keep.txt", ["out/a"], ["out/keep.txt"]),
        ("文件?.txt", ["文件1.txt"], ["文件.txt"]),
        ("[ab].txt", ["a.txt"], ["c.txt"]),
        ("\\#a\r\n#b", ["#a"], ["b", "#b"]),
        ("trailing   ", ["trailing"], ["trailing   x"]),
    ],
)
def test_rules_are_those_of_gitignore(rules: str, ignored: list[str], kept: list[str]) -> None:
    judged = Ignored.of(rules)
    assert [path for path in ignored + kept if judged.matches(path)] == ignored


@pytest.mark.parametrize("nonsense", ["!", "\\", "a\\", "[z-a]", "[[:bogus:]]x", "[a--b]", "[a&&b]"])
def test_a_line_that_means_nothing_is_passed_over(nonsense: str) -> None:
    judged = Ignored.of(f"*.csv\n{nonsense}\n*.json\n")
    assert judged.matches("a.csv")
    assert judged.matches("a.json")
    assert not judged.matches("a.txt")


def test_no_rule_can_make_it_hang() -> None:
    judged = Ignored.of("/" + "a*" * 300 + "b\n" + "**/x*/" * 100 + "y")
    began = time.monotonic()
    assert not judged.matches("a" * 900)
    assert time.monotonic() - began < 1


def test_of_more_rules_than_can_be_kept_the_first_hold() -> None:
    judged = Ignored.of("*.csv\n" + "\n".join("/".join(["a*b?c**d" * 3] * 4) + str(number) for number in range(5000)))
    assert judged.matches("a.csv")
    assert not judged.matches("a.txt")
