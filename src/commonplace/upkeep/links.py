"""The job `links`: links that broke when a note was renamed elsewhere are repaired, and related notes are suggested.

In the agent's own notes a repair is written, in one commit for each note; in a person's note it is proposed, one
proposal for each note. A link that could mean several notes is left alone. Suggestions are for notes without any link:
notes that are near in meaning, above the noise of the vault, and share a name, a tag or a topic. An entry of the agent
gets them as its property `related`; for a person's note they are proposed as a line `Related:`, few at a time, and
never again once the person rejected that for the note.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final

from commonplace.facts.entry_format import is_entry
from commonplace.flows.context.passages import noise_level
from commonplace.flows.ingest.sync import sync
from commonplace.flows.notes.link_repair import NoteRepair, links_text, may_write, survey_links, write_repair
from commonplace.flows.notes.proposals import is_kind_rejected, is_rejected, proposals, propose, withdraw_proposal
from commonplace.flows.notes.write import Edit, Permit, Reader, change, change_result, parse_existing
from commonplace.flows.read import is_hidden, list_notes, locate, read_all
from commonplace.flows.search.search import SearchQuery, search
from commonplace.model import Filters, Hit, Note, Terms
from commonplace.model.layout import (
    CHANNELS,
    DATED_NOTES,
    DIGESTS,
    INDEX_NOTE,
    PROBE_NOTE,
    is_below,
    is_entry_path,
    is_profile,
    is_standing,
    place_of,
)
from commonplace.model.note import Stat
from commonplace.model.proposal import Proposal, ProposalResult
from commonplace.model.template import WRITTEN_BY
from commonplace.model.text import fold_name
from commonplace.notes import set_key
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult

_MOST_PROPOSED: Final = 5  # suggestions for a person's notes that wait at once: a queue of hundreds is read by nobody
_MOST_ENTRIES: Final = 20  # entries that get suggestions in one run
_MOST_NEW: Final = 200  # new notes that are looked at in one run; each is a search
_AGAIN: Final = 10  # others that are looked at once more, in turn: what is related to them may have been written since
_SHORTEST: Final = 80  # characters of a note about which something can be said
_QUERY: Final = 600  # characters of a note that are searched for
_HITS: Final = 12
_WORD: Final = re.compile(r"[^\W\d_][\w'-]{2,}")


def plan(run: JobRun) -> Plan:
    """Repair or propose what is known, withdraw proposals that no longer apply, and suggest related notes."""
    sync(run.session.stores)
    survey = survey_links(run.session)
    repairs = [repair for repair in survey.repairs if repair.after is not None]
    steps = [_repair_step(each) for each in repairs if each.is_ours]
    steps += [_proposal_step(each) for each in repairs if not each.is_ours and not _is_known(each, run)]
    steps += _withdrawals(repairs, run)
    suggestions, state = _suggestions(run)
    said = f"{survey.left} links lead nowhere, and no rename explains them." if survey.left else ""
    return Plan(steps=(*steps, *suggestions), state=state, said=said)


def apply(step: Step, run: JobRun) -> StepResult:
    """Do one step, after another look at the note."""
    if step.action == "withdraw":
        return _withdraw(step, run)
    if step.action == "suggest":
        return _suggest(step, run)
    found = survey_links(run.session, only=(step.subject,)).repairs
    repair = next((each for each in found if each.path == step.subject), None)
    if repair is None or repair.after is None:
        return StepResult(step=step, outcome="unchanged", reason="No link of the note needs a repair any more.")
    if repair.is_ours:
        changed = write_repair(repair, run.session)
        return StepResult(step=step, outcome="done" if changed.changed else "unchanged", commit=changed.commit or "")
    return _proposed(step, propose(repair.path, run.session, why=_why(repair), text=repair.after))


def _repair_step(repair: NoteRepair) -> Step:
    said = f"Repair links in {repair.path}: {links_text(repair.links)}."
    return Step(action="repair", subject=repair.path, said=said)


def _proposal_step(repair: NoteRepair) -> Step:
    said = f"Propose to repair links in {repair.path}: {links_text(repair.links)}."
    return Step(action="propose", subject=repair.path, said=said)


def _why(repair: NoteRepair) -> str:
    return f"The notes were renamed: {links_text(repair.links)}."


def _is_known(repair: NoteRepair, run: JobRun) -> bool:
    """True if the person rejected this repair, or it waits already."""
    session, after = run.session, repair.after or b""
    if is_rejected(repair.path, session, before=repair.before, text=after):
        return True
    return (
        any(each.target == repair.path for each in _own(run))
        and not propose(repair.path, session, why=_why(repair), text=after, dry_run=True).changed
    )


def _withdrawals(repairs: Sequence[NoteRepair], run: JobRun) -> list[Step]:
    """Our proposals of repairs whose note needs none any more."""
    needed, steps = {each.path for each in repairs}, []
    for each in _own(run):
        if each.target not in needed and _RELATED not in each.difference:
            said = f"Withdraw the proposal {each.id}: the links of {each.target} need no repair any more."
            steps.append(Step(action="withdraw", subject=each.target, said=said, values={"id": each.id}))
    return steps


def _withdraw(step: Step, run: JobRun) -> StepResult:
    proposal = next((each for each in _own(run) if each.id == step.values["id"]), None)
    if proposal is None:
        return StepResult(step=step, outcome="unchanged", reason="It does not wait any more.")
    withdrawn = withdraw_proposal(proposal, run.session)
    return StepResult(step=step, outcome="done", commit=withdrawn.commit or "")


def _own(run: JobRun) -> tuple[Proposal, ...]:
    return proposals(run.session.stores, by=run.session.actor.origin)


def _proposed(step: Step, result: ProposalResult) -> StepResult:
    if not result.changed:
        return StepResult(step=step, outcome="unchanged", reason=" ".join(result.remarks))
    return StepResult(step=step, outcome="proposed", commit=result.commit or "", review=result.proposal.id)


# ---------------------------------------------------------------- related notes


def _suggestions(run: JobRun) -> tuple[list[Step], dict[str, Any] | None]:
    """A step for each note without links for which related notes are found, within the caps, and the cursors after it.

    Entries of the agent and notes of the person have a cap and a cursor each.
    """
    if not run.options.links.suggest or run.stops():
        return [], None
    steps, state = list[Step](), dict[str, Any]()
    stats, noise = _without_links(run), noise_level(run.session.stores)
    waiting = [each for each in _own(run) if _RELATED in each.difference]
    caps = {"entries": _MOST_ENTRIES, "notes": _MOST_PROPOSED - len(waiting)}
    for name, cap in caps.items():
        turn = _Turn.of(
            [stat for stat in stats if is_entry_path(stat.path) is (name == "entries")], run.state.get(name)
        )
        found = list[Step]()
        for stat in turn:
            if len(found) >= cap or run.stops():
                break
            found += _suggestion(stat, run, noise=noise)
            turn.advance(stat)
        steps += found
        state[name] = turn.state
    return steps, state


@dataclass(slots=True)
class _Turn:
    """The notes to look at in a run: those that are new or changed since the last one, then a few others in turn.

    `seen` are the time and the path of the last new one that was looked at, `after` is the path of the last other.
    """

    new: list[Stat]
    again: list[Stat]
    seen: tuple[Any, ...]
    after: str

    @classmethod
    def of(cls, stats: Sequence[Stat], state: object) -> "_Turn":
        """The turn of these notes after what an earlier run kept."""
        kept = state if isinstance(state, Mapping) else {}
        seen, after = tuple(kept.get("seen") or ()), str(kept.get("after") or "")
        ordered = sorted((stat.mtime, stat.path, stat) for stat in stats)
        new = [stat for mtime, path, stat in ordered if (mtime, path) > seen][:_MOST_NEW]
        others = sorted((stat for stat in stats if (stat.mtime, stat.path) <= seen), key=lambda each: each.path)
        again = [stat for stat in others if stat.path > after][:_AGAIN]
        return cls(new, again, seen, after if len(again) == _AGAIN else "")

    def __iter__(self) -> Iterator[Stat]:
        return iter((*self.new, *self.again))

    def advance(self, stat: Stat) -> None:
        """Note that this one was looked at."""
        if (stat.mtime, stat.path) > self.seen:
            self.seen = (stat.mtime, stat.path)
        elif len(self.again) == _AGAIN:
            self.after = stat.path

    @property
    def state(self) -> dict[str, Any]:
        """What the next run needs."""
        return {"seen": [*self.seen], "after": self.after}


def _suggestion(stat: Stat, run: JobRun, *, noise: float) -> Iterator[Step]:
    """A step for the note, if related notes are found for it and none was proposed yet."""
    note, session = next(iter(read_all(run.session.stores.vault, [stat]))), run.session
    if not isinstance(note, Note) or note.links or note.problems or len(note.body.strip()) < _SHORTEST:
        return
    is_ours = is_entry(note)
    if is_hidden(note, session.stores) or WRITTEN_BY in note.frontmatter or (is_ours and not may_write(note, session)):
        return
    is_known = any(each.target == note.path for each in _own(run)) or is_kind_rejected(note.path, _ABOUT, session)
    if not is_ours and is_known:
        return
    if paths := _related(note, run, noise=noise)[: run.options.links.suggest]:
        said = f"{'Add' if is_ours else 'Propose'} related notes in {note.path}: {', '.join(paths)}."
        yield Step(action="suggest", subject=note.path, said=said, values={"paths": paths})


def _without_links(run: JobRun) -> list[Stat]:
    """Notes that no link leads to or from: entries of the agent, and plain notes of the person."""
    stores = run.session.stores
    with stores.index.reader() as reader:
        edges = reader.edges()
    linked = {path for edge in edges for path in (edge.source, edge.path) if path}
    listed = list_notes("", stores.vault, skip=stores.ignored)
    return [stat for stat in listed if stat.path not in linked and _is_plain(stat.path)]


def _is_plain(path: str) -> bool:
    """False for notes that are set aside, written by jobs, or shown whole before every prompt."""
    name = fold_name(path.rpartition("/")[2])
    is_of_jobs = is_below(path, DATED_NOTES) or is_below(path, DIGESTS) or is_below(path, CHANNELS)
    is_out = place_of(path) or is_profile(path) or is_standing(path) or is_of_jobs
    return not (is_out or path == PROBE_NOTE or name == INDEX_NOTE)


def _related(note: Note, run: JobRun, *, noise: float) -> list[str]:
    """The paths of notes that are about the same, nearest first: above the noise, and with something in common."""
    stores = run.session.stores
    text = f"{'' if is_entry(note) else note.title} {note.body.strip()[:_QUERY]}"
    query = SearchQuery(
        text, k=_HITS, filters=Filters(sources=("vault",)), per_note=1, min_score=0.0, explain_empty=False
    )
    hits = search(query, stores, audience="prompt").hits
    ours, terms, paths = _traits(note), {word.casefold() for word in _WORD.findall(note.text)}, dict[str, None]()
    for hit in hits:
        if hit.path == note.path or hit.sensitive or hit.score < noise or not _is_plain(hit.path) or _is_written(hit):
            continue
        if is_entry_path(hit.path) and not is_entry(note):  # a person's note is not filled with links to our entries
            continue
        if ours & _hit_traits(hit) or _is_named(hit, terms):
            paths[hit.path] = None
    return [*paths]


def _traits(note: Note) -> set[str]:
    topics = note.frontmatter.get("topics") or ()
    words = (topics,) if isinstance(topics, str) else topics if isinstance(topics, list | tuple) else ()
    subject = note.frontmatter.get("subject") or ""
    return {str(each).casefold() for each in (*note.tags, *words, subject) if each}


def _hit_traits(hit: Hit) -> set[str]:
    keys = hit.metadata.get("frontmatter", {})
    values = [keys.get(name) for name in ("tags", "topics", "subject")]
    flat = (each for value in values for each in (value if isinstance(value, list | tuple) else (value,)))
    return {str(each).casefold().removeprefix("#") for each in flat if each}


def _is_written(hit: Hit) -> bool:
    """True for a note that a job fills from a template."""
    return WRITTEN_BY in hit.metadata.get("frontmatter", {})


def _is_named(hit: Hit, terms: Set[str]) -> bool:
    """True if the note says every word of the other's name, which is not an entry's."""
    words = {word.casefold() for word in _WORD.findall(hit.title)}
    return bool(words) and not is_entry_path(hit.path) and words <= terms


_RELATED: Final = "\n+Related: [["
_ABOUT: Final = "related"  # the kind of proposal that is not made again for a note after the person rejected one


def _with_related(note: Note, paths: Sequence[str]) -> bytes:
    """The person's note with a line of links at its end."""
    links = ", ".join(f"[[{path.removesuffix('.md')}]]" for path in paths)
    return f"{note.text.rstrip()}\n\nRelated: {links}\n".encode("utf-8", "surrogateescape")


def _suggest(step: Step, run: JobRun) -> StepResult:
    stores, paths = run.session.stores, [*step.values["paths"]]
    note = next(iter(read_all(stores.vault, [stores.vault.stat(locate(step.subject, stores.vault))])))
    if not isinstance(note, Note) or note.links:
        return StepResult(step=step, outcome="unchanged", reason="The note has links by now.")
    if is_entry(note):
        return _add_related(step, note, paths, run)
    why = f"The note has no links; these are about the same: {', '.join(paths)}."
    return _proposed(step, propose(note.path, run.session, why=why, text=_with_related(note, paths), about=_ABOUT))


def _add_related(step: Step, note: Note, paths: Sequence[str], run: JobRun) -> StepResult:
    """Add the property `related` to an entry of the agent; its text, which is the fact, stays."""
    session, at = run.session, locate(note.path, run.session.stores.vault)
    permit = Permit(session, Terms(why=step.said), "remember", at.path)
    links = [f"[[{path.removesuffix('.md')}]]" for path in paths]

    def plan_edit(read: Reader) -> tuple[Edit, ...]:
        there = read(at)
        permit.ask(there=parse_existing(there))
        return (Edit(at, there.content, set_key(there.content, "related", links, path=at.path)),)

    (edit,), result = change(plan_edit, [permit], path=at.path)
    changed = change_result(edit, permit, result)
    return StepResult(step=step, outcome="done" if changed.changed else "unchanged", commit=changed.commit or "")


JOB: Final = Job(
    name="links",
    about="Repairs links after notes were renamed elsewhere, and suggests related notes",
    schedule="15 4 * * *",
    plan=plan,
    apply=apply,
)
