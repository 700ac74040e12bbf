"""Every scheduled job, in the order in which due ones run, and every skill. A new one is one import and one line."""

from typing import Final

from commonplace.upkeep.archive import JOB as ARCHIVE
from commonplace.upkeep.calendar import JOB as CALENDAR
from commonplace.upkeep.commitment_log import SKILL as COMMITMENT_LOG
from commonplace.upkeep.consolidate import CONSOLIDATE, DREAM
from commonplace.upkeep.curate import JOB as CURATE
from commonplace.upkeep.daily_reflection import SKILL as DAILY_REFLECTION
from commonplace.upkeep.describe import JOB as DESCRIBE
from commonplace.upkeep.digest import JOB as DIGEST
from commonplace.upkeep.heat import JOB as HEAT
from commonplace.upkeep.job import Job
from commonplace.upkeep.judge import JOB as JUDGE
from commonplace.upkeep.links import JOB as LINKS
from commonplace.upkeep.meeting_note import SKILL as MEETING_NOTE
from commonplace.upkeep.mend import JOB as MEND
from commonplace.upkeep.person_profile import SKILL as PERSON_PROFILE
from commonplace.upkeep.playbooks import JOB as PLAYBOOKS
from commonplace.upkeep.probe import JOB as PROBE
from commonplace.upkeep.retention import JOB as RETENTION
from commonplace.upkeep.skill import Skill, skill_job
from commonplace.upkeep.sleep import CHANNELS_JOB as SLEEP_CHANNELS
from commonplace.upkeep.sleep import JOB as SLEEP
from commonplace.upkeep.weekly_review import SKILL as WEEKLY_REVIEW

SKILLS: Final[tuple[Skill, ...]] = (DAILY_REFLECTION, WEEKLY_REVIEW, MEETING_NOTE, PERSON_PROFILE, COMMITMENT_LOG)
JOBS: Final[tuple[Job, ...]] = (
    CALENDAR,
    SLEEP,
    SLEEP_CHANNELS,
    CURATE,
    PLAYBOOKS,
    DREAM,
    JUDGE,
    DESCRIBE,
    CONSOLIDATE,
    HEAT,
    ARCHIVE,
    RETENTION,
    MEND,
    LINKS,
    PROBE,
    DIGEST,
    *map(skill_job, SKILLS),
)
