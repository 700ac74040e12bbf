"""A marked note is a source of facts: read again when it is edited, obeyed when words leave it, and never changed."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.errors import NotFound, Refused
from commonplace.flows.ingest.sync import sync
from commonplace.flows.learn.learn import learn_conversation
from commonplace.flows.learn.marked_notes import learn_note, mark_note, paragraphs
from commonplace.flows.learn.queue import run_learning
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.review import review_queue
from commonplace.flows.memory.save import save as save_entry
from commonplace.flows.notes.move import move_note
from commonplace.flows.notes.write import write_note
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import Actor, Candidate, Fact, Terms
from commonplace.notes import parse
from tests.stores import make_session, save

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
NOTE = "Me.md"
TEXT = "---\ntags: [own]\n---\n# About me\n\nI live in Utrecht.\n\nI prefer tea to coffee.\n"


@pytest.fixture
def session(root: Path) -> Iterator[Session]:
    made = make_session(root)
    made = replace(made, stores=replace(made.stores, clock=lambda: NOW), clock=lambda: NOW)
    yield made
    made.stores.close()


def _current(session: Session) -> dict[str, Fact]:
    with entry_reader(session.stores) as reader:
        facts = [each.fact for each in reader.facts(FactQuery(origins=("entry",), statuses=("active",)))]
    return {each.text: each for each in facts if not each.valid_until}


def _edit(root: Path, session: Session, text: str, *, path: str = NOTE) -> None:
    """As a person does in an editor, seen by the next sync."""
    save(root, path, text)
    sync(session.stores)


def _marked(root: Path, session: Session, text: str = TEXT) -> None:
    _edit(root, session, text)
    mark_note(NOTE, session, is_source=True)


def test_marking_changes_one_line_and_unmarking_takes_it_back(session: Session, root: Path) -> None:
    """Every other byte stays."""
    _marked(root, session)

    assert (root / NOTE).read_text() == TEXT.replace("[own]\n", "[own]\nmemory: source\n")

    mark_note(NOTE, session, is_source=False)

    assert (root / NOTE).read_text() == TEXT


def test_only_a_person_marks_a_note(session: Session, root: Path) -> None:
    """A program could launder its own words that way; an entry or a missing note cannot be marked at all."""
    _edit(root, session, TEXT)
    for kind in ("agent", "job"):
        with pytest.raises(Refused):
            mark_note(NOTE, session.as_actor(Actor(kind, "x")), is_source=True)
    with pytest.raises(NotFound):
        mark_note("Missing.md", session, is_source=True)
    with pytest.raises(Refused):
        mark_note("Agent/Memory/fact/2026-03/x-3f9a1c.md", session, is_source=True)


@pytest.mark.requirement("V-33", "V-35")
def test_a_marked_note_gives_facts_that_name_it_and_stays_as_it_is(session: Session, root: Path) -> None:
    """The fact quotes the note; the note is canonical and never rewritten."""
    _marked(root, session)
    before = (root / NOTE).read_bytes()
    run = run_learning(session)
    facts = _current(session)

    assert [each.source for each in run.results] == [NOTE]
    assert sorted(facts) == ["Lives in Utrecht.", "Prefers tea to coffee."]
    origins = facts["Lives in Utrecht."].origins
    assert (origins.note, origins.trust, origins.extractor) == (NOTE, "mined", "rules")
    assert origins.quote in "I live in Utrecht."
    assert (root / NOTE).read_bytes() == before
    assert run_learning(session).results == ()


def test_a_mark_that_is_typed_by_hand_counts(session: Session, root: Path) -> None:
    """`memory: source` in the frontmatter is all there is to it; other notes and other values are not read."""
    _edit(root, session, "---\nmemory: Source\n---\nI live in Utrecht.\n")
    _edit(root, session, "---\nmemory: off\n---\nI live in Kiel.\n", path="Other.md")
    _edit(root, session, "I live in Rome.\n", path="Third.md")
    run_learning(session)

    assert [*_current(session)] == ["Lives in Utrecht."]


@pytest.mark.requirement("V-34")
def test_an_edit_is_read_again_and_only_what_is_new(session: Session, root: Path) -> None:
    """What left the note is no longer true; what is new is learned; what stays is not touched."""
    _marked(root, session)
    run_learning(session)
    before = _current(session)
    _edit(root, session, (root / NOTE).read_text().replace("I prefer tea to coffee.", "I have a cat called Momo."))
    result = run_learning(session).results[0]
    after = _current(session)

    assert result.turns == 1
    assert "Prefers tea to coffee." not in after
    assert after["Lives in Utrecht."] == before["Lives in Utrecht."]
    assert any("Momo" in text for text in after)
    assert "ended" in {each.outcome for each in result.items}


def test_words_that_come_back_are_learned_again(session: Session, root: Path) -> None:
    """A fact that ended because its words went begins anew when they return."""
    _marked(root, session)
    run_learning(session)
    full = (root / NOTE).read_text()
    _edit(root, session, full.replace("I live in Utrecht.\n", ""))
    run_learning(session)
    gone = _current(session)
    _edit(root, session, full)
    run_learning(session)

    assert [*gone] == ["Prefers tea to coffee."]
    assert sorted(_current(session)) == ["Lives in Utrecht.", "Prefers tea to coffee."]


def test_other_words_for_a_known_fact_become_its_evidence(session: Session, root: Path) -> None:
    """The fact does not end because the sentence around it was changed."""
    _marked(root, session)
    run_learning(session)
    id_ = _current(session)["Lives in Utrecht."].id
    _edit(root, session, (root / NOTE).read_text().replace("I live in Utrecht.", "By the way, I live  in Utrecht!"))
    run_learning(session)
    fact = _current(session)["Lives in Utrecht."]

    assert fact.id == id_
    assert "Utrecht" in fact.origins.quote


@pytest.mark.parametrize("moves", ["by us", "in an editor"])
def test_a_renamed_note_keeps_its_facts(session: Session, root: Path, moves: str) -> None:
    """They name the note where it is now."""
    _marked(root, session)
    run_learning(session)
    before = {text: fact.id for text, fact in _current(session).items()}
    if moves == "by us":
        move_note(NOTE, "People/Me.md", session, Terms(personal=True))
    else:
        (root / "People").mkdir()
        (root / NOTE).rename(root / "People/Me.md")
        sync(session.stores)
    run_learning(session)
    after = _current(session)

    assert {text: fact.id for text, fact in after.items()} == before
    assert {fact.origins.note for fact in after.values()} == {"People/Me.md"}


def _replaced(session: Session, root: Path) -> None:
    """A marked note was read, and the person replaced what it says."""
    _marked(root, session)
    run_learning(session)
    old = _current(session)["Lives in Utrecht."]
    save_entry(Candidate(text="Lives in Oslo.", kind="fact", bonds=(("update", old.id),)), session)


def test_what_the_person_replaced_does_not_come_back_with_a_renamed_note(session: Session, root: Path) -> None:
    """It is the note that was read before, however often it is renamed: nothing is learned, and nobody is asked."""
    _replaced(session, root)
    for old, new in ((NOTE, "Us.md"), ("Us.md", "Others.md")):
        (root / old).rename(root / new)
        sync(session.stores)
        run_learning(session)

    assert sorted(_current(session)) == ["Lives in Oslo.", "Prefers tea to coffee."]
    assert review_queue(session).entries == ()


def test_what_the_person_replaced_waits_if_another_note_says_it(session: Session, root: Path) -> None:
    """A copy, or a note that says it anew: no note says when it was written."""
    _replaced(session, root)
    _edit(root, session, (root / NOTE).read_text(), path="Copy.md")
    run_learning(session)
    (waiting,) = review_queue(session).entries

    assert sorted(_current(session)) == ["Lives in Oslo.", "Prefers tea to coffee."]
    assert (waiting.fact.text, "does it hold again?" in waiting.fact.reason) == ("Lives in Utrecht.", True)


@pytest.mark.parametrize("how", ["deleted", "sensitive"])
def test_facts_end_with_their_note(session: Session, root: Path, how: str) -> None:
    """When it is deleted, and when its owner hides it from programs."""
    _marked(root, session)
    run_learning(session)
    if how == "deleted":
        (root / NOTE).unlink()
        sync(session.stores)
    else:
        _edit(root, session, (root / NOTE).read_text().replace("memory: source", "memory: source\nsensitive: true"))
    run_learning(session)

    assert _current(session) == {}
    assert run_learning(session).results == ()


def test_a_sensitive_note_is_never_read(session: Session, root: Path) -> None:
    """Neither by a run, nor by name."""
    _marked(root, session, TEXT.replace("tags: [own]", "sensitive: true"))

    assert run_learning(session).results == ()
    assert learn_note(NOTE, session).turns == 0
    assert _current(session) == {}


def test_an_unmarked_note_is_no_longer_read_and_its_facts_stay(session: Session, root: Path) -> None:
    """The person took the mark away, not the words."""
    _marked(root, session)
    run_learning(session)
    mark_note(NOTE, session, is_source=False)
    _edit(root, session, (root / NOTE).read_text() + "\nI have a cat called Momo.\n")

    assert run_learning(session).results == ()
    assert sorted(_current(session)) == ["Lives in Utrecht.", "Prefers tea to coffee."]
    with pytest.raises(Refused):
        learn_note(NOTE, session)
    with pytest.raises(NotFound):
        learn_note("Missing.md", session)
    assert "Missing.md" not in session.stores.history.learning_states()


def test_words_of_a_program_in_a_marked_note_wait_for_review(session: Session, root: Path) -> None:
    """An agent that writes into the person's source, or marks a note of its own, gains no trust by it."""
    agent = session.as_actor(Actor("agent", "mcp"))
    write_note("Inbox/Plan.md", b"---\nmemory: source\n---\nI live in Utrecht.\n", agent, Terms())
    sync(session.stores)
    run_learning(session)

    assert _current(session) == {}
    assert [each.fact.text for each in review_queue(session).entries] == ["Lives in Utrecht."]


def test_a_note_that_changes_while_it_is_read_is_read_again(
    session: Session, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model may take a minute; what it says of the old text is not stored."""
    from commonplace.flows.learn import extract, marked_notes

    _marked(root, session)
    real = extract.extract

    def slow(*arguments: object, **options: object) -> object:
        save(root, NOTE, (root / NOTE).read_text().replace("Utrecht", "Leiden"))
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(marked_notes, "extract", slow)
    result = learn_note(NOTE, session)
    monkeypatch.setattr(marked_notes, "extract", real)
    sync(session.stores)
    run_learning(session)

    assert "changed" in result.reason
    assert sorted(_current(session)) == ["Lives in Leiden.", "Prefers tea to coffee."]


def test_a_killed_run_of_a_note_is_finished_by_the_next(
    session: Session, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts as read when its old facts have ended as well."""
    from commonplace.flows.learn import marked_notes

    _marked(root, session)
    run_learning(session)
    _edit(root, session, (root / NOTE).read_text().replace("Utrecht", "Leiden"))

    def killed(*arguments: object, **options: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(marked_notes, "_end_without_words", killed)
        with pytest.raises(KeyboardInterrupt):
            run_learning(session)
    run_learning(session)

    assert sorted(_current(session)) == ["Lives in Leiden.", "Prefers tea to coffee."]


def test_a_dry_run_says_what_would_be_learned_and_ended(session: Session, root: Path) -> None:
    """And writes nothing."""
    _marked(root, session)
    run_learning(session)
    _edit(root, session, (root / NOTE).read_text().replace("I prefer tea to coffee.", "I have a cat called Momo."))
    before = _current(session)
    result = learn_note(NOTE, session, dry_run=True)

    assert {each.outcome for each in result.items} == {"stored", "ended"}
    assert _current(session) == before


def test_paragraphs_are_numbered_by_their_lines_and_leave_out_code() -> None:
    """Headings are no statements, and what is fenced is somebody else's text."""
    text = "---\na: 1\n---\n# Me\nI live in Kiel.\n\n```\nI live in Rome.\n\nx\n```\n\n- one\n- two\n"
    turns = [*paragraphs(parse(text.encode(), path="a.md", mtime=0.0))]

    assert [(each.number, each.text) for each in turns] == [(5, "I live in Kiel."), (13, "- one\n- two")]


def test_a_conversation_and_a_note_that_say_the_same_are_one_fact(session: Session, root: Path) -> None:
    """The note confirms what was learned; when its words go, the fact stays, for it has its own evidence."""
    from tests.integration.flows.test_learn import _record

    learn_conversation(_record(session, "I live in Utrecht."), session)
    _marked(root, session)
    run_learning(session)
    _edit(root, session, (root / NOTE).read_text().replace("I live in Utrecht.\n", ""))
    run_learning(session)

    assert "Lives in Utrecht." in _current(session)
