"""The notes in which an agent keeps the state of a project: `plan.md`, `progress.md` and `features.md`.

A line of progress stands below the heading of its day: `- 09:12 work (end): the parser reads frontmatter`. A feature is
a task of Obsidian, `- [x] Parser (reads frontmatter)`, with one of five marks. Editing one adds or replaces one line;
every other byte of the note stays, so that a person may write between the lines.
"""

import re
from collections.abc import Mapping
from typing import Final

from commonplace.model.project_state import Feature, FeatureStatus, ProgressEntry, ProjectState
from commonplace.model.text import counted, fold_phrase
from commonplace.notes.note_text import strip_markup

_MARKS: Final[Mapping[FeatureStatus, str]] = {"todo": " ", "doing": "/", "blocked": "!", "done": "x", "dropped": "-"}
_STATUSES: Final[Mapping[str, FeatureStatus]] = {mark: status for status, mark in _MARKS.items()} | {"X": "done"}
_FEATURE: Final = re.compile(r"^[ \t]*[-*+] \[(?P<mark>[^\[\]\n])\] (?P<text>[^\r\n]+)", re.MULTILINE)
_REMARK: Final = re.compile(r"(?P<name>.*\S) \((?P<remark>[^()]+)\)")
_DAY: Final = re.compile(r"^## (?P<day>\d{4}-\d{2}-\d{2})[ \t]*\r?$", re.MULTILINE | re.ASCII)
_PROGRESS: Final = re.compile(
    r"^- (?P<time>\d{2}:\d{2})(?: (?P<phase>[\w.-]+))?(?P<end> \(end\))?: (?P<text>[^\r\n]+)", re.MULTILINE | re.ASCII
)
_BLOCK_ID: Final = re.compile(r"\s\^[cxt]-[0-9a-f]+\Z")  # of the conversation that the line quotes
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(?P<text>[^\r\n]+)", re.MULTILINE)
_OPEN: Final = re.compile(r"^[ \t]*[-*+] \[[ /]\] (?P<text>[^\r\n]+)", re.MULTILINE)
_NAMED: Final = 3  # features that a line names
_OWN_TITLES: Final = frozenset({"plan", "the plan"})


def parse_features(body: str) -> tuple[Feature, ...]:
    """The features in the order written; a mark that is none of ours counts as `todo`."""
    return tuple(_feature(match) for match in _FEATURE.finditer(body))


def _feature(match: re.Match[str]) -> Feature:
    text = match["text"].strip()
    parts = _REMARK.fullmatch(text)
    name, remark = (parts["name"], parts["remark"]) if parts else (text, "")
    return Feature(name, _STATUSES.get(match["mark"], "todo"), remark)


def with_feature(text: str, feature: Feature) -> str:
    """The note with this feature: its line replaced, or added after the last one.

    Two names are one if they differ only in case and blanks. Without a new remark the old one stays.
    """
    wanted, last = fold_phrase(feature.name), None
    for last in _FEATURE.finditer(text):
        old = _feature(last)
        if fold_phrase(old.name) == wanted:
            start, end = last.span("mark")[0], last.end()
            return f"{text[:start]}{_marked(feature, remark=feature.remark or old.remark)}{text[end:]}"
    line = f"- [{_marked(feature, remark=feature.remark)}"
    return f"{text[: last.end()]}{_line_end(text)}{line}{text[last.end() :]}" if last else _appended(text, line)


def _marked(feature: Feature, *, remark: str) -> str:
    """The feature's line from its mark on."""
    return f"{_MARKS[feature.status]}] {feature.name}" + (f" ({remark})" if remark else "")


def parse_progress(body: str) -> tuple[ProgressEntry, ...]:
    """The lines of progress below the headings of their days, in the order written."""
    days = [(match.start(), match["day"]) for match in _DAY.finditer(body)]
    lines = []
    for match in _PROGRESS.finditer(body):
        day = next((day for start, day in reversed(days) if start < match.start()), "")
        text = _BLOCK_ID.sub("", match["text"].strip())
        lines.append(ProgressEntry(day, match["time"], text, match["phase"] or "", bool(match["end"])))
    return tuple(line for line in lines if line.day)


def with_progress(text: str, line: ProgressEntry) -> str:
    """The note with one more line at its end, below the heading of its day; the same note if its last line says so."""
    lines = parse_progress(text)
    last = lines[-1] if lines else None
    if last and (last.day, last.text, last.phase) == (line.day, line.text, line.phase):
        return text
    days = [*_DAY.finditer(text)]
    head = "" if days and days[-1]["day"] == line.day else f"## {line.day}{_line_end(text) * 2}"
    phase = f" {line.phase}" if line.phase else ""
    end = " (end)" if line.ends_phase else ""
    return _appended(text, f"{head}- {line.time}{phase}{end}: {line.text}", is_apart=bool(head))


def _appended(text: str, line: str, *, is_apart: bool = False) -> str:
    """The text with a line at its end, after an empty one if it `is_apart` or follows a heading."""
    end = _line_end(text)
    rest = text.rstrip("\r\n")
    follows_heading = bool(_HEADING.match(rest.rpartition("\n")[2]))
    gap = end * (2 if rest and (is_apart or follows_heading) else 1)
    return f"{rest}{gap if rest else ''}{line}{end}"


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def state_lines(state: ProjectState) -> tuple[str, ...]:
    """Where the work stands, in at most three lines: the plan and its next step, the last progress, the features."""
    return tuple(filter(None, (_plan_line(state), _progress_line(state), _features_line(state))))


def _plan_line(state: ProjectState) -> str:
    if not state.plan.strip():
        return ""
    headings = (strip_markup(match["text"]) for match in _HEADING.finditer(state.plan))
    title = next((each for each in headings if each.casefold() not in _OWN_TITLES), "")
    lines = (line.strip() for line in state.plan.splitlines() if not _HEADING.match(line))
    first = next(filter(None, lines), "").removeprefix("- ").removeprefix("[x] ")
    step = _OPEN.search(state.plan)
    said = f'Plan of {state.project}: "{title or first}"'
    return f'{said}; next step: "{step["text"].strip()}"' if step else said


def _progress_line(state: ProjectState) -> str:
    if not state.progress:
        return ""
    last = state.progress[-1]
    phase = f", {'end of ' if last.ends_phase else ''}{last.phase}" if last.phase else ""
    return f'Last progress ({last.day} {last.time} UTC{phase}): "{last.text}"'


def _features_line(state: ProjectState) -> str:
    counted_in = [each for each in state.features if each.status != "dropped"]
    if not counted_in:
        return ""
    done = sum(each.status == "done" for each in counted_in)
    parts = [f"Features: {done} of {len(counted_in)} done"]
    for status, word in (("doing", "in progress"), ("blocked", "blocked")):
        names = [each.name for each in counted_in if each.status == status]
        more = f" and {counted(len(names) - _NAMED, 'other')}" if len(names) > _NAMED else ""
        parts += [f"{word}: {', '.join(f'{name!r}' for name in names[:_NAMED])}{more}"] if names else []
    return "; ".join(parts)
