"""What a person may set about notes that templates write."""

from dataclasses import dataclass, field

from commonplace.model import option
from commonplace.policy.options import Autonomy


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """The block `skills.meeting_note.context_limits`."""

    prior_meetings: int = option(5, "Earlier meetings shown to the template.", at_least=0)
    recent_chats: int = option(5, "Recent conversations shown to the template.", at_least=0)
    open_tasks: int = option(5, "Open tasks shown to the template.", at_least=0)


@dataclass(frozen=True, slots=True)
class MeetingNoteOptions:
    """The block `skills.meeting_note`."""

    enabled: bool = option(True, "Whether a note is written when a meeting ends.")
    poll_interval_seconds: int = option(60, "How often ended meetings are looked for.", at_least=1)
    lookback_minutes: int = option(5, "How far back an ended meeting may lie.", at_least=1)
    autonomy_level: Autonomy = option("medium", "`low` writes to the Inbox; `medium` and `high` where it belongs.")
    context_limits: ContextLimits = field(default_factory=ContextLimits)


@dataclass(frozen=True, slots=True)
class SkillsOptions:
    """The block `skills`."""

    meeting_note: MeetingNoteOptions = field(default_factory=MeetingNoteOptions)
