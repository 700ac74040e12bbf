"""The settings blocks `upkeep` (the zone of all schedules, and a block for each job) and `skills`."""

from dataclasses import dataclass, field, fields
from datetime import tzinfo

from commonplace.model import option
from commonplace.model.conversation import FactsKept
from commonplace.model.template import Autonomy
from commonplace.upkeep.schedule import machine_zone, named_zone, parse_schedule


@dataclass(frozen=True, slots=True)
class JobOptions:
    """What every job has; a job with more options has a subclass of its own."""

    enabled: bool = option(True, "Run this job on its schedule.")
    schedule: str | None = option(
        None,
        "When it runs: cron (`30 3 * * *`: minute, hour, day, month, day of the week) in the zone `upkeep.zone`, or an "
        "interval (`every 6h`). `commonplace jobs list` shows the default.",
    )

    def __post_init__(self) -> None:
        if self.schedule is not None:
            parse_schedule(self.schedule)


@dataclass(frozen=True, slots=True)
class ProbeOptions(JobOptions):
    """The block `upkeep.probe`."""

    note_days: int = option(
        7,
        "Days between two probes that write and delete a real note, which leaves two commits in git; on other days the "
        "write is rehearsed without one.",
        at_least=1,
    )


@dataclass(frozen=True, slots=True)
class HeatOptions(JobOptions):
    """The block `upkeep.heat`."""

    window_days: int = option(30, "Days back in which use makes an entry hot.", at_least=1)
    promote_days: int = option(
        12, "Days of use within that time from which an entry is loaded before every prompt.", at_least=1
    )
    cold_days: int = option(
        180, "Days without any use after which an entry is no longer loaded before every prompt.", at_least=1
    )
    most: int = option(20, "The most entries that are loaded before every prompt by use.", at_least=0)


@dataclass(frozen=True, slots=True)
class ArchiveOptions(JobOptions):
    """The block `upkeep.archive`."""

    ended_days: int = option(90, "Days after its end, or its replacement, until an entry is archived.", at_least=0)
    covered_days: int = option(
        365, "Days without use after which an entry is archived that a consolidated one contains.", at_least=1
    )
    cold_days: int = option(
        1095, "Days without use or confirmation after which a program's entry may be cold.", at_least=30
    )
    relevance: float = option(0.05, "The importance below which such an entry is archived.", at_least=0)
    quiet_days: int = option(
        90, "Days without a change until it is proposed to archive a note of yours that is over.", at_least=0
    )


@dataclass(frozen=True, slots=True)
class SleepOptions(JobOptions):
    """The blocks `upkeep.sleep` and `upkeep.sleep_channels`."""

    retention_days: int = option(
        0,
        "Days after which dated notes are deleted, by the day in their name; 0 keeps them. Notes that you wrote in, "
        "and USER.md and CHANNEL.md, are never deleted.",
        at_least=0,
        once_called=("memory_retention_days",),
    )


@dataclass(frozen=True, slots=True)
class LinkOptions(JobOptions):
    """The block `upkeep.links`."""

    suggest: int = option(
        3, "Related notes that are suggested for a note without links, at most; 0 suggests none.", at_least=0
    )


@dataclass(frozen=True, slots=True)
class PlaybookOptions(JobOptions):
    """The block `upkeep.playbooks`."""

    days: int = option(
        180, "Days after which a playbook that nobody used, confirmed or changed is archived.", at_least=1
    )


@dataclass(frozen=True, slots=True)
class RetentionOptions(JobOptions):
    """The block `upkeep.retention`."""

    days: int = option(
        0, "Days after the last message until a conversation is forgotten everywhere; 0 keeps all.", at_least=0
    )
    sources: tuple[str, ...] = option(
        (), "Other days for single programs, such as `chatgpt=30`; `claude-code=0` keeps all of that program."
    )
    facts: FactsKept = option(
        "keep", "What was learned from a conversation stays, without its quotes (`keep`), or goes with it (`forget`)."
    )

    def __post_init__(self) -> None:
        JobOptions.__post_init__(self)
        self.days_by_source()

    def days_by_source(self) -> dict[str, int]:
        """The days of each program that has its own. Raises ValueError for a text that is no such rule."""
        found: dict[str, int] = {}
        for rule in self.sources:
            name, equals, days = rule.partition("=")
            if not (name.strip() and equals and days.strip().isdecimal()):
                raise ValueError(f"{rule!r} is not a program and its days", "Write it as chatgpt=30.")
            found[name.strip()] = int(days)
        return found


@dataclass(frozen=True, slots=True)
class UpkeepOptions:
    """The block `upkeep`."""

    enabled: bool = option(True, "Run the scheduled jobs, in the daemon and with `commonplace jobs run --due`.")
    zone: str | None = option(
        None, "The zone of all schedules by its IANA name, such as Europe/Berlin; by default that of this machine."
    )
    probe: ProbeOptions = field(default_factory=ProbeOptions)
    digest: JobOptions = field(default_factory=JobOptions)
    heat: HeatOptions = field(default_factory=HeatOptions)
    archive: ArchiveOptions = field(default_factory=ArchiveOptions)
    dream: JobOptions = field(default_factory=JobOptions)
    judge: JobOptions = field(default_factory=JobOptions)
    describe: JobOptions = field(default_factory=JobOptions)
    consolidate: JobOptions = field(default_factory=JobOptions)
    sleep: SleepOptions = field(default_factory=SleepOptions)
    sleep_channels: SleepOptions = field(default_factory=SleepOptions)
    curate: JobOptions = field(default_factory=JobOptions)
    links: LinkOptions = field(default_factory=LinkOptions)
    mend: JobOptions = field(default_factory=JobOptions)
    playbooks: PlaybookOptions = field(default_factory=PlaybookOptions)
    retention: RetentionOptions = field(default_factory=RetentionOptions)
    calendar: JobOptions = field(default_factory=JobOptions)

    def __post_init__(self) -> None:
        if self.zone is not None:
            named_zone(self.zone)

    def of(self, job: str) -> JobOptions:
        """The block of that job, with underscores for the dashes of its name; the defaults if it has none."""
        name = job.replace("-", "_")
        own = getattr(self, name) if name in {each.name for each in fields(self)} else None
        return own if isinstance(own, JobOptions) else JobOptions()


def zone_of(options: UpkeepOptions) -> tzinfo:
    """The person's zone: that of the settings, else of this machine."""
    return named_zone(options.zone) if options.zone else machine_zone()


@dataclass(frozen=True, slots=True)
class SkillOptions(JobOptions):
    """What every skill has: a job that writes notes by a template."""

    autonomy_level: Autonomy | None = option(
        None, "Where it writes: `low` only to the Inbox, else where the note belongs; by default `safety.autonomy`."
    )
    most_items: int = option(20, "The most lines of one section.", at_least=1, at_most=200)
    draft: bool = option(True, "Let the model of `llm.draft` write the summary, if there is one.")
    most_tokens: int = option(
        30_000,
        "The most tokens, read and written, of the one call for a note; beyond it the note has no summary.",
        at_least=0,
    )


@dataclass(frozen=True, slots=True)
class DailyOptions(SkillOptions):
    """The block `skills.daily_reflection`."""

    catch_up_days: int = option(3, "Past days that are written if they were missed.", at_least=1, at_most=31)


@dataclass(frozen=True, slots=True)
class MeetingOptions(SkillOptions):
    """The block `skills.meeting_note`."""

    lookback_minutes: int = option(
        5, "Minutes back in which an event may have ended that its calendar told late.", at_least=1, at_most=1440
    )
    least_attendees: int = option(1, "Attendees from which an event gets a note; 0 for every event.", at_least=0)
    vault_limit: int = option(5, "The most earlier meetings, and the most other notes, that it names.", at_least=0)
    chat_limit: int = option(5, "The most conversations that it names.", at_least=0)
    task_limit: int = option(5, "The most tasks that it names.", at_least=0)
    person_stubs: bool = option(
        True, "Create a short note in `People` for each attendee who has no note; what exists is never touched."
    )


@dataclass(frozen=True, slots=True)
class ProfileOptions(SkillOptions):
    """The block `skills.person_profile`."""

    most_notes: int = option(10, "The most meetings, and the most other notes, that it names.", at_least=1, at_most=50)
    most_proposals: int = option(
        3, "Notes of yours to which sections are proposed in one night, each note once; 0 proposes none.", at_least=0
    )


@dataclass(frozen=True, slots=True)
class CommitmentLogOptions(SkillOptions):
    """The block `skills.commitment_log`."""

    closed_days: int = option(14, "Days for which closed commitments are shown.", at_least=0, at_most=365)


@dataclass(frozen=True, slots=True)
class SkillsOptions:
    """The block `skills`: the vault's templates, and a block for each skill."""

    templates_dir: str | None = option(
        None,
        "The vault's folder of templates, which replace the packaged ones of the same name; by default "
        "`Templates/commonplace`, if it exists.",
    )
    daily_reflection: DailyOptions = field(default_factory=DailyOptions)
    weekly_review: SkillOptions = field(default_factory=SkillOptions)
    meeting_note: MeetingOptions = field(default_factory=MeetingOptions)
    person_profile: ProfileOptions = field(default_factory=ProfileOptions)
    commitment_log: CommitmentLogOptions = field(default_factory=CommitmentLogOptions)

    def of(self, name: str) -> SkillOptions | None:
        """The block of that skill; None if there is no such skill."""
        own = getattr(self, name, None) if name in {each.name for each in fields(self)} else None
        return own if isinstance(own, SkillOptions) else None
