"""What was corrected, rejected, erased or replaced does not come back, and nothing else goes with it.

Ten corrections of what a transcript said, each made in another way, are followed by nights, by importing the transcript
again, by the loss of `history.db` and by a fresh clone of the vault. The measures are those of MemCorrect: uptake,
resurrection, collateral, false apply. What a decoy says is never what a correction sets, unrelated facts are about the
same person, and the transcript that is imported again has the moments at which its turns were said.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model import Actor, EntryResult, Fact
from tests.gitvault import git
from tests.memories import Calendar, make_memory
from tests.transcript_lines import claude

THEN = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
AGENT, DAEMON = Actor("agent", "claude-code"), Actor("job", "daemon")


@dataclass(frozen=True)
class Correction:
    """What was said at first, what was made of it, what the person wrote later, and the statement that holds then.

    `value` is the word that must not come back, `now` the one in its place.
    """

    said: str
    old: str
    value: str
    written: str
    new: str = ""
    now: str = ""


CORRECTIONS: Mapping[str, Correction] = {
    "an agent settles": Correction(
        "My dentist is Dr. Brand in the Marktstrasse.",
        "The dentist is Dr. Brand in the Marktstrasse.",
        "Brand",
        "Correction: my dentist record saying Dr. Brand is wrong. It is now Dr. Okafor.",
        "The dentist is Dr. Okafor.",
        "Okafor",
    ),
    "an agent replaces": Correction(
        "I take 5 mg of ramipril every morning.",
        "Takes 5 mg of ramipril every morning.",
        "5 mg",
        "Oh by the way, my doctor switched me from 5 mg to 10 mg of ramipril last month.",
        "Takes 10 mg of ramipril every morning.",
        "10 mg",
    ),
    "an agent evolves": Correction(
        "We deploy on Tuesdays.",
        "Deploys on Tuesdays.",
        "Tuesdays",
        "Update: we deploy on Thursdays going forward instead of Tuesdays.",
        "Deploys on Thursdays.",
        "Thursdays",
    ),
    "an agent forgets": Correction(
        "I drive a Volvo.", "Drives a Volvo.", "Volvo", "Please forget that I drive a Volvo, I sold the car."
    ),
    "the person replaces": Correction("I live in Utrecht.", "Lives in Utrecht.", "Utrecht", "", "Lives in Oslo."),
    "the person evolves": Correction(
        "My cat is called Momo.", "The cat is called Momo.", "Momo", "", "The cat is called Fips."
    ),
    "the person forgets": Correction("My manager is Tom.", "The manager is Tom.", "Tom", ""),
    "the person erases": Correction(
        "My therapist is on Mondays.", "The therapist is on Mondays.", "therapist", ""
    ),
    "the person edits the note": Correction(
        "My bike is a Gazelle.", "The bike is a Gazelle.", "Gazelle", "", "The bike is a Batavus."
    ),
    "the person rejects": Correction(
        "The wifi is called Garten.", "The wifi is called Garten.", "Garten", "", "The wifi is called Balkon."
    ),
}  # fmt: skip
REJECTED = CORRECTIONS["the person rejects"]
BACK = "Atlas is hosted on Heroku."
"""It was replaced, and holds again since: what the person says last counts."""

OTHERS = {
    "I prefer tea to coffee.": "Prefers tea to coffee.",
    "My sister lives in Ghent.": "The sister lives in Ghent.",
}
DECOYS = [
    "Riley mentioned that their dentist is Dr. Sato.",
    "What if we deployed on Saturdays?",
    "If I lived in Bonn, I would take the train.",
    "Should we call the cat Zorro? No, we will not.",
]
DECOY_VALUES = ("Sato", "Saturdays", "Bonn", "Zorro")
BEFORE = [
    "I live in Utrecht, near the canal.",
    "My cat is called Momo the second.",
    "My manager is Tom Baker.",
    "My dentist is Dr. Brand, Marktstrasse 4.",
    "I drive an old Volvo.",
]
"""The old values in other words, said before the corrections in a session that is imported after them."""

OLD_SESSION, DECOY_SESSION, EARLIER_SESSION = (f"{each * 8}-1111-4111-8111-{each * 12}" for each in "123")
STAGES = ("corrected", "nights", "imported again", "history lost", "cloned")


@dataclass(frozen=True)
class Found:
    """What held at one stage: texts of current entries, those of them that are the person's own, facts in contexts."""

    current: list[str]
    own: list[str]
    shown: list[str]


@dataclass(frozen=True)
class Story:
    """What held at each stage, what each correction answered, and what a doctor says of the lost history."""

    stages: Mapping[str, Found]
    results: Mapping[str, EntryResult]
    losses: list[str]


def _write_transcript(folder: Path, session: str, turns: list[str], at: datetime) -> None:
    lines = []
    for number, text in enumerate(turns):
        moment = (at + timedelta(minutes=number)).isoformat().replace("+00:00", "Z")
        more = {"sessionId": session, "cwd": "/home/ada/garden"}
        lines.append(claude("user", text, id_=f"{session}-u{number}", at=moment, more=more))
        lines.append(claude("assistant", "Noted.", id_=f"{session}-a{number}", at=moment, more=more))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").write_text("".join(lines))


def _find(memory: Memory) -> Found:
    facts = [each.fact for each in memory.facts.about() if each.fact.origin == "entry"]
    shown = []
    for question in (*(each.said for each in CORRECTIONS.values()), "What do you know about me?"):
        context = memory.acting(AGENT).context(question, within=None, peek=True, notes="off")
        shown += [each.piece.text for each in context.included if each.piece.fact]
    return Found([each.text for each in facts], [each.text for each in facts if each.origins.trust == "told"], shown)


def _pass_nights(memory: Memory, calendar: Calendar, number: int = 1) -> None:
    for _ in range(number):
        calendar.pass_(days=1)
        memory.learning.run()
        memory.jobs.run_due()


def _hear(memory: Memory, text: str, calendar: Calendar, *, number: int) -> None:
    """Capture what the person writes to the agent, as the daemon does."""
    calendar.pass_(minutes=1)
    at = calendar.at.isoformat().replace("+00:00", "Z")
    line = claude("user", text, id_=f"live-{number}", at=at)
    memory.acting(DAEMON).conversations.capture(line.encode(), host="claude-code", session_id="live")


def _correct(name: str, memory: Memory, olds: Mapping[str, Fact], vault: Path) -> EntryResult | None:
    """Make the correction in the way that its name says."""
    entries, agent, it = memory.entries, memory.acting(AGENT).entries, CORRECTIONS[name]
    old = olds[it.old]
    deeds: dict[str, Callable[[], EntryResult | None]] = {
        "an agent settles": lambda: agent.settle(
            agent.save(it.new, kind="fact").fact.id, replaces=[old.id], quote=it.written
        ),
        "an agent replaces": lambda: agent.save(it.new, kind="fact", replaces=[old.id], quote=it.written),
        "an agent evolves": lambda: agent.evolve(old.id, it.new, reason="they said so", quote=it.written),
        "an agent forgets": lambda: agent.forget(old.id, quote=it.written),
        "the person replaces": lambda: entries.save(it.new, kind="fact", replaces=[old.id]),
        "the person evolves": lambda: entries.evolve(old.id, it.new, reason="it is another cat"),
        "the person forgets": lambda: entries.forget(old.id),
    }
    if deed := deeds.get(name):
        return deed()
    if name == "the person erases":
        entries.erase(old.id)
    elif name == "the person rejects":
        memory.reviews.reject(old.id)
        entries.save(it.new, kind="fact")
    else:
        note = vault / old.path
        note.write_text(note.read_text().replace(it.old, it.new))
        memory.index.sync()
    return None


def _learn(memory: Memory, calendar: Calendar, transcripts: Path) -> dict[str, Fact]:
    """Import what was said, and learn from it; the person has confirmed what agents correct later."""
    memory.imports.run([transcripts])
    memory.acting(AGENT).entries.save(REJECTED.old, kind="fact", trust="imported")
    _pass_nights(memory, calendar)
    waiting = [each.fact for each in memory.reviews.list().entries]
    olds = {fact.text: fact for fact in (*(each.fact for each in memory.facts.about()), *waiting)}
    for name, each in CORRECTIONS.items():
        if name.startswith("an agent"):
            memory.entries.confirm(olds[each.old].id)
    return olds


def _correct_all(
    memory: Memory, calendar: Calendar, olds: Mapping[str, Fact], *, vault: Path
) -> dict[str, EntryResult]:
    results = {}
    for number, (name, each) in enumerate(CORRECTIONS.items()):
        if each.written:
            _hear(memory, each.written, calendar, number=number)
        if result := _correct(name, memory, olds, vault):
            results[name] = result
    render = memory.entries.save("Atlas is hosted on Render.", kind="fact", replaces=[olds[BACK].id]).fact
    calendar.pass_(hours=1)
    memory.entries.save(BACK, kind="fact", replaces=[render.id])
    calendar.pass_(hours=1)
    return results


def _tell(folder: Path) -> Story:
    """Learn, correct, and let everything pass that may bring the old values back."""
    calendar, stages, vault = Calendar(THEN), dict[str, Found](), folder / "one" / "vault"
    transcripts = folder / "host" / "projects"
    project = transcripts / "-home-ada-garden"
    turns = [*(each.said for each in CORRECTIONS.values() if each is not REJECTED), BACK, *OTHERS]
    _write_transcript(project, OLD_SESSION, turns, THEN)
    calendar.pass_(hours=2)
    with make_memory(folder / "one", clock=calendar) as memory:
        olds = _learn(memory, calendar, transcripts)
        results = _correct_all(memory, calendar, olds, vault=vault)
        stages["corrected"] = _find(memory)
        _write_transcript(project, DECOY_SESSION, DECOYS, calendar.at)
        calendar.pass_(hours=1)
        memory.imports.run([transcripts])
        _pass_nights(memory, calendar, 2)
        stages["nights"] = _find(memory)
        _write_transcript(project, EARLIER_SESSION, [REJECTED.said, *BEFORE], THEN - timedelta(days=1))
        memory.imports.run([transcripts])
        _pass_nights(memory, calendar)
        stages["imported again"] = _find(memory)
    for file in (folder / "one" / "data").rglob("history.db*"):
        file.unlink()
    with make_memory(folder / "one", clock=calendar) as memory:
        memory.imports.run([transcripts])
        _pass_nights(memory, calendar)
        stages["history lost"] = _find(memory)
        losses = [each.said for each in memory.index.examine() if each.what == "history"]
    git(vault, "add", "--all")
    git(vault, "commit", "--allow-empty", "--message", "By hand")
    (folder / "two").mkdir()
    git(folder / "two", "clone", "--quiet", str(vault), "vault")
    with make_memory(folder / "two", clock=calendar) as memory:
        memory.index.sync()
        memory.imports.run([transcripts])
        _pass_nights(memory, calendar, 2)
        stages["cloned"] = _find(memory)
    return Story(stages, results, losses)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return _tell(tmp_path_factory.mktemp("corrections"))


def _has_old_value(text: str, name: str) -> bool:
    """True if the text has the old value; one that names both, as the correction itself does, says what changed."""
    it = CORRECTIONS[name]
    return it.value in text and not (it.now and it.now in text)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", CORRECTIONS)
def test_what_was_corrected_does_not_come_back(story: Story, name: str, stage: str) -> None:
    """Not as an entry that holds, and not as a fact before a prompt.

    Of erased words nothing is left in the vault to compare, so that a clone without the conversations learns them.
    """
    found = story.stages[stage]
    if (name, stage) == ("the person erases", "cloned"):
        return

    assert [text for text in found.current if _has_old_value(text, name)] == []
    assert [text for text in found.shown if _has_old_value(text, name)] == []


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", [name for name, each in CORRECTIONS.items() if each.new])
def test_the_correction_is_taken_up_and_lasts(story: Story, name: str, stage: str) -> None:
    """Once, and as the person's own word where an agent passed on what they wrote."""
    found, new = story.stages[stage], CORRECTIONS[name].new

    assert found.current.count(new) == 1
    assert found.own.count(new) == int(name != "the person edits the note")


@pytest.mark.parametrize("stage", STAGES)
def test_nothing_else_goes_with_a_correction_and_no_decoy_is_taken_for_one(story: Story, stage: str) -> None:
    """What is unrelated is there once; hearsay, questions and conditions set no value."""
    found = story.stages[stage]

    assert {text: found.current.count(text) for text in (*OTHERS.values(), BACK)} == dict.fromkeys(
        (*OTHERS.values(), BACK), 1
    )
    assert [text for text in found.own if any(value in text for value in DECOY_VALUES)] == []


def test_each_answer_names_what_it_ended(story: Story) -> None:
    """Nothing of it waits."""
    ended = {name: [each.text for each in result.ended] for name, result in story.results.items()}
    replacing = {name: [each.old] for name, each in CORRECTIONS.items() if name in ended and each.new}

    assert {name: texts for name, texts in ended.items() if texts} == replacing
    assert [name for name, result in story.results.items() if result.waiting or result.staged] == []


def test_doctor_says_what_was_lost_with_the_history(story: Story) -> None:
    """And how much of it the conversation files gave back."""
    said = json.dumps(story.losses)

    assert "4 conversations restored from the conversation files, and how far 4 of them were learned" in said
    assert "Lost are" in said


@pytest.mark.parametrize("how", ["undone", "deleted by hand"])
def test_what_was_learned_and_removed_waits_if_another_copy_says_it(tmp_path: Path, how: str) -> None:
    """Its note is gone, and git says what learning had written: in another session, and in a clone of the vault."""
    calendar, vault, projects = Calendar(THEN), tmp_path / "one" / "vault", tmp_path / "host" / "projects"
    transcripts, said = projects / "-home-ada-garden", ["I live in Ghent.", "My dog is called Rex."]
    _write_transcript(transcripts, OLD_SESSION, said, THEN)
    calendar.pass_(hours=2)
    with make_memory(tmp_path / "one", clock=calendar) as memory:
        memory.imports.run([projects])
        memory.learning.run()
        old = next(each.fact for each in memory.facts.about() if "Ghent" in each.fact.text)
        if how == "undone":
            memory.notes.undo(commit=git(vault, "log", "-1", "--format=%H", "--", old.path).strip())
        else:
            (vault / old.path).unlink()
            git(vault, "commit", "-qam", "By hand")
            memory.index.sync()
        _write_transcript(transcripts, EARLIER_SESSION, said, THEN - timedelta(days=1))
        (tmp_path / "two").mkdir()
        git(tmp_path / "two", "clone", "--quiet", str(vault), "vault")
        here = _imported_again(memory, projects)
    with make_memory(tmp_path / "two", clock=calendar) as memory:
        memory.index.sync()
        there = _imported_again(memory, projects)

    assert [here, there] == [(["The dog is called Rex."], ["Lives in Ghent."])] * 2


def _imported_again(memory: Memory, transcripts: Path) -> tuple[list[str], list[str]]:
    """What holds and what waits after the transcripts are imported and learned from."""
    memory.imports.run([transcripts])
    memory.learning.run()
    return _find(memory).current, [each.fact.text for each in memory.reviews.list().entries]
