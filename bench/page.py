"""Writes the tables of `docs/benchmarks.md` from the newest figures in bench/results.

Run it as `python bench/page.py` after benchmarks with `--save`.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import (
    changes_tables,
    context_tables,
    entries_tables,
    figures,
    gate,
    hooks,
    memory_tables,
    sessions,
    updates_tables,
    year_tables,
)
from bench.cold import TARGET_S
from bench.first_hour import FIRST_ANSWER_S
from bench.index import TARGET_FIRST_S
from bench.quality_tables import table, tables
from bench.readers import scores_table
from bench.search import TARGET_MB, TARGETS

PAGE: Final = figures.ROOT / "docs/benchmarks.md"
BEGIN: Final = "<!-- figures: written by bench/page.py -->"
END: Final = "<!-- end of figures -->"

ANSWERS_BEFORE: Final = (
    "At commit `12a39a0`, measured in the same way: the list of 15 tools 31,626; 24 facts 31,304 as text and again as "
    "structured content, a search 6,525 and again, a recall 1,842 and 9,290, a note 894 and again."
)
"""What the answers were before they were made for a model."""

ABOUT: Final = {
    "changes": changes_tables.ABOUT,
    "updates": updates_tables.ABOUT,
    "memory": memory_tables.ABOUT,
    "sessions": sessions.ABOUT,
    "gate": gate.ABOUT,
    "entries": entries_tables.ABOUT,
    "context": context_tables.ABOUT,
    "year_model": year_tables.ABOUT,
}
"""How these are measured and what that does not show; it stands there before there are figures, too."""


def kept(name: str) -> list[dict[str, Any]]:
    """All figures of that benchmark, the newest first."""
    found = [json.loads(file.read_text()) for file in sorted((figures.HERE / "results").glob(f"{name}-*.json"))]
    return sorted(found, key=lambda told: told.get("at", told["date"]), reverse=True)


def search_tables(told: dict[str, Any]) -> Iterator[str]:
    """Search: times by size and way, memory, and the peers; sizes the newest run left out are of an earlier one."""
    yield from ["## Search, warm", "", _where(told), ""]
    told = {**told, "sizes": [*told["sizes"]]}
    for older in kept("search")[1:]:
        more = [each for each in older["sizes"] if each["chunks"] not in {size["chunks"] for size in told["sizes"]}]
        told["sizes"] += more
        if more:
            sizes = ", ".join(f"{each['chunks']:,}" for each in more)
            yield from [f"{sizes} chunks come from an earlier run: {_where(older)}", ""]
    rows = [
        [
            f"{size['chunks']:,}",
            way,
            _pair(size["ways"][way]),
            _target(size["chunks"]),
            f"{size['ways'][way]['p50_unseen']} / {size['ways'][way]['p95_unseen']}",
            _stages(size["ways"][way]),
        ]
        for size in told["sizes"]
        for way in size["ways"]
    ]
    yield from table(
        ["chunks", "search", "p50 / p95 ms", "target", "asked for the first time", "median ms of the stages"], rows
    )
    yield ""
    rows = [
        [f"{size['chunks']:,}", size["memory_mb"]["VmRSS"], size["memory_mb"]["RssFile"], size["build"]["disk_mb"]]
        for size in told["sizes"]
    ]
    yield from table(["chunks", f"resident MB (target {TARGET_MB} at 100k)", "incl. mapped files", "on disk MB"], rows)
    yield from ["", "Compared with peers, without the encoding of the question on either side:", ""]
    rows = [row for size in told["sizes"] for row in _peers(size)]
    yield from table(["chunks", "who", "p50 / p95 ms", "with a filter of 10 %", "times ours"], rows)


def cold_tables(told: dict[str, Any]) -> Iterator[str]:
    """The fresh process."""
    yield from ["## Search, fresh process", "", _where(told), ""]
    rows = [["`commonplace search`", told["search_s"]], ["the same by words alone", told["words_s"]]]
    yield from table(["749 notes", f"seconds (target {TARGET_S})"], [*rows, ["`python -c pass`", told["python_s"]]])
    yield from ["", "Milliseconds: " + ", ".join(f"{step.strip()} {ms}" for step, ms in told["steps_ms"].items()) + "."]


def index_tables(told: dict[str, Any]) -> Iterator[str]:
    """Indexing."""
    yield from ["## Indexing", "", _where(told), ""]
    names = {"garden": f"garden, real encoder (target {TARGET_FIRST_S} s, 90 %)", "generated": "generated, hashing"}
    rows = [
        [
            title,
            told[name]["notes"],
            told[name]["chunks"],
            told[name]["first_s"],
            f"{told[name]['share_in_encoder']:.1%}",
            told[name]["again_s"],
            told[name]["rebuild_s"],
        ]
        for name, title in names.items()
        if name in told
    ]
    heads = ["vault", "notes", "chunks", "first sync s", "in the encoder", "unchanged s", "rebuild s, kept vectors"]
    yield from table(heads, rows)


def equality_tables(told: dict[str, Any]) -> Iterator[str]:
    """Step by step beside rebuild."""
    yield from ["## Incremental indexing equals a rebuild", "", _where(told), ""]
    rows = [
        [
            each["vault"],
            each["encoder"],
            each["notes"],
            each["questions"],
            f"{each['bytes']:,}",
            "yes" if each["equal"] else "NO",
            f"`{each['sha256'][:16]}`",
            ", ".join(f"{count} {code}" for code, count in each["problems"].items()) or "none",
        ]
        for each in told["vaults"]
    ]
    yield from table(["vault", "encoder", "notes", "answers", "bytes", "equal", "sha256", "problems"], rows)


def quality_tables(told: dict[str, Any]) -> Iterator[str]:
    """Recall; what the newest run left out is shown as an earlier one found it."""
    yield from ["## Quality", "", _where(told), f"{_asked(told)}; {told['encoder']} encoder.", ""]
    yield from tables(told)
    seen = {*told["sets"], *(part for part in ("rejection", "ablation") if part in told)}
    for older in kept("quality")[1:]:
        more = {name: each for name, each in older["sets"].items() if name not in seen}
        parts: dict[str, Any] = {
            part: older[part] for part in ("rejection", "ablation") if part in older and part not in seen
        }
        if more or parts:
            headlines = [each for each in older["headlines"] if each["set"] in more]
            yield from ["", f"From an earlier run: {_where(older)} {_asked(older)}.", ""]
            yield from tables({"sets": more, "headlines": headlines, **parts})
        seen |= {*more, *parts}


def pool_tables(told: dict[str, Any]) -> Iterator[str]:
    """What the pools cost."""
    yield from ["## The cost of comparing sentences only in the best chunks", "", _where(told), ""]
    rows = [[each["what"], each["n"], f"{each['pool']:.1f}", f"{each['every']:.1f}"] for each in told["rows"]]
    yield from table(["hybrid, %", "n", "the best few hundred chunks", "every chunk"], rows)


def law_of_memory(told: dict[str, Any]) -> Iterator[str]:
    """What new statements do to known ones: the first look at the sets, and the newest one beside it."""
    first = kept("changes")[-1]
    looks = [first] if first["at"] == told["at"] else [first, told]
    yield from [*(line for look in looks for line in (_where(look), "")), *changes_tables.tables(looks)]
    for third in kept("changes_c")[-1:]:
        yield from [changes_tables.THIRD, "", _where(third), "", *changes_tables.tables([third])]
    for readers in kept("readers"):
        yield from [f"Readers of the tool's answers, {readers['of']}; {_where(readers)}", ""]
        for name, counts in readers["readers"].items():
            yield from [f"`{name}`:", "", *scores_table(counts), ""]


def updated_values(told: dict[str, Any]) -> Iterator[str]:
    """Which value comes first where something has changed."""
    count = told["questions"]
    asked = "All questions" if count == "all" else f"{count} questions about what has changed, {count} others"
    yield from [_where(told), f"{asked}; {told['encoder']} encoder.", ""]
    yield from updates_tables.tables(told)


def entries_as_they_grow(told: dict[str, Any]) -> Iterator[str]:
    """Saving, asking and rebuilding by the number of entries."""
    yield from [_where(told), "", *entries_tables.tables(told)]


def contexts(told: dict[str, Any]) -> Iterator[str]:
    """What stands before a prompt, beside plain search."""
    yield from [_where(told), f"{told['prompts']} prompts of each sort.", "", *context_tables.tables(told)]


def hook_tables(told: dict[str, Any]) -> Iterator[str]:
    """What a hook costs a prompt, as a whole process."""
    yield from ["## Hooks, whole processes", "", _where(told), "", *hooks.tables(told)]


def first_answer_tables(told: dict[str, Any]) -> Iterator[str]:
    """How long a host waits for its first answers."""
    yield from ["## The first answers of `commonplace mcp`", "", _where(told), ""]
    rows = [
        [name, each["first_answer_s"], each["worst_s"], each["list_ms"], each["search_ms"]]
        for name, each in (("without a daemon", told["cold"]), ("with one", told["warm"]))
    ]
    yield from table(["started", "first answer, s", "the slowest", "then tools/list, ms", "then a search, ms"], rows)


def first_hour_tables(told: dict[str, Any]) -> Iterator[str]:
    """What a new user waits for, and what is stored."""
    stored = dict(told["stored_mb"])
    together = stored.pop("all")
    parts = ", ".join(f"{name} {size}" for name, size in stored.items() if size)
    yield from ["## The first hour, 748 notes", "", _where(told)]
    yield from [
        f"First answer {told['first_answer_s']} s after the start of `init` (target {FIRST_ANSWER_S:.0f}). "
        f"{told['texts_encoded']:,} texts encoded. {told['notes_mb']} MB of notes; stored {together} MB: {parts}.",
        "",
    ]
    rows = [[name, step["clock_s"], step["computed_s"]] for name, step in told["steps"].items()]
    yield from table(["step, each a process of its own", "seconds", "of computing"], rows)


def answer_tables(told: dict[str, Any]) -> Iterator[str]:
    """What an agent reads."""
    yield from ["## What an agent reads, in characters", "", _where(told), ""]
    yield from [ANSWERS_BEFORE, ""]
    rows = [[name, f"{each['text']:,}", f"{each['structured']:,}"] for name, each in told["characters"].items()]
    yield from table(["answer", "text", "structured content"], rows)


def client_tables(told: dict[str, Any]) -> Iterator[str]:
    """Many MCP clients at once on one daemon, without a pause and at a pace."""
    yield from [f"## {told['clients']} MCP clients at once", "", _where(told)]
    of_one_run = {"pace": 0.0, "load": told["machine"]["load"], **told}  # figures from before there were two
    told = {**told, "runs": told.get("runs", [of_one_run])}
    yield from [
        f"{told['entries']:,} entries, the {told['encoder']} encoder, {told['seconds']:g} s each: "
        f"{told['writes']} writes, {len(told['lost_writes'])} lost.",
        "",
    ]
    runs = [
        [
            f"{run['asked_per_s']:g} requests/s asked for" if run["pace"] else "without a pause",
            run["requests_per_s"],
            f"{run['all']['p50']} / {run['all']['p95']}",
            len(run["errors"]),
            " + ".join(str(mb) for mb in run["memory_mb"].values()),
            ", ".join(f"{who} {much}" for who, much in run["cpu_ms_per_request"].items()),
            f"{run['load']:.1f}",
        ]
        for run in told["runs"]
    ]
    heads = ["load", "requests/s", "p50 / p95 ms", "errors", "MB, daemon + workers", "computing a request, ms"]
    yield from table([*heads, "load average"], runs)
    yield ""
    rows = [
        [tool, *(f"{run['tools'][tool]['p50']} / {run['tools'][tool]['p95']}" for run in told["runs"])]
        for tool in told["runs"][0]["tools"]
    ]
    yield from table(["tool, p50 / p95 ms", *(row[0] for row in runs)], rows)


def reaching_the_prompt(told: dict[str, Any]) -> Iterator[str]:
    """What stands before the model, what becomes of candidate memories, and questions to a real vault."""
    yield from [_where(told), "", *memory_tables.tables(told, verbose=False)]


def working_days(told: dict[str, Any]) -> Iterator[str]:
    """What a working day puts before the model."""
    yield from [_where(told), "", *sessions.tables(told, verbose=False)]


def gate_tables(told: dict[str, Any]) -> Iterator[str]:
    """The gate on its labelled examples."""
    yield from [_where(told), "", *gate.tables(told)]


def a_year(told: dict[str, Any]) -> Iterator[str]:
    """A simulated year."""
    yield from [_where(told), "", *year_tables.year_tables(told)]


def _asked(told: dict[str, Any]) -> str:
    return "All questions" if told["questions"] == "all" else f"{told['questions']} questions of each set"


def written() -> str:
    """The page with its figures as they are now."""
    makers = {
        "quality": quality_tables,
        "changes": law_of_memory,
        "updates": updated_values,
        "memory": reaching_the_prompt,
        "sessions": working_days,
        "gate": gate_tables,
        "entries": entries_as_they_grow,
        "pool": pool_tables,
        "search": search_tables,
        "context": contexts,
        "hooks": hook_tables,
        "first_hour": first_hour_tables,
        "answers": answer_tables,
        "first_answer": first_answer_tables,
        "clients": client_tables,
        "cold": cold_tables,
        "index": index_tables,
        "equality": equality_tables,
        "year_model": a_year,
        "year_rules": a_year,
    }
    lines: list[str] = []
    for name, make in makers.items():
        told = kept(name)
        lines += [ABOUT[name]] if name in ABOUT else []
        lines += [*(make(told[0]) if told else [f"No figures of `{name}` yet."]), ""]
    block = "\n".join([BEGIN, "", *lines, END])
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: block, PAGE.read_text(), flags=re.DOTALL)


def _peers(size: dict[str, Any]) -> Iterator[list[object]]:
    both, sense = size["ways"]["hybrid"], size["ways"]["sense"]
    narrow = size["ways"]["hybrid, folder of 10 %"]
    for who, ours in (("ours, hybrid", both), ("ours, sense", sense)):
        told = f"{narrow['p50_without_encoding']} / {narrow['p95_without_encoding']}" if ours is both else ""
        yield [f"{size['chunks']:,}", who, f"{ours['p50_without_encoding']} / {ours['p95_without_encoding']}", told, ""]
    for peer, told in size["beside"].items():
        ours = both if peer == "sqlite-vec" else sense
        ratio = f"{told['all']['p50'] / ours['p50_without_encoding']:.1f}"
        yield [f"{size['chunks']:,}", _named(peer, told), _pair(told["all"]), _pair(told["filter 10 %"]), ratio]


def _named(peer: str, told: dict[str, Any]) -> str:
    if peer == "chromadb":
        return f"chromadb, vectors alone, recall@10 {told['recall_at_10']}"
    return "sqlite-vec + FTS5"


def _where(told: dict[str, Any]) -> str:
    machine, state = told["machine"], " with changes" if told["dirty"] else ""
    note = f" {told['note']}" if "note" in told else ""
    return f"{told['date']}, commit `{told['commit']}`{state}, {machine['cores']} cores ({machine['cpu']}).{note}"


def _pair(told: dict[str, Any]) -> str:
    return f"{told['p50']} / {told['p95']}"


def _target(chunks: int) -> str:
    return " / ".join(map(str, TARGETS[chunks])) if chunks in TARGETS else ""


def _stages(told: dict[str, Any]) -> str:
    return ", ".join(f"{stage} {took}" for stage, took in told["stages_p50"].items())


def main() -> None:
    """Write the page."""
    PAGE.write_text(written())
    print(f"wrote {PAGE.relative_to(figures.ROOT)}")


if __name__ == "__main__":
    main()
