"""The verbs on facts: add, about, timeline, invalidate, delete, links."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from commonplace.errors import UsageError
from commonplace.facts.timeline import Moment
from commonplace.flows.amend import forget, invalidate
from commonplace.flows.asked import Wanted
from commonplace.flows.keeper import Keeper
from commonplace.flows.known import facts_about, facts_for, links_of, timeline
from commonplace.index.base import Edge
from commonplace.memory.entries import Day, Entries, day_of
from commonplace.model import Held, Remembered
from commonplace.recalling.times import in_utc, moment

_MOST_HOPS = 6


class Facts:
    """What is known of people and things, for one actor."""

    def __init__(self, keeper: Keeper, entries: Entries) -> None:
        self._keeper, self._entries = keeper, entries

    def add(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        text: str = "",
        kind: str = "fact",
        fact: str = "",
        topics: Sequence[str] = (),
        importance: float | None = None,
        valid_from: Day = "",
        valid_until: Day = "",
        interface: str = "",
        conversation: str = "",
        dry_run: bool = False,
    ) -> Remembered:
        """Keep a triple; a predicate with one value at a time ends the value before. Raises as `entries.save` does."""
        if not (subject.strip() and predicate.strip() and object.strip()):
            raise UsageError("a triple has a subject, a predicate and an object", hint="Give all three.")
        return self._entries.save(
            text,
            kind=kind,
            fact=fact,
            subject=subject,
            predicate=predicate,
            object=object,
            topics=topics,
            importance=importance,
            valid_from=valid_from,
            valid_until=valid_until,
            interface=interface,
            conversation=conversation,
            dry_run=dry_run,
        )

    def about(
        self,
        entity: str = "",
        *,
        topic: str = "",
        predicate: str = "",
        as_of: Day = "",
        known: Day = "",
        every: bool = False,
        lines: bool = True,
        limit: int | None = None,
    ) -> tuple[Held, ...]:
        """What is known of an entity, by any of its names, or of a topic, or at all; the most important first.

        `as_of` is the day on which it held, and `known` the day on which that was known: the same, where it is not
        given; `now` for what is known today of that day. `every` adds what holds no longer, or not yet.
        Facts from lines of notes are those that stood there on the day on which it was known; git is asked for them,
        unless `lines` is False. Raises UsageError for what is no day, and for a limit below one.
        """
        if limit is not None and limit < 1:
            raise UsageError(f"a limit of {limit} is none", hint="Give 1 or more, or leave it out.")
        at = self._end_of(as_of)
        known_at = "" if known == "now" else (self._end_of(known) or at)
        wanted = Wanted(
            entity=entity.strip(),
            topic=topic.strip().lstrip("#"),
            predicate=predicate,
            at=at,
            known_at=known_at,
            every=every,
            limit=limit,
            lines=lines,
        )
        return facts_about(wanted, self._keeper)

    def relevant(self, prompt: str, *, limit: int | None = None) -> tuple[Held, ...]:
        """The facts that belong before a prompt: who the person is, and whatever the prompt names; at most so many,
        or as the setting `facts.max_knowledge_facts` says."""
        return tuple(each.held for each in facts_for(prompt, self._keeper, most=limit))

    def timeline(self, entity: str) -> tuple[Moment, ...]:
        """What began, was confirmed, replaced, ended or forgotten of all that is known of an entity, oldest first."""
        return timeline(entity, self._keeper)

    def invalidate(self, id: str, *, at: Day = "") -> Remembered:
        """Let a fact hold no longer from that day on, or from now. Raises NotFound, Conflict, UsageError."""
        return invalidate(id, self._keeper, at=day_of(at, now=self._keeper.desk.clock()))

    def delete(self, id: str, *, reason: str = "") -> Remembered:
        """Let nothing recall a fact any more; `entries.erase` removes it for good. Raises as `invalidate` does."""
        return forget(id, self._keeper, reason=reason)

    def links(self, entity: str, *, hops: int = 1) -> tuple[Edge, ...]:
        """The links around an entity, each with what it says, as far as so many steps lead. Raises NotFound."""
        if not 1 <= hops <= _MOST_HOPS:
            raise UsageError(f"{hops} steps are none to go", hint=f"Give from 1 to {_MOST_HOPS}.")
        return links_of(entity, self._keeper, hops=hops)

    def _end_of(self, when: Day) -> str:
        """The last second of a day, or the moment; empty where nothing is said."""
        if isinstance(when, datetime):
            return day_of(when, now=self._keeper.desk.clock())
        if not when.strip():
            return ""
        end = moment(when, now=self._keeper.desk.clock(), zone=UTC)[1]
        return in_utc(datetime.fromisoformat(end) - timedelta(seconds=1))
