"""Settings of learning. None of them may be set from inside a vault."""

from dataclasses import dataclass

from commonplace.model import option


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """The settings block `learn`."""

    enabled: bool = option(True, "Whether the daemon learns facts from conversations and from marked notes.")
    silent_minutes: int = option(
        10, "Minutes without a message after which a conversation that was not closed is read.", at_least=0
    )
    max_per_run: int = option(20, "The most conversations and notes that the daemon reads in one go.", at_least=1)
    max_per_day: int = option(500, "The most conversations and notes that the daemon reads in a day (UTC).", at_least=0)
    max_facts: int = option(12, "The most facts that are learned from one conversation.", at_least=0)
    importance_floor: float = option(
        0.3, "Facts that a model calls less important are not learned.", at_least=0, at_most=1
    )
