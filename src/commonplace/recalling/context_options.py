"""What a person may set about the context of a prompt."""

from dataclasses import dataclass
from typing import Final

from commonplace.model import option
from commonplace.recalling.phases import PHASES, phase_of

LEAST_BUDGET: Final = 300
"""Characters in which the line above, the marks of a section and a line of text find room."""


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """The block `context`."""

    budget: int = option(
        9000,
        "Characters that are put before a prompt, at most.",
        at_least=LEAST_BUDGET,
        once_called=("max_memory_chars",),
    )
    tokens: int = option(0, "The same in tokens, by a careful estimate; 0 counts characters alone.", at_least=0)
    recall: bool = option(
        True, "Whether what the vault says about a prompt is put before it.", once_called=("auto_recall",)
    )
    recalled: int = option(6, "The most passages that are recalled.", at_least=0, at_most=32)
    min_score: float = option(
        0.3, "Score below which a passage is too far from a prompt to be recalled.", at_least=0.0, at_most=1.0
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
        0.2, "Importance, aged, below which a fact is marked as unsure.", at_least=0.0, at_most=1.0
    )
    phases: tuple[str, ...] = option(
        PHASES,
        "What a phase of work recalls: its name, the most characters of recalled text, and kinds of entries; "
        "`note` stands for all that is no entry.",
    )

    def __post_init__(self) -> None:
        for line in self.phases:
            phase_of(line)
