"""The tables of what memory costs as it grows, for the terminal and for `docs/benchmarks.md`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bench.quality_tables import table

ABOUT: Final = """## Entries and facts at scale

A vault is generated as the library would have written it, without a single `lint` problem: two thirds statements,
most of the rest triples about people, with superseded values in the archive.
Every fiftieth entry is a current fact about `me`, the hub; there are also a few notes with facts in their lines.
The vault is imported in one commit and indexed with the hashing encoder; saves go through the library, one commit
each.
Questions are asked in the same process: each once for the first time, which is shown separately, and then warm.
A question is judged by its p95, and the hub separately from the rest.
The size of the repository is that of one packed import and of the saves after it; what a save adds, before git packs
it, is shown next to its times.

**What this does not show**

- The hashing encoder costs next to nothing: the cost of the real one is shown only at the smallest size.
- One import packs better than the same number of commits; `bench/growth.py` shows how a repository grows by writing.
- Saves go into a month that is nearly empty and follow one another at once, with no other writer.
- Texts are a few words out of 26, so all of them are short, and every topic has an eighth of the entries.
- There is one note with facts for every hundred entries, and the vault's history is one large commit and the saves:
  the first index reads it, and the first question about the past the commits since.
"""

AFTER: Final = "the search after one"
_MOST_GROWTH: Final = 2.0  # times what it costs at the smallest size
_GROUPS: Final = {
    "usual": "questions about usual entities",
    "topics": "inferring topics",
    "hub": "questions about the hub",
}


def tables(told: Mapping[str, Any]) -> Iterator[str]:
    """What saving costs, what asking costs and whether that is within its target, and what it takes on the disk."""
    yield from _saving(told)
    yield from ["", *_asking(told), "", *(f"- {line}" for line in judged(told)), ""]
    yield from table(
        ["entries", "first index s", "rebuild s", "import MB", "with all saves MB", "notes MB", "derived data MB"],
        [
            [f"{size['entries']:,}", *(size[key] for key in ("first_index_s", "rebuild_s", "imported_mb"))]
            + [size[key] for key in ("repository_mb", "notes_mb", "data_mb")]
            for size in told["sizes"]
        ],
    )


def judged(told: Mapping[str, Any]) -> Iterator[str]:
    """For each size, whether saves cost at most twice what they cost at the smallest, and for each group of questions
    whether every p95 is within its target; the longest is told, too."""
    least: Mapping[str, Any] = told["sizes"][0]["saves"]
    for size in told["sizes"][1:]:
        grown = {way: times["p50"] / least[way]["p50"] for way, times in size["saves"].items()}
        most = max(grown, key=lambda way: grown[way])
        word = "met" if grown[most] <= _MOST_GROWTH else "MISSED"
        yield (
            f"{size['entries']:,} entries, saving: {word}, at most {_MOST_GROWTH:g} times the p50 of "
            f"{told['sizes'][0]['entries']:,}; the highest is {grown[most]:.2f} times ({most})"
        )
    for size in told["sizes"]:
        for group, title in _GROUPS.items():
            asked: Mapping[str, Mapping[str, float]] = size["asked"][group]
            worst, longest = (max(asked, key=lambda name: asked[name][key]) for key in ("p95", "max"))
            target = asked[worst]["target"]
            word = "met" if asked[worst]["p95"] <= target else "MISSED"
            yield (
                f"{size['entries']:,} entries, {title}: {word}, p95 of {target:g} ms at most; the highest is "
                f"{asked[worst]['p95']} ms ({worst}), the longest of all times {asked[longest]['max']} ms ({longest})"
            )


def _saving(told: Mapping[str, Any]) -> list[str]:
    """Times of each way to save; growth is that of the median from the smallest size on."""
    least: Mapping[str, Any] = told["sizes"][0]["saves"]
    rows = []
    for size in (*told["sizes"], told["real"]):
        for way, times in size["saves"].items():
            grown = f"{times['p50'] / least[way]['p50']:.2f}"
            ms = [times[key] for key in ("p50", "p95", "max")]
            rows.append([f"{size['entries']:,}", size["encoder"], way, times["n"], *ms, grown, times["repository_kb"]])
    first = f"{told['sizes'][0]['entries']:,}"
    heads = ["entries", "encoder", "save", "n", "p50 ms", "p95 ms", "longest ms"]
    return table([*heads, f"p50, times that of {first} hashing", "repository, KB a save"], rows)


def _asking(told: Mapping[str, Any]) -> list[str]:
    rows = [row for size in (*told["sizes"], told["real"]) for row in _asked(size)]
    heads = ["entries", "encoder", "question", "n", "first time ms", "p50 ms", "p95 ms", "longest ms", "target, p95"]
    return table(heads, rows)


def _asked(size: Mapping[str, Any]) -> Iterator[Sequence[object]]:
    for group, asked in size["asked"].items():
        for name, times in asked.items():
            shown = f"{name}{_how_many(size, group, name)}"
            figures = [times[key] for key in ("n", "first", "p50", "p95", "max")]
            yield [f"{size['entries']:,}", size["encoder"], shown, *figures, f"{times['target']:g}"]


def _how_many(size: Mapping[str, Any], group: str, name: str) -> str:
    if name == "facts about an entity":
        return f" of about {size['facts_of_an_entity']:g} facts"
    return f" of {size['facts_of_the_hub']:,} facts" if group == "hub" and name == "facts about the hub" else ""
