"""Laws of probes: whatever the notes, what is held out is the question's own text and nothing else."""

import re

from hypothesis import given
from hypothesis import strategies as st

from commonplace.model import Link, Note
from commonplace.notes import LinkResolver, parse
from commonplace.notes.probes import Probe, TextRemoval, Vocabulary, hold_out, link_probes, probes_of, sample_probes

PIECES = (
    "## Where rain goes",
    "### Why *wind* blows ^id",
    "A tank is a box that keeps rain.",
    "- Wind means air that moves about.",
    "[[B|what blows here]]",
    "[what blows](A.md)",
    "| [[A\\|x y]] |",
    "|---|",
    "```",
    "%%",
    "# not now",
    "---",
    "===",
    "> ## Where rain goes",
    "1. x",
    "    code",
    "<b>",
    "é\u2028",
    "\r",
    "$$",
)
FRONTS = (
    "",
    "---\naliases: [Basin, Tub]\n---\n",
    "---\nalias: Basin\nx: &a y\n---\n",
    "---\naliases: &a [Basin]\n---\n",
    "---\n{aliases: [Basin]}\n---\n",
    "---\naliases:\n- Basin\n",
    "\ufeff",
)
BODIES = st.lists(st.sampled_from(PIECES), max_size=8)


@st.composite
def vaults(draw: st.DrawFn) -> dict[str, Note]:
    """Two notes that may link to each other."""
    return {path: parse(draw(texts()).encode(), path=path, mtime=0.0) for path in ("A.md", "B.md")}


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A note of odd pieces, with either kind of line end."""
    text = draw(st.sampled_from(FRONTS)) + "".join(
        piece + draw(st.sampled_from(["\n", "\n\n", " "])) for piece in draw(BODIES)
    )
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def probes_in(notes: dict[str, Note]) -> list[Probe]:
    vocabulary = Vocabulary(notes.values(), words, is_usable=lambda note: True)
    own = [probe for note in notes.values() for probe in probes_of(note, vocabulary)]
    return [*own, *link_probes(notes, vocabulary, resolver=LinkResolver.of(notes))]


def leads(links: tuple[Link, ...]) -> list[tuple[str, str | None, str]]:
    return [(link.target, link.heading, link.form) for link in links]


@given(vaults())
def test_what_is_held_out_is_gone_and_all_else_is_there(notes: dict[str, Note]) -> None:
    """Headings, links, keys and lines of the body stay, but for the one thing that is asked."""
    for probe in probes_in(notes):
        for path in {removal.path for removal in probe.removals}:
            note, removals = notes[path], [removal for removal in probe.removals if removal.path == path]
            without = hold_out(note, removals)
            if without is None:
                continue
            cuts = [removal for removal in removals if isinstance(removal, TextRemoval)]

            assert not without.problems
            assert len(without.headings) == len(note.headings) - (probe.kind == "heading")
            assert len(without.aliases) == len(note.aliases) - (probe.kind == "alias")
            assert without.body.count("\n") == note.body.count("\n")
            assert len(without.text) < len(note.text)
            assert probe.kind in ("heading", "definition") or leads(without.links) == leads(note.links)
            assert all(note.text[cut.start : cut.end] for cut in cuts)


@given(vaults(), st.integers(0, 5), st.integers(0, 3))
def test_a_choice_is_the_same_for_the_same_notes_and_seed(notes: dict[str, Note], count: int, seed: int) -> None:
    """In whatever order the probes come; each note once for each kind, and never more than are wanted."""
    probes = probes_in(notes)
    one, other = (
        sample_probes(each, notes, count=count, seed=seed, is_large=lambda note: True)
        for each in (probes, probes[::-1])
    )

    assert (one.probes, one.without) == (other.probes, other.without)
    assert len(one.probes) <= count
    assert len({(probe.kind, probe.path) for probe in one.probes}) == len(one.probes)
