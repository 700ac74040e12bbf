"""Every scheduled job, in the order in which due ones run. A new job is one import and one line."""

from typing import Final

from commonplace.upkeep.archive import JOB as ARCHIVE
from commonplace.upkeep.calendar import JOB as CALENDAR
from commonplace.upkeep.consolidate import CONSOLIDATE, DREAM
from commonplace.upkeep.curate import JOB as CURATE
from commonplace.upkeep.digest import JOB as DIGEST
from commonplace.upkeep.heat import JOB as HEAT
from commonplace.upkeep.job import Job
from commonplace.upkeep.links import JOB as LINKS
from commonplace.upkeep.mend import JOB as MEND
from commonplace.upkeep.playbooks import JOB as PLAYBOOKS
from commonplace.upkeep.probe import JOB as PROBE
from commonplace.upkeep.retention import JOB as RETENTION
from commonplace.upkeep.sleep import CHANNELS_JOB as SLEEP_CHANNELS
from commonplace.upkeep.sleep import JOB as SLEEP

JOBS: Final[tuple[Job, ...]] = (
    CALENDAR,
    SLEEP,
    SLEEP_CHANNELS,
    CURATE,
    PLAYBOOKS,
    DREAM,
    CONSOLIDATE,
    HEAT,
    ARCHIVE,
    RETENTION,
    MEND,
    LINKS,
    PROBE,
    DIGEST,
)
