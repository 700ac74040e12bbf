"""The public verbs, one noun each: what the CLI, the servers and every program call.

    notes          read, list, links, write, delete, move, undo, erase, history, log, latest, changes, change
    entries        save, settle, neighbours, evolve, confirm, forget, load, erase, show, recall; lint
    facts          add, about, list, count, entities, graph, named, doubts, relevant, timeline, events, end, forget,
                   links
    commitments    list, close: who has to do what by when
    reviews        count, propose, list, show, approve, edit, reject: what waits for the person
    profiles       show, edit, append, remove, replace, log: USER.md and CHANNEL.md by operations
    search         search
    context        the context of a prompt or a session; topics and styles
    conversations  record, add, capture, list, show, close, use, erase
    tasks          record, list, show, erase: tasks and their results; corrections has the same verbs
    digests        read: what programs did since the person last looked
    days           show: what happened on a day
    projects       state, write_plan, add_progress, set_feature: where the work of a project stands
    welcome        known, save: what the person tells about themselves at the beginning
    imports        run: exports and folders of other programs
    learning       run, learn, status, spending, log, extractions, retry; mark, unmark: facts from conversations
    calendars      list, events, sync, forget: the calendars that are mirrored
    jobs           list, show, due, run, run_due, log, notices: what runs on a schedule
    templates      list, show, base, run: notes that templates write
    index          sync, rebuild, watch, readiness, stats, problems, examine, evaluate
    shapes         the JSON of every answer; fact_shapes has that of facts and entries

Each noun is imported when it is first used, so that reading a note does not pay for search.
"""

from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from commonplace.model import Actor, Caller

if TYPE_CHECKING:
    from commonplace.flows.stores import Session
    from commonplace.memory.activity import Days, Digests
    from commonplace.memory.calendars import Calendars
    from commonplace.memory.commitments import Commitments
    from commonplace.memory.context import Contexts, Topics
    from commonplace.memory.conversations import Conversations
    from commonplace.memory.entries import Entries, Lint
    from commonplace.memory.facts import Facts
    from commonplace.memory.imports import Imports
    from commonplace.memory.index import IndexVerbs
    from commonplace.memory.jobs import Jobs
    from commonplace.memory.learning import Learning
    from commonplace.memory.notes import Notes
    from commonplace.memory.profiles import Profiles
    from commonplace.memory.projects import Projects
    from commonplace.memory.reviews import Reviews
    from commonplace.memory.search import Search
    from commonplace.memory.tasks import Corrections, Tasks
    from commonplace.memory.templates import Templates
    from commonplace.memory.welcome import Welcome
    from commonplace.upkeep.options import SkillsOptions, UpkeepOptions


class Memory:
    """One opened vault. Its verbs may be called from several threads.

    `acting` gives the same memory for another actor: one index, one history, closed together.
    """

    def __init__(
        self, session: "Session", upkeep: "UpkeepOptions | None" = None, skills: "SkillsOptions | None" = None
    ) -> None:
        self._session, self._upkeep, self._skills = session, upkeep, skills

    @cached_property
    def notes(self) -> "Notes":
        """The notes of the vault."""
        from commonplace.memory.notes import Notes

        return Notes(self._session)

    @cached_property
    def entries(self) -> "Entries":
        """The entries: one statement each."""
        from commonplace.memory.entries import Entries

        return Entries(self._session)

    @cached_property
    def facts(self) -> "Facts":
        """What is known about people and things."""
        from commonplace.memory.facts import Facts

        return Facts(self._session)

    @cached_property
    def commitments(self) -> "Commitments":
        """Who has to do what by when."""
        from commonplace.memory.commitments import Commitments

        return Commitments(self._session)

    @cached_property
    def reviews(self) -> "Reviews":
        """What waits for the person's approval."""
        from commonplace.memory.reviews import Reviews

        return Reviews(self._session)

    @cached_property
    def profiles(self) -> "Profiles":
        """The person's own USER.md, and the CHANNEL.md of each channel."""
        from commonplace.memory.profiles import Profiles

        return Profiles(self._session)

    @cached_property
    def topics(self) -> "Topics":
        """The topics of the memory, and the styles that the vault describes."""
        from commonplace.memory.context import Topics

        return Topics(self._session)

    @cached_property
    def lint(self) -> "Lint":
        """A check of all entries."""
        from commonplace.memory.entries import Lint

        return Lint(self._session)

    @cached_property
    def conversations(self) -> "Conversations":
        """The recorded conversations."""
        from commonplace.memory.conversations import Conversations

        return Conversations(self._session)

    @cached_property
    def tasks(self) -> "Tasks":
        """The tasks that were recorded, with their results."""
        from commonplace.memory.tasks import Tasks

        return Tasks(self._session)

    @cached_property
    def corrections(self) -> "Corrections":
        """What the person corrected."""
        from commonplace.memory.tasks import Corrections

        return Corrections(self._session)

    @cached_property
    def days(self) -> "Days":
        """What happened on a day."""
        from commonplace.memory.activity import Days

        return Days(self._session)

    @cached_property
    def digests(self) -> "Digests":
        """What programs did to the memory."""
        from commonplace.memory.activity import Digests

        return Digests(self._session)

    @cached_property
    def projects(self) -> "Projects":
        """Where the work of each project stands, as agents keep it between sessions."""
        from commonplace.memory.projects import Projects

        return Projects(self._session)

    @cached_property
    def imports(self) -> "Imports":
        """What other programs hold, read from their exports and folders."""
        from commonplace.memory.imports import Imports

        return Imports(self._session)

    @cached_property
    def learning(self) -> "Learning":
        """Learning from conversations and marked notes."""
        from commonplace.memory.learning import Learning

        return Learning(self._session)

    @cached_property
    def calendars(self) -> "Calendars":
        """The calendars, and their events."""
        from commonplace.memory.calendars import Calendars

        return Calendars(self._session)

    @cached_property
    def jobs(self) -> "Jobs":
        """The jobs that run on a schedule."""
        from commonplace.memory.jobs import Jobs

        return Jobs(self._session, self._upkeep, self._skills)

    @cached_property
    def templates(self) -> "Templates":
        """The templates of notes, and the skills that write by them."""
        from commonplace.memory.templates import Templates

        return Templates(self._session, self._upkeep, self._skills)

    @cached_property
    def search(self) -> "Search":
        """Search in notes and conversations."""
        from commonplace.memory.search import Search

        return Search(self._session)

    @cached_property
    def index(self) -> "IndexVerbs":
        """The index of the vault."""
        from commonplace.memory.index import IndexVerbs

        return IndexVerbs(self._session)

    @cached_property
    def context(self) -> "Contexts":
        """What to put before a prompt."""
        from commonplace.memory.context import Contexts

        return Contexts(self._session)

    @cached_property
    def welcome(self) -> "Welcome":
        """What the person tells about themselves at the beginning."""
        from commonplace.memory.welcome import Welcome

        return Welcome(self._session)

    def acting(self, actor: Actor) -> "Memory":
        """This memory for another actor."""
        return Memory(self._session.as_actor(actor), self._upkeep, self._skills)

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the history, and the index if it was opened."""
        self._session.stores.close()


MemoryFor = Callable[[Caller], Memory]
"""Gives the memory of the vault that a caller asks for. Raises NotFound if there is none."""
