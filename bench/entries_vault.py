"""A vault of so many entries as the library itself would have left them, made in one import instead of one by one.

Two thirds are statements, most of the rest triples about people, and every fiftieth is a fact about the person whose
vault it is. Of a predicate with one value at a time the older value is superseded: it stands in the archive, and each
of the two names the other. Beside the entries stand a few notes about people, with facts in their lines.
"""

import random
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from commonplace.app import put_under_git
from commonplace.facts.entry_paths import archive_path, default_importance, entry_path, fact_class_of, slug_of
from commonplace.facts.triples import triple_sentence
from commonplace.flows.memory.new_entry import new_entry_note
from commonplace.model import Fact, Origins
from commonplace.model.moment import moment_text

BEGINS: Final = datetime(2021, 1, 1, tzinfo=UTC)
SPAN: Final = timedelta(days=5 * 365)
HUB: Final = "me"
HUB_EVERY: Final = 50
NOTES_EVERY: Final = 100
SINGLE: Final = ("works_at", "lives_in", "has_role")
MANY: Final = ("likes", "knows", "uses", "owns")
TOPICS: Final = ("coding", "garden", "travel", "music", "health", "money", "family", "books")
WORDS: Final = (
    "prefers",
    "tabs",
    "spaces",
    "concise",
    "reviews",
    "morning",
    "evening",
    "meetings",
    "quiet",
    "trains",
    "coffee",
    "tea",
    "winter",
    "river",
    "stone",
    "letter",
    "signal",
    "paper",
    "green",
    "blue",
    "small",
    "large",
    "early",
    "late",
    "never",
    "always",
)
_PEOPLE: Final = 2000
_LAG: Final = timedelta(days=3)  # what has one value at a time is heard of three days after it became true
_TERM: Final = timedelta(days=10 * 365)  # a tenth of it is said to hold so long
_BY: Final = Origins(interface="bench", trust="told")


def facts_of(count: int) -> list[Fact]:
    """So many entries, oldest first, always the same."""
    source = random.Random(count)
    made: list[Fact] = []
    held: dict[tuple[str, str], int] = {}
    for number in range(count):
        fact = _said(number, BEGINS + SPAN * number / count, source, people=_people(count))
        if fact.predicate in SINGLE:
            claim = fact.subject, fact.predicate
            if claim in held:
                older = made[held[claim]]
                fact = replace(fact, supersedes=older.id, reason=_reason(fact.predicate))
                made[held[claim]] = _replaced(older, fact)
            held[claim] = number
        made.append(fact)
    return made


def subjects(count: int, *, predicate: str = "") -> list[str]:
    """The people of whom a vault of so many entries knows something, or a fact with that predicate."""
    facts = facts_of(count)
    named = (fact.subject for fact in facts if fact.predicate and predicate in ("", fact.predicate))
    return sorted({*named} - {HUB})


def notes_of(count: int) -> Iterator[tuple[str, bytes]]:
    """The notes about people, with their paths: each with two facts in lines."""
    source = random.Random(count + 1)
    known = max(1, min(_people(count), count // NOTES_EVERY))
    for person in range(known):
        other, words = source.randrange(known), " ".join(source.choices(WORDS, k=5))
        lines = f"- knows [[Person {other}]] #{source.choice(TOPICS)}\n- [fact] {words}\n"
        text = f"---\ncreated: {moment_text(BEGINS)}\n---\n# Person {person}\n\n{lines}"
        yield f"People/Person {person}.md", text.encode()


def build(root: Path, count: int) -> None:
    """A vault of so many entries, in one commit that is dated when they begin, and checked out."""
    root.mkdir()
    put_under_git(root)
    branch = _git(root, "symbolic-ref", "HEAD").strip()
    with tempfile.TemporaryFile() as script:
        moment = int(BEGINS.timestamp())
        script.write(f"commit {branch}\ncommitter B <b@localhost> {moment} +0000\ndata 5\nnotes\n".encode())
        script.write(f"from {branch}^0\n".encode())
        for path, content in _files(count):
            script.write(b'M 100644 inline "%s"\ndata %d\n%s\n' % (path.encode(), len(content), content))
        script.seek(0)
        subprocess.run(["git", "fast-import", "--quiet"], cwd=root, stdin=script, check=True)
    _git(root, "reset", "--quiet", "--hard")


def _people(count: int) -> int:
    """How many people a vault of so many entries knows: each has about seven to sixteen facts."""
    return min(_PEOPLE, max(1, count // 20))


def _files(count: int) -> Iterator[tuple[str, bytes]]:
    for fact in facts_of(count):
        yield fact.path, new_entry_note(fact, tags=())
    yield from notes_of(count)


def _said(number: int, at: datetime, source: random.Random, *, people: int) -> Fact:
    """What is said at that moment: a fact about the hub, a triple about somebody, or a statement."""
    topic = source.choice(TOPICS)
    if number % HUB_EVERY and number % 3:
        words = " ".join(source.choices(WORDS, k=9)).capitalize()
        return _entry(f"{words} {number}.", at, source, kind="preference", topic=topic)
    is_hub = number % HUB_EVERY == 0
    subject = HUB if is_hub else f"Person {source.randrange(people)}"
    predicate = source.choice(MANY if is_hub else (*SINGLE, *MANY))
    value = f"{source.choice(WORDS)} {source.choice(WORDS)} {number}"
    fact = _entry(triple_sentence(subject, predicate, value), at, source, kind="fact", topic=topic)
    fact = replace(fact, subject=subject, predicate=predicate, object=value)
    if predicate not in SINGLE:
        return fact
    until = moment_text(at + _TERM) if source.random() < 0.1 else ""
    return replace(fact, valid_from=moment_text(at - _LAG), valid_until=until)


def _entry(text: str, at: datetime, source: random.Random, *, kind: str, topic: str) -> Fact:
    id_, recorded, class_ = _id(source, at), moment_text(at), fact_class_of(kind)
    return Fact(
        id=id_,
        path=entry_path(kind, id=id_, slug=slug_of(text), recorded=recorded, always_load=False),
        line=0,
        origin="entry",
        text=text,
        kind=kind,
        fact=class_,
        importance=default_importance(class_),
        topics=(topic,),
        recorded=recorded,
        updated=recorded,
        origins=_BY,
    )


def _replaced(old: Fact, new: Fact) -> Fact:
    """The older of two values, as the library leaves it: ended, in the archive, and naming the newer one."""
    return replace(
        old,
        path=archive_path(old.path),
        status="superseded",
        valid_until=min(new.begins, old.valid_until) if old.valid_until else new.begins,
        invalidated_at=new.recorded,
        was_valid_until=old.valid_until,
        superseded_by=new.id,
        superseded_at=new.recorded,
        updated=new.recorded,
    )


def _reason(predicate: str) -> str:
    return f"`{predicate}` has one value at a time, and this one begins later."


def _id(source: random.Random, at: datetime) -> str:
    value = int(at.timestamp() * 1000) << 80 | 0x7 << 76 | source.getrandbits(12) << 64
    return str(UUID(int=value | 0b10 << 62 | source.getrandbits(62)))


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout
