"""The tables of recall, for the terminal and for `docs/benchmarks.md`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

TITLES: Final = {
    ("longmemeval", "documents"): "LongMemEval_S, sessions",
    ("longmemeval", "turns"): "LongMemEval_S, turns",
    ("4x", "documents"): "LongMemEval_S in a 4x store, sessions",
    ("locomo", "documents"): "LoCoMo, sessions",
    ("locomo", "turns"): "LoCoMo, turns",
    ("scifact", "documents"): "SciFact, abstracts",
}
SHOWN: Final = {
    ("longmemeval", "documents"): ("any@5", "strict@5", "strict@10", "fractional@5", "nDCG@10"),
    ("longmemeval", "turns"): ("fraction@5", "fraction@10", "any@5"),
    ("4x", "documents"): ("any@5", "strict@5", "strict@10", "fractional@5", "nDCG@10"),
    ("locomo", "documents"): ("any@5", "strict@5", "fractional@5", "any@10", "strict@10", "fractional@10", "nDCG@10"),
    ("locomo", "turns"): ("fraction@5", "fraction@10", "any@5"),
    ("scifact", "documents"): ("nDCG@10", "fractional@10"),
}
TARGETS: Final = {
    ("longmemeval", "documents", "any@5"): (0.995, "98.4"),
    ("longmemeval", "documents", "strict@5"): (0.96, "88.7 to 90.0; 95.96 with a paid encoder and reranker"),
    ("longmemeval", "turns", "fraction@5"): (0.86, ""),
    ("4x", "documents", "strict@5"): (0.92, ""),
    ("4x", "documents", "strict@10"): (0.97, ""),
    ("locomo", "documents", "strict@10"): (0.92, "81.6 to 85.0"),
    ("locomo", "documents", "fractional@10"): (0.955, "88.9"),
    ("locomo", "turns", "fraction@5"): (0.76, "72.6, whether a fraction or at least one is not said"),
    ("scifact", "documents", "nDCG@10"): (0.72, "MiniLM alone about 64.5, BM25 67.9"),
}
"""The target, and what others have published with MiniLM and no reranker unless it says otherwise."""

CATEGORIES: Final = {
    "1": "1 multi-hop",
    "2": "2 temporal",
    "3": "3 inference",
    "4": "4 single-hop",
    "5": "5 adversarial",
}


def tables(told: Mapping[str, Any]) -> Iterator[str]:
    """All tables of a run, in Markdown."""
    if told["headlines"]:
        yield from _titled("Headlines", _headlines(told["headlines"]))
    for name, levels in told["sets"].items():
        for level, title in ((key[1], title) for key, title in TITLES.items() if key[0] == name):
            if level in levels:
                yield from _titled(title, _by_mode(levels[level], SHOWN[name, level]))
        if levels.get("dropped"):
            yield from [f"{levels['dropped']} questions whose evidence names no turn are left out.", ""]
    if "rejection" in told:
        yield from _rejection(told["rejection"])
    if "ablation" in told:
        yield from _titled("Without each part of the ranking, in points", _ablation(told["ablation"]))


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A Markdown table."""
    return ["| " + " | ".join(map(str, line)) + " |" for line in (heads, ["---"] * len(heads), *rows)]


def _titled(title: str, lines: Sequence[str]) -> list[str]:
    return [f"### {title}", "", *lines, ""]


def _headlines(told: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = []
    for each in told:
        target, published = TARGETS.get((each["set"], each["level"], each["measure"]), (None, ""))
        met = "" if target is None else f"{_points(target)} {'met' if each['value'] >= target else 'MISSED'}"
        rows.append(
            [
                named(each),
                each["n"],
                f"**{_points(each['value'])}**",
                met,
                " ± ".join(map(_points, each["folds"])),
                " to ".join(map(_points, each["interval"])),
                published,
            ]
        )
    return table(["hybrid, %", "n", "value", "target", "five folds", "95 % interval", "published"], rows)


def named(each: Mapping[str, Any]) -> str:
    """What a headline measures, in words."""
    group = "" if each["group"] == "all" else f" {each['group']}"
    return f"{TITLES[each['set'], each['level']].replace(',', f'{group},', 1)}, {each['measure']}"


def _by_mode(modes: Mapping[str, Any], measures: Sequence[str]) -> list[str]:
    """A row for all of each mode, then a row for each type of the last, which is what the product does by default."""
    wholes = [group for group in ("all", "1-4", "test", "train") if group in next(iter(modes.values()))]
    rows = [_row(f"{mode}, {group}", rows[group], measures) for group in wholes for mode, rows in modes.items()]
    mode, last = list(modes.items())[-1]
    rows += [
        _row(f"{mode}, {CATEGORIES.get(group, group)}", row, measures)
        for group, row in last.items()
        if group not in wholes
    ]
    return table(["%", "n", *measures], rows)


def _row(title: str, row: Mapping[str, float], measures: Sequence[str]) -> list[object]:
    return [title, row["n"], *(_points(row[measure]) for measure in measures)]


def _rejection(told: Mapping[str, Any]) -> Iterator[str]:
    rows = [[each["what"], each["answerable"], each["not"], f"{each['auc']:.3f}"] for each in told["auc"]]
    heads = ["confidence tells apart", "n answerable", "n not", "AUC (target .75)"]
    yield from _titled("Correct rejection", table(heads, rows))
    bins = [
        [f"{each['start']:.1f} to {each['end']:.1f}", each["n"], f"{each['confidence']:.2f}", f"{each['found']:.2f}"]
        for each in told["calibration"]
    ]
    yield from table(["confidence", "n", "mean confidence", "share with gold in the top 5"], bins)
    yield from ["", f"Expected calibration error {told['calibration_error']:.3f}.", ""]


def _ablation(told: Sequence[Mapping[str, Any]]) -> list[str]:
    parts = list(told[0]["without"])
    rows = [
        [named(each), each["n"], _points(each["value"]), *(f"{each['without'][part] * 100:+.1f}" for part in parts)]
        for each in told
    ]
    return table(["hybrid, %", "n", "with all", *(f"no {part}" for part in parts)], rows)


def _points(share: float) -> str:
    return f"{share * 100:.1f}"
