"""The figures of `bench/changes.py` in tables: what each row counts, what is wanted, and the first look at the sets."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from bench.changes_saves import TRUE_BESIDE
from bench.quality_tables import table

ABOUT: Final = """## What a new statement does to a known one

Two sets decide, written by two authors who had not seen the program (`bench/sets/changes`): 140 independent pairs, 60
restrictions, 40 opposites, 40 paraphrases, 64 changed values, 60 pairs of look-alikes, 30 chains, 300 other statements.
They were committed before any figure was read from them. The first look stays on this page; a later look is called so.
Since 2026-11-20, after several looks, they and the third set below are for development: the weight of shared words, the
floors of neighbours and what stands in a prompt's part are chosen on them, and only a set that nobody has seen decides.
The pairs in `../shared/data/judgement` are for development, and constants are chosen on them.
Every statement is saved in a vault under git with the real encoder; a curve ranks the same comparisons again.

`.venv/bin/python bench/changes.py --save` measures it, and `.venv/bin/python bench/page.py` writes it here.

**What this does not show**

- The sets are small, and each line was labelled by its author alone.
- Some independent pairs are mild; some changed values follow by inference only.
- Whether a reader settles rightly what is shown to it: `bench/readers.py` counts that, below.
"""
THIRD: Final = """### A third set, written after the first look at the other two

One author who had seen neither the program nor the other sets wrote it: 64 changed values, 30 chains and 30 corrections
among 670 statements."""
Figures = Mapping[str, Any]


def tables(looks: Sequence[Figures], *, verbose: bool = False) -> Iterator[str]:
    """The law's table, with a column for each look at the sets, the first one first, and the curves of the last.

    A look may have some of the parts.
    """
    names = ["first look", "second look", "later look"]
    heads = [f"{names[min(place, 2)]}, {look.get('date', 'now')}" for place, look in enumerate(looks)]
    columns = [dict(_rows(look)) for look in looks]
    wanted = dict(_WANTED)
    rows = [
        [what, wanted.get(what, ""), *(column.get(what, "") for column in columns)]
        for what in dict.fromkeys(chain(*columns))
    ]
    yield from table(["what", "wanted", *heads], rows)
    yield ""
    last = {part: measured for look in looks for part, measured in look.items()}
    yield from _neighbours(last, "neighbours", "the deciding sets")
    yield from _neighbours(last, "development_neighbours", "the development pairs, in one memory")
    if verbose:
        yield from _missed(looks[-1])


_LOST: Final = "true statements lost by saving an unrelated one, independent pairs"
_WRONG: Final = "wrong endings, all pairs of which both hold, saved one after the other"
_DEVELOPMENT: Final = "the same, development pairs"
_CONFIRMED: Final = '"already known" said of a pair labelled anything but `same`'
_OPPOSITES: Final = 'opposites "already known"'
_SHORTENED: Final = "statements kept without some of their words"
_WANTED: Final = (
    (_LOST, "0"),
    (_WRONG, "0"),
    (_DEVELOPMENT, "0"),
    (_CONFIRMED, "0"),
    (_OPPOSITES, "0"),
    (_SHORTENED, "0"),
    ("said earlier, learned later the same day: ends the newer value", "0"),
    ("said earlier, learned later: the replaced value is current again", "0"),
    ("said earlier, learned later: what was forgotten is current in other words", "0"),
    ("an agent's contradiction stands beside the person's word, each with speaker and day in a context", "all"),
    ("the changed entry is among at most five neighbours, as built", "no worse than by cosine"),
    ("chains nobody settles: the newest first, with its day", "28 of 30"),
)


def _rows(look: Figures) -> Iterator[tuple[str, str]]:
    """What is counted, and the count."""
    yield from _losses(look)
    if "said_before" in look:
        yield from _said_before(look["said_before"])
    if "contradictions" in look:
        yield from _contradictions(look["contradictions"])
    if "neighbours" in look:
        yield from _found(look["neighbours"])
    if "chains" in look:
        yield from _chains(look["chains"])
    for whose, weeks in look.get("queue", {}).items():
        yield f"waits at the end of weeks 1 to {len(weeks)}: {whose}", "; ".join(map(_waiting, weeks))
    if walk := look.get("walk"):
        yield (
            "functions and files of ours that one `save` runs (1,757 in 157)",
            f"{walk['functions']:,} in {walk['files']}",
        )


def _losses(look: Figures) -> Iterator[tuple[str, str]]:
    deciding, development = look.get("losses", {}), look.get("development", {})
    if deciding:
        yield _LOST, _each(deciding, lambda told: _count(told, "lost", "independent"))
        yield _WRONG, _each(deciding, lambda told: _count(told, "lost", *TRUE_BESIDE))
    if development:
        yield _DEVELOPMENT, _each(development, lambda told: _count(told, "lost", *TRUE_BESIDE))
    if deciding:
        both = {**deciding, **development}
        yield _CONFIRMED, _each(both, lambda told: _count(told, "confirmed", *({*told["pairs"]} - {"same"})))
        yield _OPPOSITES, _each(deciding, lambda told: _count(told, "confirmed", "opposite"))
        yield _SHORTENED, _each(both, lambda told: f"{len(told['shortened'])} of {sum(told['pairs'].values())}")


def _each(parts: Mapping[str, Figures], told: Any) -> str:
    return "; ".join(f"{name} {told(part)}" for name, part in parts.items())


def _count(told: Figures, what: str, *kinds: str) -> str:
    wrong = sum(len(told[what].get(kind, ())) for kind in kinds)
    return f"{wrong} of {sum(told['pairs'].get(kind, 0) for kind in kinds)}"


def _said_before(told: Figures) -> Iterator[tuple[str, str]]:
    newer, replaced, forgotten = told["not settled"], told["replaced"], told["forgotten"]
    ended, learned = newer["newer ended"] + replaced["newer ended"], newer["learned"] + replaced["learned"]
    yield "said earlier, learned later the same day: ends the newer value", f"{ended} of {learned}"
    yield (
        "said earlier, learned later: stands beside a newer value that nobody settled, dated before it",
        f"{newer['current']} of {newer['learned']}, {newer['dated before']} dated before",
    )
    yield (
        "said earlier, learned later: the replaced value is current again",
        f"{replaced['current']} of {replaced['learned']}",
    )
    yield (
        "said earlier, learned later: what was forgotten is current in other words",
        f"{forgotten['current']} of {forgotten['learned']} ({forgotten['waiting']} wait)",
    )


def _contradictions(told: Figures) -> Iterator[tuple[str, str]]:
    def sums(name: str) -> str:
        return ", ".join(f"{way} {each.get(name, 0)} of {each['pairs']}" for way, each in told.items())

    yield "an agent's contradiction of the person's own word: both stand", sums("stands")
    yield "the answer names the person's word, with speaker and day", sums("named")
    yield (
        "an agent's contradiction stands beside the person's word, each with speaker and day in a context",
        sums("signed"),
    )


def _found(told: Figures) -> Iterator[tuple[str, str]]:
    for kind in ("changed", "same"):
        for way, each in told["ways"].items():
            yield (
                f"the {kind} entry is among at most five neighbours, {way}",
                f"{each['shown'].get(kind, 0)} of {told['pairs'].get(kind, 0)}",
            )
    lengths = ", ".join(f"{way} {each['listed']}" for way, each in told["ways"].items())
    yield "neighbours listed for an unrelated save, on average", lengths


def _chains(told: Figures) -> Iterator[tuple[str, str]]:
    of = f"of {told['chains']}"
    yield "chains: the second value's save shows the first", f"{told['second shows first']} {of}"
    yield (
        "chains: the third value's save shows the second; both",
        f"{told['third shows second']} {of}; {told['third shows both']} {of}",
    )
    yield (
        "chains nobody settles: the newest is in the context; first",
        f"{told['newest there']} {of}; {told['newest first']} {of}",
    )
    yield "chains nobody settles: the newest first, with its day", f"{told['with its day']} {of}"
    if "oldest in a session" in told:
        yield (
            "the same in a session that has the profile, of those whose oldest the prompt brings",
            f"{told['newest first in a session']} of {told['oldest in a session']}",
        )


def _waiting(week: Figures) -> str:
    return f"{sum(week.values())} ({', '.join(f'{number} {what}' for what, number in week.items() if number)})"


def _neighbours(look: Figures, part: str, title: str) -> Iterator[str]:
    """The curves of one memory."""
    if part not in look:
        return
    told = look[part]
    kinds = [kind for kind in ("changed", "ended", "opposite", "same", "restriction", "more") if kind in told["pairs"]]
    constants = ", ".join(f"`{name}` {value}" for name, value in told["constants"].items())
    yield from [f"Neighbours on {title}; {constants}:", ""]
    counts = [f"{kind} ({told['pairs'][kind]})" for kind in kinds]
    heads = ["floor", *counts, "listed for an unrelated save", *(f"cosine: {each}" for each in counts), "listed"]
    yield from table(
        heads,
        [[each["floor"], *_cells(each["built"], kinds), *_cells(each["cosine"], kinds)] for each in told["floors"]],
    )
    yield ""
    rows = [[each["weight"], *_cells(each, kinds)] for each in told["weights"]]
    yield from table(["weight of shared words, no floor", *counts, "listed"], rows)
    yield ""
    rows = [[each["floor"], *_cells(each, kinds)] for each in told["alone"]]
    yield from table(["words alone, floor", *counts, "listed"], rows)
    yield ""
    every = [*told["pairs"]]
    yield from ["Said before the near entry was ended, and learned later: how many wait, by the floor `_OVER`:", ""]
    for name, title in (("over", "floor of the score"), ("over_cosine", "floor of the cosine alone")):
        rows = [[each["floor"], *(each.get(kind, 0) for kind in every)] for each in told.get(name, ())]
        yield from table([title, *(f"{kind} ({told['pairs'][kind]})" for kind in every)], rows) if rows else ()
        yield ""


def _cells(told: Figures, kinds: Sequence[str]) -> list[object]:
    return [*(told["shown"].get(kind, 0) for kind in kinds), told["listed"]]


def _missed(look: Figures) -> Iterator[str]:
    for name, told in {**look.get("losses", {}), **look.get("development", {})}.items():
        for what in ("lost", "confirmed"):
            for pairs in told[what].values():
                yield from (f"  {name}, {what}: {' | '.join(pair)}" for pair in pairs)
        yield from (f"  {name}, shortened: {' | '.join(each)}" for each in told["shortened"])
        yield from (f"  {name}, refused: {text} ({why})" for text, why in told["refused"].items())
