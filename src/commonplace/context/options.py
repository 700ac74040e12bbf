"""Settings of contexts and of the hooks that put them before prompts, and the phases of work: what each recalls."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from commonplace.model import option

MIN_BUDGET: Final = 300
"""Characters that hold the introduction, the marks of a section and a line of text."""

NOTE_KIND: Final = "note"
"""Among the kinds of a phase, stands for every note that is not an entry."""

NotesMode = Literal["auto", "always", "asked", "off"]
"""When passages of notes and old conversations are recalled: if they are very near or the prompt asks for them, if they
fit at all, only if the prompt asks for them, or never."""

NOTES_MODES: Final[tuple[NotesMode, ...]] = get_args(NotesMode)

BRIEFING: Final = "briefing"
"""The phase for a briefing: its context does without user memory, facts and dated memories."""

DEFAULT_PHASES: Final = (
    "plan 4000 constraint decision idea insight crystallized domain-reference preference note",
    "work 4000 constraint workflow fix preference feedback domain-reference skill-pointer procedural note",
    "review 3000 constraint preference feedback decision workflow insight note",
    "debug 4000 constraint fix domain-reference insight workflow note",
    "documenter 4000 constraint decision domain-reference workflow crystallized insight preference skill-pointer note",
)


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase: its name, the most characters of recalled text, and the kinds it recalls."""

    name: str
    chars: int
    kinds: tuple[str, ...]


def parse_phase(line: str) -> Phase:
    """The phase in a line such as `plan 4000 decision note`. Raises ValueError for any other line."""
    words = line.casefold().split()
    if len(words) <= 2 or not words[1].isdecimal():
        raise ValueError(f"{line!r} is not a phase: write its name, a number of characters, and kinds")
    name, chars, *kinds = words
    return Phase(name, int(chars), tuple(kinds))


def find_phase(name: str, lines: Iterable[str]) -> Phase | None:
    """The phase with that name among the lines, or None."""
    return next((phase for phase in map(parse_phase, lines) if phase.name == name.casefold()), None)


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """The block `context`."""

    budget: int = option(
        9000,
        "The most characters put before a prompt.",
        at_least=MIN_BUDGET,
        once_called=("max_memory_chars",),
    )
    tokens: int = option(
        0, "The most tokens put before a prompt, by a conservative estimate; 0 limits characters only.", at_least=0
    )
    profile: int = option(
        3200,
        "The most characters of memories in the profile, which a session gets once; 0 gives none.",
        at_least=0,
        at_most=20_000,
    )
    recall: bool = option(True, "Whether entries and passages are recalled for a prompt.", once_called=("auto_recall",))
    notes: NotesMode = option(
        "auto",
        "When passages of notes and old conversations are recalled: `auto` if they are very near or the prompt asks "
        "for them, `always` if they fit at all, `asked` only if the prompt asks, `off` never.",
    )
    recalled: int = option(3, "The most passages recalled.", at_least=0, at_most=32)
    min_score: float = option(
        0.3,
        "Score below which a passage is not recalled, even if the prompt asks for notes.",
        at_least=0.0,
        at_most=1.0,
    )
    playbooks: int = option(2, "The most playbooks.", at_least=0, at_most=8)
    dated_days: int = option(
        3,
        "How many of the newest dated files under Agent/memories are put before a prompt.",
        at_least=0,
        at_most=31,
        once_called=("auto_load_dated_days",),
    )
    doubt_below: float = option(
        0.2, "Importance, after ageing, below which a fact is marked as unsure.", at_least=0.0, at_most=1.0
    )
    phases: tuple[str, ...] = option(
        DEFAULT_PHASES,
        "What a phase of work recalls: its name, the most characters of recalled text, and kinds of entries; "
        "`note` stands for every note that is not an entry.",
    )

    def __post_init__(self) -> None:
        for line in self.phases:
            parse_phase(line)


def parse_host_notes(line: str) -> tuple[str, str]:
    """The host and its use of notes in a line such as `codex off`. Raises ValueError for any other line."""
    host, _, mode = line.strip().casefold().partition(" ")
    if mode.strip() not in NOTES_MODES:
        modes = ", ".join(NOTES_MODES)
        raise ValueError(f"{line!r} is not a host and its use of notes: write its name and one of {modes}")
    return host, mode.strip()


@dataclass(frozen=True, slots=True)
class HookOptions:
    """The block `hooks`."""

    screen_line: bool = option(
        True, "Whether a host that can show a line to the person shows in one what was recalled, or that it was late."
    )
    reflect: bool = option(
        False,
        "Whether an agent whose person said something lasting is asked, once in a session, to look back before it "
        "stops and to save what is worth keeping. It costs one more answer, which a script that calls the agent reads "
        "as the last one. Where a model reads conversations (`llm`), nobody is asked.",
    )
    notes: tuple[str, ...] = option(
        (), "Hosts with a `context.notes` of their own: the name of the host and the value, such as `codex off`."
    )

    def __post_init__(self) -> None:
        for line in self.notes:
            parse_host_notes(line)

    def notes_for(self, host: str) -> str:
        """The host's own use of notes; empty if it has none. The last line about a host counts."""
        return dict(map(parse_host_notes, self.notes)).get(host, "")
