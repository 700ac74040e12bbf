"""Index and search as people and programs run them, with the real model or without; a few of them as processes."""

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.app import open_memory
from commonplace.memory import Memory
from commonplace.model import ActorKind
from commonplace.questions.words import query_words
from tests.command_line import run_commonplace
from tests.components import MODEL_FOLDER, require, variables_of_ours
from tests.polling import wait_for
from tests.terminal import on_a_terminal
from tests.vaults import make_vault, sample_vault
from tests.warm import warm_program

PATIENCE = 60.0
NASTY = ('"', "--", "🌱", '-tank "permit* NEAR( AND ^title: {OR} ;DROP', "permit tank " * 834)
RESULT = {"chunk_id", "document_id", "source_type", "source_path", "title", "heading_path", "line", "content", "score"}
RESULT |= {"cosine", "sensitive", "updated", "metadata", "why", "link", "more_in_note"}

SMALL = {"COMMONPLACE_RETRIEVAL__MAX_K": "3", "COMMONPLACE_RETRIEVAL__DEFAULT_K": "2"}

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Place:
    """A vault, and a home of its own for the person who owns it."""

    home: Path
    provider: str = "hashing"
    model_folder: Path = MODEL_FOLDER

    @property
    def vault(self) -> Path:
        return self.home / "vault"

    @property
    def data(self) -> Path:
        """The vault's folder in the data folder."""
        (folder,) = (self.home / "data").iterdir()
        return folder

    def environment(self, **more: str) -> dict[str, str]:
        ours = variables_of_ours()
        homes = {f"XDG_{name}_HOME": str(self.home / name.lower()) for name in ("CONFIG", "STATE", "DATA", "CACHE")}
        return {
            **{name: value for name, value in os.environ.items() if name not in ours},
            **homes,
            "HOME": str(self.home),
            "TZ": "UTC",
            "COMMONPLACE_VAULT": str(self.vault),
            "COMMONPLACE_DATA": str(self.home / "data"),
            "COMMONPLACE_EMBEDDING__PROVIDER": self.provider,
            "COMMONPLACE_EMBEDDING__MODEL_FOLDER": str(self.model_folder),
            **more,
        }

    def run(self, *words: str, given: str = "", **more: str) -> Done:
        """The program's answer."""
        return run_commonplace(*words, given=given, env=self.environment(**more))

    def process(self, *words: str) -> Done:
        """The same, of a process for it."""
        command = [warm_program(), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment())

    def answer(self, *words: str, code: int = 0) -> dict[str, Any]:
        """The answer as a program reads it."""
        done = self.run(*words, "--json")
        assert done.returncode == code, done.stdout + done.stderr
        return dict(json.loads(done.stdout))

    def opened(self, actor: ActorKind = "person") -> Memory:
        """The same vault, opened by this process: quicker than a process for each question."""
        return open_memory(self.vault, actor=actor, settings=self.flags)

    def found(self, text: str, **more: Any) -> list[str]:
        """The paths of the notes in which the words stand, each once."""
        with self.opened() as memory:
            return list(dict.fromkeys(hit.path for hit in memory.search(text, mode="words", **more)))

    def sync(self) -> None:
        """Index the vault."""
        with self.opened() as memory:
            memory.index.sync()

    @property
    def flags(self) -> dict[str, object]:
        return {
            "data": str(self.home / "data"),
            "embedding.provider": self.provider,
            "embedding.model_folder": str(self.model_folder),
        }


def begun(place: Place) -> Place:
    """The place, with the sample vault in it, under git and indexed."""
    sample_vault(place.vault)
    place.sync()
    return place


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The sample vault, indexed with the real model; tests only read it."""
    require("model")
    return begun(Place(tmp_path_factory.mktemp("real"), provider="minilm-l6-v2"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The sample vault and a recipe, indexed with the hashing encoder; tests only read it."""
    place = begun(Place(tmp_path_factory.mktemp("shared")))
    (place.vault / "Inbox/Jam.md").write_text("---\nkind: recipe\nupdated: 2026-03-05\n---\nBudget of jam\n")
    place.sync()
    return place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """The sample vault, indexed with the hashing encoder, to be changed."""
    return begun(Place(tmp_path))


# What a person sees


def _seconds_of_processes() -> float:
    """The processor time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.needs("model")
@pytest.mark.requirement("D-81")
def test_a_vault_is_found_by_meaning_after_three_commands(tmp_path: Path) -> None:
    """init, sync, search: the sample vault is indexed in less than 30 seconds of processor time, and a question that
    shares no word with the note finds the right section of it."""
    place, question = Place(tmp_path, provider="minilm-l6-v2"), "battery life of the device"
    sample_vault(place.vault, git=False)
    place.process("init", str(place.vault))
    before = _seconds_of_processes()
    synced = place.process("sync")
    took = _seconds_of_processes() - before
    shown = place.process("search", question, "-k", "1")
    note = (place.vault / "Projects/Greenhouse/Sensors.md").read_text().casefold()

    assert (synced.returncode, shown.returncode) == (0, 0), synced.stderr + shown.stderr
    assert took < 30
    assert shown.stdout.splitlines()[0].startswith(" 1. Projects/Greenhouse/Sensors.md:11  Sensors > Which board")
    assert "1 hit, hybrid" in shown.stderr
    assert not [word for word in query_words(question).words if word in note]


@pytest.mark.needs("model")
@pytest.mark.requirement("D-93", "D-88")
def test_the_answer_for_programs_has_this_shape(real: Place) -> None:
    """On every door: the question, the mode, whether it was searched, how many, how long, what is missing, how sure it
    is, and hits with their ids, place, text, score of four places, cosine, sensitivity, time, metadata and reasons."""
    answer = real.answer("search", "budget of the greenhouse", "-k", "3")
    (best,) = (each for each in answer["results"] if each["heading_path"] == ["Greenhouse", "Budget"])

    assert answer.keys() == {"ok", "query", "mode", "searched", "count", "took_ms", "degraded", "confidence", "results"}
    assert (answer["ok"], answer["query"], answer["mode"], answer["searched"]) == (
        True,
        "budget of the greenhouse",
        "hybrid",
        True,
    )
    assert (answer["count"], len(answer["results"]), answer["degraded"]) == (3, 3, [])
    assert all(result.keys() == RESULT for result in answer["results"])
    assert (best["source_type"], best["source_path"]) == ("vault", "Projects/Greenhouse/Greenhouse.md")
    assert best["line"] == 24
    assert "Glass, second hand" in best["content"]
    assert best["score"] == round(best["score"], 4)
    assert best["metadata"]["sensitive"] is best["sensitive"] is False
    assert best["why"].keys() == {"words", "sense", "length", "document"}
    assert 0.5 < answer["confidence"] <= 1


@pytest.mark.needs("model")
@pytest.mark.parametrize("query", ["xqzvw blorptang", "lkjsdf oiwuer nmxcv", "sdkfjh sdkjfh 8374928374"])
def test_gibberish_finds_nothing_and_says_why(real: Place, query: str) -> None:
    """Instead of whatever is nearest to it; a `min_score` of one's own shows that all the same."""
    answer = real.answer("search", query, "--explain")
    rejected = answer["rejected"]
    shown = real.run("search", query, "--explain")

    assert (answer["searched"], answer["count"], answer["confidence"]) == (True, 0, 0.0)
    assert "othing fits in meaning" in answer["empty"]
    assert 0 < rejected["nearness"] < rejected["needed"]
    assert rejected["score"] > 0
    assert (shown.stdout, shown.returncode) == ("", 0)
    assert "rejected: score" in shown.stderr
    assert "`--min-score 0` shows the nearest passages." in shown.stderr
    assert "min_score" not in shown.stderr
    assert real.answer("search", query, "--min-score", "0")["count"] > 0


@pytest.mark.needs("model")
def test_gibberish_finds_nothing_in_a_vault_of_one_note(tmp_path: Path) -> None:
    """One note is far from every usual question, so that all else looks near; what it means is found all the same."""
    place = Place(tmp_path, provider="minilm-l6-v2")
    make_vault(place.vault, {"a.md": "A terminal multiplexer keeps my shell sessions alive.\n"})
    place.sync()

    gibberish = ("asdkfjqwe", "xqzvw blorptang", "zzzz", "qwerty", "anpxeew", "rkxbbwh")
    assert [query for query in gibberish if place.answer("search", query)["count"]] == []
    assert [place.answer("search", query)["count"] for query in ("tmux", "console windows")] == [1, 1]
    place.run("save", "The server is called Otto.", "--kind", "fact", "--no-project")
    recalled = place.run("recall", "asdkfjqwe").stderr
    assert "othing fits in meaning" in recalled
    assert "min_score" not in recalled  # `recall` has no such option


@pytest.mark.needs("model")
@pytest.mark.parametrize(
    ("query", "path"),
    [("thermometer", "Website relaunch.md"), ("coworker", "2026-10-13.md"), ("rainfall storage", "Greenhouse.md")],
)
def test_a_word_that_no_note_has_still_finds_what_it_means(real: Place, query: str, path: str) -> None:
    """Silence is for what means nothing, or nothing here: not for other words than those of the notes."""
    hits = real.answer("search", query)["results"]

    assert all("words" not in hit["why"] for hit in hits)
    assert any(hit["source_path"].endswith(path) for hit in hits)


@pytest.mark.needs("model")
def test_a_word_without_meaning_is_found_where_it_stands(tmp_path: Path) -> None:
    """A code name is no gibberish to the person who wrote it down, whatever stands beside it in the question."""
    place = Place(tmp_path, provider="minilm-l6-v2")
    notes = {"Names.md": "The new engine is called xqzvw.\n", "Tea.md": "Green tea, three minutes.\n"}
    make_vault(place.vault, notes)
    place.sync()

    for query in ("xqzvw", "xqzvw blorptang", "what is the xqzvw of lkjsdf?"):
        assert [hit["source_path"] for hit in place.answer("search", query)["results"]][:1] == ["Names.md"]


def crowded(place: Place) -> Place:
    """A vault in which one note has most passages about quinces."""
    sections = "".join(f"\n## Bed {n}\n\nThe quince of bed {n}, a quince tree.\n" for n in range(12))
    (place.vault / "Quinces.md").write_text(f"# Quinces\n{sections}")
    for n in range(3):
        (place.vault / f"Other {n}.md").write_text(f"On {n} days there was quince jam and tea for all of them.\n")
    place.sync()
    return place


def test_a_note_takes_at_most_two_places(place: Place) -> None:
    """The others go to other notes; all its passages are shown on request, by a setting, and for a search in it."""
    crowded(place)

    def paths(*words: str) -> list[str]:
        return [hit["source_path"] for hit in place.answer("search", "quince", *words)["results"]]

    answer = place.answer("search", "quince", "-k", "4")
    shown = place.run("search", "quince", "-k", "4").stdout

    assert Counter(paths()) == {"Quinces.md": 2, "Other 0.md": 1, "Other 1.md": 1, "Other 2.md": 1}
    assert [hit["more_in_note"] for hit in answer["results"] if hit["source_path"] == "Quinces.md"] == [0, 10]
    assert "     (10 more in this note)\n" in shown
    assert paths("--all-passages").count("Quinces.md") == 8
    assert paths("--path", "Quinces.md").count("Quinces.md") == 8
    assert place.answer("--set", "retrieval.per_note=3", "search", "quince")["results"][2]["more_in_note"] == 9


@pytest.mark.requirement("X-09")
def test_every_hit_has_a_link_that_opens_it_in_obsidian(place: Place) -> None:
    """At its heading; a conversation is not in Obsidian."""
    with place.opened() as memory:
        memory.conversations.record([{"role": "user", "content": "The budget of the greenhouse is tight."}])
        hits = memory.search("budget", k=8).hits
    links = {(hit.path, hit.heading_path[-1:]): hit.link for hit in hits}

    assert links["Projects/Greenhouse/Greenhouse.md", ("Budget",)] == (
        "obsidian://open?vault=vault&file=Projects%2FGreenhouse%2FGreenhouse%23Budget"
    )
    assert {bool(hit.link) for hit in hits if hit.source_type == "chat"} == {False}
    assert {bool(hit.link) for hit in hits if hit.source_type == "vault"} == {True}
    assert all(hit["link"] for hit in place.answer("search", "budget", "--source", "vault")["results"])


@pytest.mark.requirement("X-09")
def test_a_terminal_opens_the_note_of_a_hit_with_a_click(place: Place) -> None:
    """The path is a hyperlink where terminals know them; a note cannot send one of its own."""
    evil = "\033]8;;https://evil.example\033\\click\033]8;;\033\\"
    (place.vault / "Evil.md").write_text(f"# Zebra {evil}\n\nThe zebra says {evil}.\n")
    place.sync()
    plain = {**place.environment(), "COMMONPLACE_LOG": ""}

    def shown(**variables: str) -> str:
        return on_a_terminal("search", "zebra", vault=place.vault, variables=plain | variables)

    linked = shown(NO_COLOR="", TERM="xterm-256color")

    assert re.search(r"\033\]8;id=\d+;obsidian://open\?vault=vault&file=Evil%23[^\033]+\033\\", linked)
    assert ";https://evil.example" in linked
    assert "\033]8;;https" not in linked
    assert "\033]8;id=" in shown(TERM="xterm-256color")  # NO_COLOR is about colours
    assert "\033]8" not in shown(TERM="linux")
    assert "\033" not in shown(NO_COLOR="", TERM="dumb")


def test_a_path_is_not_broken_on_a_narrow_terminal(place: Place) -> None:
    """It is one word to copy; a hit has two lines of text, those with the words of the question."""
    (place.vault / "A long name of a note about zebras.md").write_text("Filling words of no use. " * 8 + "The zebra.\n")
    place.sync()
    lines = on_a_terminal(
        "search", "zebra", "-k", "1", vault=place.vault, columns=30, variables=place.environment() | {"TERM": "linux"}
    ).splitlines()
    plain = [re.sub(r"\033\[[\d;]*m", "", line) for line in lines]

    assert plain[0] == " 1. A long name of a note about zebras.md:1  " + plain[0][-4:]
    assert len(plain) == 3
    assert "zebra" in plain[1] + plain[2]


@pytest.mark.needs("model")
def test_reasons_are_shown_when_asked_for(real: Place) -> None:
    """Each part of the score in a line; for programs also the times."""
    shown = real.run("search", "budget", "-k", "1", "--explain").stdout
    answer = real.answer("search", "budget", "-k", "1", "--explain")
    why = answer["results"][0]["why"]
    parts = sum(part["score"] * part["weight"] for part in why.values())

    assert "words: score" in shown
    assert "sense: score" in shown
    assert answer["times"].keys() >= {"encode", "words", "sense"}
    assert answer["results"][0]["score"] == pytest.approx(parts, abs=2e-4)


@pytest.mark.needs("model")
def test_an_agent_sees_of_a_sensitive_note_that_it_is_there(real: Place) -> None:
    """The person reads it; the library with actor=agent gives title and path alone."""
    question = "code of the tool shed"
    person = real.answer("search", question, "-k", "1")["results"][0]
    with real.opened(actor="agent") as memory:
        (agent,) = (hit for hit in memory.search(question) if hit.sensitive)

    assert (person["source_path"], person["sensitive"]) == ("Inbox/Sensitive credentials.md", True)
    assert "known to Priya" in person["content"]
    assert (agent.path, agent.title, agent.sensitive) == (
        "Inbox/Sensitive credentials.md",
        "Alarm of the tool shed",
        True,
    )
    assert (agent.text, agent.snippet, agent.metadata) == ("", "", {"sensitive": True})


def test_notes_are_ranked_as_wholes_when_asked_for(shared: Place) -> None:
    """Each once, by its best passage; the reasons are those of the note."""
    answer = shared.answer("search", "greenhouse", "--by", "document", "-k", "20")
    paths = [result["source_path"] for result in answer["results"]]
    passages = [result["source_path"] for result in shared.answer("search", "greenhouse", "-k", "20")["results"]]
    shown = shared.run("search", "greenhouse", "--by", "document", "-k", "1", "--explain")

    assert len(set(paths)) == len(paths) > 3
    assert len(set(passages)) < len(passages)
    assert answer["results"][0]["why"].keys() >= {"best", "second", "whole"}
    assert 0 <= answer["confidence"] <= 1
    assert "best: score" in shown.stdout
    assert f"confidence {answer['confidence']:.2f}" in shown.stderr


def test_only_chunks_and_documents_are_ranked(shared: Place) -> None:
    """Anything else is a mistake in the call: exit code 2, and what can be asked for."""
    done = shared.run("search", "greenhouse", "--by", "chapter", "--json")
    error = json.loads(done.stdout)["error"]

    assert (done.returncode, error["type"]) == (2, "UsageError")
    assert "'chapter'" in error["message"]
    assert error["hint"] == "Rank by chunk or document."


def test_what_was_understood_is_shown_with_the_reasons(shared: Place) -> None:
    """On standard error for people, under `understood` for programs; without --explain it is not there."""
    question = 'how many times did you mention "glass" in March 2026'
    shown, answer = shared.run("search", question, "--explain"), shared.answer("search", question, "--explain")
    plain = shared.answer("search", question)

    assert answer["understood"].keys() == {"phrases", "windows", "asks_reply", "asks_many"}
    assert "understood: phrases glass, windows (start 2026-03-01T00:00:00Z" in shown.stderr
    assert "understood" not in plain
    assert "confidence" in plain


def test_a_mode_that_knows_no_confidence_says_none(shared: Place) -> None:
    """null for programs, and nothing for people."""
    shown = shared.run("search", "greenhouse", "--mode", "words")
    answer = shared.answer("search", "greenhouse", "--mode", "words")

    assert answer["confidence"] is None
    assert "confidence" not in shown.stderr


@pytest.mark.requirement("D-92")
def test_each_filter_narrows_the_search(shared: Place) -> None:
    """Source, kind, path, tag, topic, entity, since and until; several at once must all fit."""

    def found(*words: str) -> set[str]:
        return {result["source_path"] for result in shared.answer("search", *words)["results"]}

    assert found("budget", "--source", "chat") == set()
    assert found("budget", "--source", "vault", "--kind", "recipe") == {"Inbox/Jam.md"}
    assert found("greenhouse", "--path", "Meetings", "--tag", "meeting", "--min-score", "0") == {
        "Meetings/2026-10-05 Greenhouse kickoff.md",
        "Meetings/2026-10-19 Sensor review.md",
    }
    assert found("decision", "--topic", "electronics") == {"Meetings/2026-10-19 Sensor review.md"}
    assert "People/Priya Raman.md" in found("priya", "--entity", "Priya", "--mode", "words")
    assert found("budget", "--since", "2026-03-05", "--until", "2026-03-05") == {"Inbox/Jam.md"}
    assert found("budget", "--since", "2026-03-06", "--until", "2026-03") == set()


@pytest.mark.requirement("D-71", "D-73")
def test_how_many_and_how_near_may_be_said(shared: Place) -> None:
    """-k up to the most that the settings allow; --min-score drops what is farther."""
    most = shared.run("search", "greenhouse", "-k", "50", "--json", **SMALL)
    default = shared.run("search", "greenhouse", "--json", **SMALL)
    near = shared.answer("search", "greenhouse", "--mode", "sense", "--min-score", "0.3")
    nearer = shared.answer("search", "greenhouse", "--mode", "sense", "--min-score", "0.99")
    none = shared.run("search", "greenhouse", "-k", "0")

    assert (json.loads(most.stdout)["count"], json.loads(default.stdout)["count"]) == (3, 2)
    assert near["results"]
    reasons = [result["why"]["sense"] for result in near["results"]]
    assert all(max(reason["best"], reason["sentence"]) >= 0.3 for reason in reasons)
    assert (nearer["count"], nearer["searched"]) == (0, True)
    assert "min_score is 0.99" in nearer["empty"]
    assert (none.returncode, "at least one" in none.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("zebra", "--mode", "words"), "None of `zebra` occurs in the 18 documents."),
        (("greenhouse", "--path", "Nowhere"), "None of the 18 documents matches the filters."),
        ((" ",), "The question is empty."),
    ],
)
def test_an_empty_answer_says_why(shared: Place, words: tuple[str, ...], says: str) -> None:
    """On standard error for people, under `empty` for programs; exit code 0."""
    shown, answer = shared.run("search", *words), shared.answer("search", *words)

    assert (shown.returncode, shown.stdout) == (0, "")
    assert says in shown.stderr
    assert (answer["empty"], answer["results"]) == (says, [])


def test_a_vault_that_was_never_synced_says_so_and_the_first_search_indexes_it(tmp_path: Path) -> None:
    """Stats and doctor name the remedy; search does not send the person away."""
    place = Place(tmp_path)
    sample_vault(place.vault)
    stats, doctor, answer = place.run("stats"), place.run("doctor"), place.answer("search", "greenhouse")

    assert answer["count"] > 0
    assert "never: run `commonplace sync`" in stats.stdout
    assert "never synced" in doctor.stdout
    assert doctor.returncode == 1


@pytest.mark.parametrize("text", NASTY)
def test_any_text_is_a_safe_question(shared: Place, text: str) -> None:
    """What means something to a query language or to the program's own options means nothing behind `--`."""
    done = shared.run("search", "--json", "--mode", "words", "--", text)
    answer = json.loads(done.stdout)

    assert done.returncode == 0, done.stderr
    assert (answer["query"], answer["searched"]) == (text, True)
    assert answer["count"] or answer["empty"]
    if "tank" in text:
        assert answer["results"][0]["source_path"] == "Meetings/2026-10-05 Greenhouse kickoff.md"


def test_a_search_for_nothing_is_a_mistake_in_the_call(shared: Place) -> None:
    """A lone `--` names no question: exit code 2."""
    assert shared.run("search", "--").returncode == 2


# Without the model


@pytest.mark.requirement("D-60", "I-64", "I-65")
@pytest.mark.parametrize("mode", ["hybrid", "sense"])
def test_without_a_model_search_is_by_words_and_says_so(tmp_path: Path, mode: str) -> None:
    """sync and search work and exit 0; `degraded` and standard error say what is missing and what to do."""
    place = begun(Place(tmp_path, provider="minilm-l6-v2", model_folder=tmp_path / "nothing"))
    answer = place.answer("search", "permit for the tank", "--mode", mode)
    shown = place.run("search", "permit for the tank", "--mode", mode)
    synced = place.answer("sync")

    assert (answer["mode"], answer["results"][0]["source_path"]) == (
        "words",
        "Meetings/2026-10-05 Greenhouse kickoff.md",
    )
    assert len(answer["degraded"]) == 1
    assert "commonplace model install" in answer["degraded"][0] + shown.stderr
    assert "words" in shown.stderr
    assert synced["missing"]
    assert shown.returncode == 0


# The file of the index


@pytest.mark.requirement("A-54")
def test_a_damaged_index_is_said_and_rebuild_mends_it(place: Place) -> None:
    """Exit code 6 with the hint; after `rebuild` the answers are what they were."""
    before = place.answer("search", "greenhouse", "-k", "20")["results"]
    for file in (place.data / "index").glob("index.db*"):
        file.write_bytes(b"no database at all, whatever its name says" * 100)
    searched, synced = place.run("search", "greenhouse", "--json"), place.run("sync")
    rebuilt = place.run("rebuild")
    after = place.answer("search", "greenhouse", "-k", "20")["results"]

    assert (searched.returncode, synced.returncode) == (6, 6)
    assert json.loads(searched.stdout)["error"]["type"] == "IndexDamaged"
    assert "commonplace rebuild" in json.loads(searched.stdout)["error"]["hint"]
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert after == before


def test_a_damaged_cache_of_vectors_is_said_and_rebuild_mends_it(place: Place) -> None:
    """Exit code 6 with the hint, and doctor says it, too; then all is as before."""
    for file in place.data.glob("vectors.db*"):
        file.write_bytes(b"no database at all, whatever its name says" * 100)
    (place.vault / "Inbox/new.md").write_text("Another text.\n")
    damaged = place.run("sync")
    seen = place.run("doctor")
    mended = place.run("rebuild")

    assert damaged.returncode == 6
    assert "commonplace rebuild" in damaged.stderr
    assert "vectors.db" in seen.stdout
    assert mended.returncode == 0, mended.stderr
    assert place.found("another") == ["Inbox/new.md"]


def test_an_index_of_a_newer_form_is_not_touched(place: Place) -> None:
    """A newer Commonplace wrote it: exit code 6 and what to do; `rebuild` makes one of this form."""
    file = place.data / "index/index.db"
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 999")
    connection.commit()
    connection.close()
    searched = place.run("search", "greenhouse")
    rebuilt = place.run("rebuild")

    assert searched.returncode == 6
    assert "newer" in searched.stderr
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert place.found("greenhouse")


def test_a_data_folder_inside_the_vault_is_refused(place: Place) -> None:
    """Nothing is written there."""
    inside = place.vault / "data"
    done = place.run("--data", str(inside), "sync")

    assert done.returncode == 3
    assert "inside the vault" in done.stderr
    assert not inside.exists()


def test_the_index_is_deleted_and_made_anew_with_the_same_answers(place: Place) -> None:
    """All of the data folder but the history may go at any time."""
    with place.opened() as memory:
        before = memory.search("who signs for money", k=20).hits
    shutil.rmtree(place.data / "index")
    for file in place.data.glob("vectors.db*"):
        file.unlink()
    place.sync()
    with place.opened() as memory:
        after = memory.search("who signs for money", k=20).hits

    assert before
    assert after == before


# Writers and watchers


@pytest.mark.requirement("D-85")
def test_a_written_note_is_found_at_once(place: Place) -> None:
    """write, move, delete and undo each leave an index that knows: the next search needs no sync."""
    place.run("note", "write", "Inbox/Quince.md", given="Marmalade of quinces.\n")
    written = place.found("marmalade")
    place.run("note", "move", "Inbox/Quince.md", "Projects/Quince.md")
    moved = place.found("marmalade")
    place.run("note", "delete", "Projects/Quince.md")
    deleted = place.found("marmalade")
    place.run("undo")

    assert (written, moved, deleted) == (["Inbox/Quince.md"], ["Projects/Quince.md"], [])
    assert place.found("marmalade") == ["Projects/Quince.md"]


@pytest.mark.requirement("I-18")
def test_an_index_that_fails_does_not_fail_the_write(place: Place) -> None:
    """The note is written and committed, exit code 0; that it is not indexed is told on standard error."""
    for file in (place.data / "index").glob("index.db*"):
        file.write_bytes(b"no database at all, whatever its name says" * 100)
    done = place.run("note", "write", "Inbox/new.md", given="Still here.\n")

    assert done.returncode == 0
    assert (place.vault / "Inbox/new.md").read_text() == "Still here.\n"
    assert "ingest_failed" in done.stderr


def test_an_erased_note_is_in_no_file_of_the_data_folder(place: Place) -> None:
    """Neither its text nor what history says of it."""
    place.run("note", "write", "Inbox/Quince.md", given="Marmalade of quinces.\n")
    place.found("marmalade", as_of="today")
    done = place.run("note", "erase", "Inbox/Quince.md", "--yes")
    left = [file for file in place.data.rglob("*") if file.is_file() and b"Marmalade" in file.read_bytes()]

    assert done.returncode == 0, done.stderr
    assert left == []
    assert place.found("marmalade") == []


@contextmanager
def watching(place: Place) -> Iterator[subprocess.Popen[str]]:
    """`commonplace watch` at work, which has looked at everything once."""
    process = subprocess.Popen(
        [sys.executable, "-m", "commonplace", "watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=place.environment(PYTHONUNBUFFERED="1"),
    )
    assert process.stdout
    assert process.stderr
    try:
        assert "unchanged" in process.stdout.readline()
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, out + err


@pytest.mark.requirement("D-85")
def test_what_happens_on_disk_is_found_within_moments(place: Place) -> None:
    """A write, an editor's replace, a rename, a folder's rename and a removal, while `watch` runs in another process:
    a program that keeps the index open finds each of them. `bench/waits.py` measures how soon.
    """
    vault = place.vault
    with watching(place), place.opened() as memory:

        def found(word: str) -> list[str]:
            return [hit.path for hit in memory.search(word, mode="words", k=20)]

        (vault / "Inbox/Quince.md").write_text("Marmalade of quinces.\n")
        wait_for(lambda: found("marmalade") == ["Inbox/Quince.md"])
        (vault / "Inbox/Quince.md~").write_text("Jelly of quinces.\n")
        (vault / "Inbox/Quince.md~").replace(vault / "Inbox/Quince.md")
        wait_for(lambda: (found("marmalade"), found("jelly")) == ([], ["Inbox/Quince.md"]))
        (vault / "Inbox/Quince.md").rename(vault / "Projects/Quince.md")
        wait_for(lambda: found("jelly") == ["Projects/Quince.md"])
        (vault / "Projects").rename(vault / "Works")
        wait_for(lambda: found("jelly") == ["Works/Quince.md"])
        (vault / "Works/Quince.md").unlink()
        wait_for(lambda: found("jelly") == [])


# Looking back and looking over


def test_the_vault_can_be_searched_as_it_stood(place: Place) -> None:
    """--as-of finds what a note said then; the answer says where history begins; before that there is nothing."""
    place.run("note", "write", "Inbox/Quince.md", given="Marmalade of quinces.\n")
    commit = subprocess.run(
        ["git", "-C", str(place.vault), "log", "-1", "--format=%cI"], capture_output=True, text=True, check=True
    ).stdout.strip()
    wait_for(lambda: datetime.now(UTC) >= datetime.fromisoformat(commit) + timedelta(seconds=1))  # git counts seconds
    place.run("note", "write", "Inbox/Quince.md", given="Jelly now.\n")
    past = place.answer("search", "marmalade", "--mode", "words", "--as-of", commit)
    now = place.answer("search", "marmalade", "--mode", "words")
    before = place.run("search", "marmalade", "--as-of", "2020-01-01", "--json")

    assert [result["source_path"] for result in past["results"]] == ["Inbox/Quince.md"]
    assert past["as_of"] >= past["history_begins"]
    assert now["results"] == []
    assert (before.returncode, json.loads(before.stdout)["error"]["type"]) == (2, "NotFound")
    assert "it begins 20" in json.loads(before.stdout)["error"]["message"]


def test_stats_and_doctor_show_problems_with_path_and_line(place: Place) -> None:
    """And conflict copies of a sync program; the doctor's exit code is 0 only when all is well."""
    copy = "Daily/2026-10-12.sync-conflict-20261012-101010-ABCDEFG.md"
    shutil.copy(place.vault / "Daily/2026-10-12.md", place.vault / copy)
    place.sync()
    stats, doctor = place.run("stats", "--problems").stdout, place.run("doctor")
    (place.vault / copy).unlink()
    (place.vault / "Inbox/Broken import.md").unlink()
    place.sync()
    well = place.answer("doctor")

    for shown in (stats, doctor.stdout):
        assert "Inbox/Broken import.md:2" in shown
        assert f"{copy}" in shown
    assert doctor.returncode == 1
    assert well["well"] is True
    assert place.answer("stats")["index"]["problems"] == 0


@pytest.mark.requirement("D-122", "D-13")
def test_the_sample_vault_is_indexed_without_its_templates(place: Place) -> None:
    """Seventeen notes; Templates and .obsidian are left out, and one note is sensitive."""
    (place.vault / ".obsidian").mkdir(exist_ok=True)
    (place.vault / ".obsidian/plugin.md").write_text("greenhouse\n")
    place.sync()
    index = place.answer("stats")["index"]

    assert index["documents"] == {"vault": 17}
    assert index["sensitive"] == 1
    assert not [path for path in place.found("meeting", k=32) if path.startswith("Templates")]
