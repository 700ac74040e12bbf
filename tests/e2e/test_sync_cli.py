"""`commonplace sync` as a person sees it: a first answer by words, progress, and Ctrl-C that loses nothing."""

from collections.abc import Sequence
from typing import Any

import pytest

from commonplace.cli import progress as progress_module
from commonplace.encoders.hashing import HashingEncoder
from commonplace.flows.ingest import sync as sync_module
from tests.command_line import Run, answer


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample vault is treated as one that takes long."""
    monkeypatch.setattr(sync_module, "AT_ONCE", 0)
    monkeypatch.setattr(progress_module, "_PLAIN_S", 0.001)


def test_the_first_search_answers_by_words_and_sync_adds_meaning(run: Run) -> None:
    """init, search: an answer, and what to run for the rest; after the sync nothing is missing."""
    first = answer(run("search", "greenhouse", "--json"))
    synced = answer(run("sync", "--json"))
    second = answer(run("search", "greenhouse", "--json"))

    assert (first["mode"], first["count"] > 0) == ("words", True)
    assert first["degraded"][0].endswith(
        "passages are not encoded yet and are found by words only (run `commonplace sync`)"
    )
    assert (synced["added"], synced["changed"], synced["waiting"], synced["encoded"] > 0) == (0, 0, 0, True)
    assert (second["mode"], second["degraded"]) == ("hybrid", [])


def test_progress_is_told_in_plain_lines_where_no_terminal_is(run: Run) -> None:
    """What is counted, and how many of how many; the answer stays alone on standard output."""
    done = run("sync")

    assert done.returncode == 0
    assert " texts encoded, " in done.stdout
    assert "encoded 0 of " in done.stderr
    assert "\033" not in done.stderr


def test_texts_that_are_known_already_are_counted_apart(run: Run) -> None:
    """The progress counts every text, of which only the new ones are encoded; both numbers are told alike."""
    run("sync")
    again = run("rebuild").stdout
    told = answer(run("rebuild", "--json"))

    assert told["encoded"] == 0 < told["reused"]
    assert f"; 0 texts encoded, {told['reused']:,} known already, " in again


@pytest.mark.parametrize("option", ["--json", "-q"])
def test_no_progress_for_programs(run: Run, option: str) -> None:
    """Nothing but the answer."""
    assert run("sync", option).stderr == ""


def test_ctrl_c_keeps_what_is_done_and_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is found by words; the next sync goes on and ends as any other."""
    encode, calls = HashingEncoder.encode, list[int]()

    def interrupted(self: HashingEncoder, texts: Sequence[str], **more: Any) -> Any:
        calls.append(len(texts))
        if len(calls) > 1:
            raise KeyboardInterrupt
        return encode(self, texts, **more)

    with monkeypatch.context() as patched:
        patched.setattr(HashingEncoder, "encode", interrupted)
        stopped = run("sync")
    rest = answer(run("sync", "--json"))

    assert stopped.returncode == 130
    assert "notes can be found by words" in stopped.stderr
    assert stopped.stderr.endswith("`commonplace sync` goes on from here\n")
    assert (rest["added"], rest["waiting"]) == (0, 0)
    assert answer(run("search", "greenhouse", "--json"))["degraded"] == []
