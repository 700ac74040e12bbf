"""The verbs on facts: add, about, list, count, entities, graph, named, doubts, relevant, timeline, end and more."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from commonplace.errors import UsageError
from commonplace.facts.validity import TimelineEvent
from commonplace.flows.ingest.sync import index_new_vault
from commonplace.flows.memory.amend import end_fact, forget
from commonplace.flows.memory.catalog import (
    EntityPage,
    FactFilter,
    FactPage,
    Graph,
    GraphNode,
    build_graph,
    count_facts,
    list_entities,
    list_facts,
)
from commonplace.flows.memory.facts import (
    EntityMatch,
    FactRequest,
    doubts_of,
    entity_links,
    fact_events,
    facts_about,
    facts_for_prompt,
    match_entity,
    timeline,
)
from commonplace.flows.memory.groups import in_groups
from commonplace.flows.stores import Session
from commonplace.index.base import Edge, FactCounts
from commonplace.memory.entries import Entries, start_of
from commonplace.model import EntryResult, FactSnapshot
from commonplace.model.layout import masked_path
from commonplace.model.moment import moment_text
from commonplace.model.progress import Progress, ignore_progress
from commonplace.model.request import Day, NewFact, takes
from commonplace.questions.time_arguments import parse_time

_MAX_HOPS: Final = 6
_CURRENT: Final = FactFilter(state="current")
_ACTIVE: Final = FactFilter(status="active")


class Facts:
    """What is known about people and things, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @takes(NewFact)
    def add(self, new: NewFact) -> EntryResult:
        """Save a triple; the arguments are those of `NewFact`.

        A single-valued predicate ends the previous value. Raises as `entries.save` does.
        """
        if not (new.subject.strip() and new.predicate.strip() and new.object.strip()):
            raise UsageError("a triple needs a subject, a predicate and an object", hint="Give all three.")
        return Entries(self._session).add(new.as_entry())

    def about(
        self,
        entity: str = "",
        *,
        topic: str = "",
        about: str = "",
        predicate: str = "",
        project: str = "",
        as_of: Day = "",
        known: Day = "",
        every: bool = False,
        limit: int | None = None,
        progress: Progress = ignore_progress,
    ) -> tuple[FactSnapshot, ...]:
        """Facts about an entity (by any of its names), on a topic, of a project, or all; the most important first.

        `about` is part of what an entry says it is about, or of when it matters.

        `entity` is understood as `named` says. Facts of which it is the subject or the object come first, then entries
        that mention it in their text, at most the 2,000 updated last. Without an entity, the 2,000 facts that were
        updated last are compared. Entries of which nobody has said how they relate stand together, the newest first.
        `as_of` asks what was true at the end of that day, as it is known now; `known` asks what was known at the end of
        that day, and both together what was known then about the day of `as_of`. A line of a note that was removed
        counts as true until then. `every` adds what no longer holds, or does not hold yet. `progress` counts the
        commits of the vault's history that are read for the first question about the past. Raises UsageError for an
        invalid day, and for a limit below 1.
        """
        if limit is not None and limit < 1:
            raise UsageError(f"limit must be at least 1, not {limit}", hint="Leave it out for no limit.")
        index_new_vault(self._session.stores)
        known_at = self._end_of(known)
        request = FactRequest(
            entity=entity.strip(),
            topic=topic.strip().lstrip("#"),
            cue=about.strip(),
            predicate=predicate,
            project=project.strip(),
            at=self._end_of(as_of) or known_at,
            known_at=known_at,
            every=every,
            limit=limit,
        )
        found = facts_about(request, self._session, progress=progress)
        return found if request.at or request.every else in_groups(found, self._session)

    def list(self, which: FactFilter = _CURRENT, *, limit: int = 50) -> FactPage:
        """A page of the facts that pass the filter, the last updated first; by default those that hold now.

        The filter's `before` is the `mark` of the page before. Raises UsageError.
        """
        return list_facts(which, self._session, limit=limit)

    def count(self, which: FactFilter = _ACTIVE) -> FactCounts:
        """How many facts pass the filter, by kind, trust and topic; its `state` and `before` do not count."""
        return count_facts(which, self._session)

    def entities(
        self, *, prefix: str = "", kind: str = "", by: str = "facts", offset: int = 0, limit: int = 50
    ) -> EntityPage:
        """People and things with how many facts and notes name them: by facts, by name, or the newest first.

        `prefix` begins their name or a word of it; `kind` is person, project or other. Raises UsageError.
        """
        return list_entities(self._session, prefix=prefix, kind=kind, by=by, offset=offset, limit=limit)

    def graph(
        self, *, folder: str = "", kinds: Sequence[str] = (), around: str = "", hops: int = 1, most: int = 10_000
    ) -> Graph:
        """Notes, entries and entities, and how they are linked: all, those in a folder, or those around an entity.

        `kinds` are note, entry and entity; `around` is a name or a path, with `hops` steps from it. At most `most`
        nodes, those with the most edges; `cut` says if there are more. Raises NotFound, UsageError.
        """
        if not 1 <= hops <= _MAX_HOPS:
            raise UsageError(f"hops must be from 1 to {_MAX_HOPS}, not {hops}", hint="Give fewer steps.")
        return build_graph(self._session, folder=folder, kinds=kinds, around=around, hops=hops, most=most)

    def named(self, entity: str) -> EntityMatch:
        """The known name that is meant by `entity`, such as `Marco Bianchi` by `Marco`; or names that are like it."""
        return match_entity(entity, self._session)

    def doubts(self, facts: Sequence[FactSnapshot]) -> Mapping[str, str]:
        """For each fact, by id, why one should ask before relying on it; empty if there is no reason."""
        return doubts_of(facts, self._session, below=self._session.stores.context.doubt_below)

    def relevant(self, prompt: str, *, limit: int | None = None) -> tuple[FactSnapshot, ...]:
        """The facts that belong before a prompt: about the person, and about whatever the prompt names.

        At most `limit`, by default the setting `facts.max_knowledge_facts`.
        """
        return tuple(each.snapshot for each in facts_for_prompt(prompt, self._session, limit=limit))

    def timeline(self, entity: str) -> tuple[TimelineEvent, ...]:
        """Events of the facts about an entity (began, confirmed, replaced, ended, forgotten), oldest first."""
        return timeline(entity, self._session)

    def events(self, id: str) -> tuple[TimelineEvent, ...]:
        """Events of one fact and its other versions, oldest first. Raises NotFound and UsageError."""
        return fact_events(id, self._session)

    def end(self, id: str, *, at: Day = "") -> EntryResult:
        """End a fact from that day on, or from now. Raises NotFound, Conflict, UsageError."""
        return end_fact(id, self._session, at=start_of(at, now=self._session.clock()))

    def forget(self, id: str, *, reason: str = "") -> EntryResult:
        """Stop recalling a fact; `entries.erase` removes it for good. Raises NotFound, Conflict, UsageError."""
        return forget(id, self._session, reason=reason)

    def links(self, entity: str, *, hops: int = 1) -> tuple[Edge, ...]:
        """The links around an entity, each with its relation, up to `hops` steps away. Raises NotFound, UsageError."""
        if not 1 <= hops <= _MAX_HOPS:
            raise UsageError(f"hops must be from 1 to {_MAX_HOPS}, not {hops}", hint="Give fewer steps.")
        edges, hidden = entity_links(entity, self._session, hops=hops), self._session.hidden_entries()
        if not hidden:
            return edges
        masked = (
            replace(each, source=masked_path(each.source, hidden), path=each.path and masked_path(each.path, hidden))
            for each in edges
        )
        return tuple(masked)

    def _end_of(self, day: Day) -> str:
        """The last second of a day, or the moment itself, as text in UTC; empty for no day. Raises UsageError."""
        now = self._session.clock()
        if isinstance(day, datetime):
            return start_of(day, now=now)
        if not day.strip():
            return ""
        end = parse_time(day, now=now, zone=UTC)[1]
        return moment_text(datetime.fromisoformat(end) - timedelta(seconds=1))


__all__ = ["EntityMatch", "FactFilter", "Facts", "GraphNode", "TimelineEvent"]
