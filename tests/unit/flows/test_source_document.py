"""What is said in a conversation as chunks: found with what was said before it, compared sentence by sentence."""

from dataclasses import replace

import pytest

from commonplace.encoders.base import heuristic_tokens
from commonplace.facts.claims import FactRules
from commonplace.flows.ingest.documents import document_of, made_from, source_document
from commonplace.flows.stores import Chunking
from commonplace.model import Chunk
from commonplace.notes import parse
from commonplace.policy.options import SafetyOptions
from commonplace.sources.base import SourceItem, SourcePassage

AT = "2026-03-01T09:12:44Z"
CUT = Chunking(heuristic_tokens, max_tokens=64, overlap=8, version="v")
LONG = "This sentence is long enough to stand alone"


def chunks(*said: SourcePassage, cut: Chunking = CUT, sensitive: bool = False) -> tuple[Chunk, ...]:
    thing = SourceItem("c-1", "A title", "conversation:c-1", said, created=AT, updated=AT, sensitive=sensitive)
    return source_document(thing, cut, user="me", source_type="chat", stamp="s", form="f").chunks


def turn(text: str, **fields: object) -> SourcePassage:
    return replace(SourcePassage(text, turn=7, voice="user", at=AT), **fields)  # type: ignore[arg-type]


def test_a_turn_is_a_chunk_that_knows_its_place() -> None:
    """Its number, who speaks and when; the title and the speaker's name are no words of it."""
    (chunk,) = chunks(turn("My boat is called Argo.", speaker="Ada"))

    assert (chunk.text, chunk.line, chunk.voice, chunk.speaker, chunk.at) == (
        "My boat is called Argo.",
        7,
        "user",
        "Ada",
        AT,
    )
    assert chunk.heading_path == ()
    assert {"boat", "argo"} <= {*chunk.words}
    assert not {"titl", "ada"} & {*chunk.words}


def test_a_turn_is_encoded_with_the_end_of_the_one_before_it() -> None:
    """And with the speaker's name; what is shown is the turn alone, and its sentences are bare."""
    (chunk,) = chunks(turn(f"{LONG}. {LONG}!", speaker="Ada", before="Ben: What is it?"))

    assert chunk.parts == (f"Ben: What is it?\nAda: {LONG}. {LONG}!",)
    assert chunk.sentences == (f"{LONG}.", f"{LONG}!")
    assert chunk.text == f"{LONG}. {LONG}!"


def test_a_sentence_that_is_the_part_is_not_encoded_twice() -> None:
    """A turn of one sentence with nobody before it."""
    (alone,) = chunks(turn(f"{LONG}."))
    (after,) = chunks(turn(f"{LONG}.", before="What?"))

    assert (alone.parts, alone.sentences) == ((f"{LONG}.",), ())
    assert after.sentences == (f"{LONG}.",)


def test_a_part_fits_the_encoder() -> None:
    """However much was said before it: what is too much is left out at the end, and the sentences have it."""
    (chunk,) = chunks(turn(" ".join(["tail"] * 50) + ".", before=" ".join(["head"] * 40)))

    assert len(heuristic_tokens(chunk.parts[0])) <= CUT.max_tokens - 2
    assert chunk.parts[0].startswith("head head")
    assert chunk.parts[0].endswith("tail")
    assert chunk.text.endswith("tail.")


def test_a_long_turn_is_cut_and_every_piece_is_of_it() -> None:
    """Only its first piece has what was said before; all have the turn, the speaker and the time."""
    pieces = chunks(turn(" ".join(f"{LONG} {number}." for number in range(40)), speaker="Ada", before="What?"))

    assert len(pieces) > 3
    assert {(each.line, each.speaker, each.voice, each.at) for each in pieces} == {(7, "Ada", "user", AT)}
    assert [each.parts[0].startswith("What?\n") for each in pieces[:2]] == [True, False]
    assert all(each.parts[0].startswith("Ada: ") for each in pieces[1:])
    assert all(each.sentences for each in pieces)


def test_of_a_reply_the_beginning_has_a_vector() -> None:
    """To the end of a word, with the question before it; its words find the rest, and no sentence of it is compared."""
    reply = " ".join(f"{LONG} {number}." for number in range(40))
    first, second, *_ = chunks(turn(reply, voice="assistant", before="How?"), cut=replace(CUT, max_tokens=256))

    (part,) = first.parts
    assert part.startswith(f"How?\n{LONG} 0.")
    assert 380 < len(part) - len("How?\n") <= 400
    assert reply.startswith(part.removeprefix("How?\n"))
    assert reply[len(part) - len("How?\n")] == " "
    assert (second.parts, second.sentences, first.sentences) == ((), (), ())
    assert second.words


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: no note\n---\nbody",
        "# A heading\n\n## Another\n\ntext",
        "tail\x00with null",
        "\x1b[31mred\x1b[0m \u202eevil",
        "half \ud800",
    ],
    ids=["frontmatter", "headings", "null", "terminal", "surrogate"],
)
def test_a_turn_is_no_note(text: str) -> None:
    """What looks like frontmatter or headings is what was said, whole."""
    (chunk,) = chunks(turn(text))

    assert (chunk.text, chunk.heading_path) == (text, ())


def test_a_huge_turn_without_a_blank_is_cut() -> None:
    """No chunk is a megabyte long."""
    pieces = chunks(turn("x" * 1_000_000))

    assert "".join(each.text for each in pieces).count("x") >= 1_000_000
    assert max(len(each.text) for each in pieces) < 5000


def test_what_is_sensitive_goes_to_no_remote_encoder() -> None:
    """Neither whole nor by its sentences; here it is encoded as all else."""
    said = turn(f"{LONG}. {LONG}.", before="x")
    (remote,) = chunks(said, cut=replace(CUT, is_remote=True), sensitive=True)
    (local,) = chunks(said, sensitive=True)

    assert (remote.parts, remote.sentences) == ((), ())
    assert (len(local.parts), len(local.sentences)) == (1, 2)


def test_other_sources_are_found_by_title_and_headings() -> None:
    """A task is no turn: it has a title of its own, and headings."""
    (chunk,) = chunks(SourcePassage("Paint the hull.", ("Summer",)))

    assert chunk.parts == ("Summer\nPaint the hull.", "A title")
    assert {"titl", "summer", "paint"} <= {*chunk.words}
    assert (chunk.voice, chunk.sentences, chunk.line) == ("", (), 1)


@pytest.mark.parametrize(
    ("path", "marks", "at"),
    [
        ("a.md", "date: 2026-03-01\ncreated: 2026-02-01", "2026-03-01T00:00:00Z"),
        ("a.md", "created: 2026-02-01T10:00:00+01:00", "2026-02-01T09:00:00Z"),
        ("2025-12-24.md", "created: 2026-02-01", "2026-02-01T00:00:00Z"),
        ("Daily/2025-12-24.md", "", "2025-12-24T00:00:00Z"),
        ("Meetings/The 2025-12-24 kickoff.md", "date: soon", "2025-12-24T00:00:00Z"),
        ("2025-12-24/a.md", "", ""),
        ("2025-13-24.md", "", ""),
        ("12025-12-240.md", "", ""),
        ("a.md", "updated: 2026-03-01", ""),
    ],
)
def test_a_note_tells_of_its_date(path: str, marks: str, at: str) -> None:
    """Its own, or that in its name; when the file was saved says nothing of it."""
    note = parse(f"---\n{marks}\n---\ntext\n".encode(), path=path, mtime=1e9)
    document = document_of(note, CUT, rules=FactRules(), safety=SafetyOptions())

    assert [each.at for each in document.chunks] == [at]


def test_another_date_makes_the_chunks_anew() -> None:
    """They carry it."""
    dated = [f"---\ndate: 2026-03-0{day}\n---\ntext\n".encode() for day in (1, 2)]
    first, second = (parse(content, path="a.md", mtime=0.0) for content in dated)

    assert made_from(first, CUT, rules=FactRules(), safety=SafetyOptions()) != made_from(
        second, CUT, rules=FactRules(), safety=SafetyOptions()
    )
