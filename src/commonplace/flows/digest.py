"""What programs did since a moment -> a digest, each line with its command; the digest's note; what a session is told.

The lines come from the audit rows, so that no change of a program is missing, and from what jobs, learning and models
left in the history. A line names an entry by its kind and id: its words stay out of the digest's note, because an entry
that is erased must be gone from everywhere. A person's screen shows the words too, looked up at that moment.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from hashlib import blake2b
from typing import Any, Final

from commonplace.facts.entry_paths import id_digits
from commonplace.flows.memory.endings import waiting_endings
from commonplace.flows.memory.review import waiting_count
from commonplace.flows.notes.history import OPERATION, log_entries, undone_commits
from commonplace.flows.notes.proposals import proposals
from commonplace.flows.notes.write import Edit, Permit, Reader, change, change_result, commit_message, read_existing
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.history.base import AuditEntry
from commonplace.index.base import FactQuery
from commonplace.model import Changed, Fact, Terms
from commonplace.model.digest import DIGEST_GROUPS, Digest, DigestGroup, DigestLine, counts_text
from commonplace.model.fact import WaitingEntry
from commonplace.model.layout import (
    ARCHIVE_FOLDER,
    DIGESTS,
    PROBE_NOTE,
    entry_digits,
    folded_parts,
    is_below,
    is_entry_path,
    is_staged,
    wordless_name,
)
from commonplace.model.moment import long_day, moment_text, parse_moment
from commonplace.model.proposal import Proposal
from commonplace.model.text import counted
from commonplace.model.untrusted_text import line_of
from commonplace.model.upkeep import JobState, StepOutcome, StepResult
from commonplace.vault.base import Capability

JOB_NAME: Final = "digest"
READ_STATE: Final = "digest:read"
"""The name under which the history keeps how far the person has read digests on the terminal."""

ANNOUNCED_STATE: Final = "digest:announced"
"""The name under which the history keeps which digest a session was told of."""

_FIRST: Final = timedelta(days=7)  # how far the first digest looks back
_MOST_LINES: Final = 40  # of one group in a note; every T2 change is listed, however many there are
_LONGEST_WORDS: Final = 160
_ACTIONS: Final[Mapping[str, DigestGroup]] = {"archive": "archived", "forget": "archived", "retain": "archived"}
_TOLD_OUTCOMES: Final[Mapping[StepOutcome, DigestGroup]] = {"refused": "refused", "failed": "failing"}
_RECENT: Final = timedelta(hours=24)
_STANDING: Final = "parked "  # the beginning of keys that are told once, as long as they stand
_MOST_STANDING: Final = 5  # of which a state keeps that many
_TITLES: Final[Mapping[DigestGroup, str]] = {
    "learned": "Learned",
    "changed": "Changed",
    "archived": "Archived",
    "proposed": "Waiting for you",
    "refused": "Refused",
    "failing": "Failing",
    "spent": "Spent",
}


def gather_digest(session: Session, *, since: datetime | None = None, seen: Iterable[str] = ()) -> Digest:
    """What programs did since that moment, the oldest first in each group; `seen` are keys of lines to leave out.

    Without a moment it looks back some days. A person sees the words of entries, a program does not. Raises
    IndexDamaged and VaultUnavailable.
    """
    now = session.clock()
    start, known = since or now - _FIRST, {*seen}
    spent = [*_spent_lines(session, start)]
    lines = [*_change_lines(session, start), *_job_lines(session, start), *_learning_lines(session, start)]
    shown = [line for line in (*lines, *(line for line, _, _ in spent)) if line.key not in known]
    ordered = sorted(shown, key=lambda line: (DIGEST_GROUPS.index(line.group), line.at, line.key))
    return Digest(
        since=moment_text(start),
        until=moment_text(now),
        lines=tuple(ordered),
        waiting=waiting_count(session),
        tokens=sum(tokens for _, tokens, _ in spent),
        dollars=round(sum(dollars for _, _, dollars in spent), 6),
    )


def border_keys(digest: Digest) -> list[str]:
    """The keys of lines that the next digest leaves out: those of the last second, in which more may still happen, and
    what was told and stands."""
    return [line.key for line in digest.lines if line.at >= digest.until or line.key.startswith(_STANDING)]


# ---------------------------------------------------------------- changes


def _change_lines(session: Session, since: datetime) -> Iterator[DigestLine]:
    """A line for each commit of a program that stands, and one for all confirmations."""
    stores = session.stores
    has_history = Capability.HISTORY in stores.vault.capabilities
    if has_history:
        log_entries(stores, limit=1)  # restores rows that a crash has lost
    undone = undone_commits(stores) if has_history else frozenset()
    changes: defaultdict[str, list[AuditEntry]] = defaultdict(list)
    for row in stores.history.entries(since=since):
        if _is_told(row) and row.commit not in undone:
            changes[row.commit or row.mutation].append(row)
    facts = _facts_at({path for rows in changes.values() for row in rows for path in _paths(row)}, session)
    steps = {result.commit: result for result in _step_results(session, since) if result.commit}
    notes = {each.path: each for each in proposals(stores)}
    endings = {each.fact.id: each for each in waiting_endings(session)}
    confirmed, waiting = 0, set[str]()
    times = Counter(map(_rewritten, changes.values()))
    for key, rows in changes.items():  # the newest first
        name = _rewritten(rows)
        number = times.pop(name, 0) if name else 1
        if all(row.verb == "confirm" for row in rows):
            confirmed += 1
            continue
        line = _change_line(key, rows, session, facts=facts, notes=notes, endings=endings) if number else None
        if line and line.key not in waiting:
            waiting |= {line.key} if line.group == "proposed" else set()  # an older proposal that this one replaced
            line = _with_step(line, steps.get(key), session)
            yield replace(line, said=f"{line.said}, {number} times; the newest") if number > 1 else line
    if confirmed:
        said = f"{counted(confirmed, 'entry').replace('entrys', 'entries')} confirmed"
        key = f"confirmed {moment_text(since)}"
        yield DigestLine(group="learned", said=said, command="commonplace log", key=key, count=0)


def _rewritten(rows: Sequence[AuditEntry]) -> str:
    """The job and the path, if a job wrote this one note, as it does again and again; all its commits are one line."""
    row = rows[0]
    is_one = len(rows) == 1 and row.actor == "job" and row.verb == "write" and row.after is not None
    return f"{row.origin} {row.path}" if is_one and not (is_entry_path(row.path) or is_staged(row.path)) else ""


def _is_told(row: AuditEntry) -> bool:
    """False for what a person did, for digests and the self-probe, and for rows that only explain another one."""
    is_probe = row.actor == "job" and row.path == PROBE_NOTE
    return row.actor != "person" and row.verb != OPERATION and not is_probe and not is_below(row.path, DIGESTS)


def _paths(row: AuditEntry) -> tuple[str, ...]:
    return (row.path, row.destination) if row.destination else (row.path,)


def _facts_at(paths: Iterable[str], session: Session) -> dict[str, Fact]:
    """The entries at these paths that this actor may see, staged ones for a person alone."""
    names = tuple(sorted(path for path in paths if is_entry_path(path)))
    if not names:
        return {}
    sees = session.sees_sensitive
    with session.stores.index.reader() as reader:
        records = reader.facts(FactQuery(paths=names, origins=("entry",), sensitive=sees, staged=True))
    return {record.fact.path: record.fact for record in records}


def _change_line(
    key: str,
    rows: Sequence[AuditEntry],
    session: Session,
    *,
    facts: Mapping[str, Fact],
    notes: Mapping[str, Proposal],
    endings: Mapping[str, WaitingEntry],
) -> DigestLine | None:
    """The line of one commit; None for a proposal that does not wait any more. An ending that waits is a proposal."""
    new = [row for row in rows if row.before is None]
    staged = next((row for row in rows if is_staged(row.path)), None)
    if staged:
        return _proposal_line(staged, session, fact=facts.get(staged.path), proposal=notes.get(staged.path))
    group, said, row = _what(rows, new)
    fact = facts.get(row.destination or row.path)
    if fact and fact.id in endings:
        return _ending_line(endings[fact.id], row, session)
    undo = f"commonplace undo --commit {key[:12]}" if row.commit else "commonplace log"
    return DigestLine(
        group=group,
        said=f"{said} ({_by(row)})",
        command=undo,
        key=key,
        words=_words(fact.text, session) if fact else "",
        reason=_words(row.reason.partition(": ")[2], session) if row.verb == "curate" else "",
        at=moment_text(row.when),
    )


def _ending_line(waiting: WaitingEntry, row: AuditEntry, session: Session) -> DigestLine:
    fact = waiting.fact
    return DigestLine(
        group="proposed",
        said=f"{_name(fact.path)} would end {_names(each.path for each in waiting.against)} ({_by(row)})",
        command=f"commonplace review approve {id_digits(fact.id)}",
        key=f"waits {fact.path}",
        words=_words(fact.text, session),
        at=moment_text(row.when),
    )


def _what(rows: Sequence[AuditEntry], new: Sequence[AuditEntry]) -> tuple[DigestGroup, str, AuditEntry]:
    """The group of a change, what it did in words of our own, and the row that stands for it."""
    archived = [row for row in rows if row.destination and _is_archived(row.destination)]
    entries = [row for row in new if is_entry_path(row.path) and not _is_archived(row.path)]
    if len(rows) > len(entries) + len(archived) or not is_entry_path(rows[0].path):
        return _other_change(rows, archived)
    if entries:
        more = f", instead of {_names(row.destination or '' for row in archived)}" if archived else ""
        return "learned", f"{_names(row.path for row in entries)}{more}", entries[0]
    return "archived", _names(row.path for row in archived), archived[0]


def _other_change(rows: Sequence[AuditEntry], archived: Sequence[AuditEntry]) -> tuple[DigestGroup, str, AuditEntry]:
    row = next((each for each in rows if not is_entry_path(each.path)), rows[0])
    if row.verb == "forget":
        return "archived", f"forgot {_names([row.path])}", row
    if archived and len(archived) == len(rows):
        return "archived", _names(each.path for each in archived), row
    others = [each for each in rows if each not in archived]
    if archived and len(others) == 1 and is_entry_path(others[0].path) and others[0].verb == "remember":
        return "changed", f"{_name(others[0].path)} ended {_names(each.path for each in archived)}", others[0]
    deed = "wrote" if row.before is None else "deleted" if row.after is None else "changed"
    deed = {"move": "moved", "undo": "undid a change of"}.get(row.verb, deed)
    to = f" to {_name(row.destination)}" if row.destination and not is_entry_path(row.destination) else ""
    rest = f" and {counted(len(rows) - 1, 'other')}" if len(rows) > 1 else ""
    return "changed", f"{deed} {_name(row.path)}{to}{rest}", row


def _proposal_line(
    row: AuditEntry, session: Session, *, fact: Fact | None, proposal: Proposal | None
) -> DigestLine | None:
    """The line of what waits for the person: an entry, or a change of a note; None if it does not wait any more."""
    vault = session.stores.vault
    is_decided = fact is not None and (fact.status != "active" or fact.place != "staging")
    if is_decided or row.after is None or not vault.exists(locate(row.path, vault)):
        return None
    name = proposal.id if proposal else id_digits(fact.id) if fact else entry_digits(row.path)
    what = f"change of {_name(proposal.target)}" if proposal else f"{fact.kind or 'entry'} {name}" if fact else "entry"
    return DigestLine(
        group="proposed",
        said=f"{what} ({_by(row)})",
        command=f"commonplace review approve {name}" if name else "commonplace review",
        key=f"waits {row.path}",
        words=_words(fact.text, session) if fact and not proposal else "",
        reason=_words(proposal.why, session) if proposal else "",
        at=moment_text(row.when),
    )


def _is_archived(path: str) -> bool:
    return ARCHIVE_FOLDER in folded_parts(path)[:-1]


def _names(paths: Iterable[str]) -> str:
    return ", ".join(_name(path) for path in paths if path)


def _name(path: str) -> str:
    """What a line calls a note: an entry by its kind and id, others by their path, on one line."""
    return line_of(wordless_name(path)).replace("`", "'")


def _by(row: AuditEntry) -> str:
    return line_of(row.origin).replace("`", "'") or row.actor


def _words(text: str, session: Session) -> str:
    """The words for a person's screen, on one line and without secrets; none for a program."""
    if not session.sees_sensitive or not text:
        return ""
    from commonplace.screening.secrets import redact  # its expressions are compiled at first use

    (line,) = redact([line_of(text[: 4 * _LONGEST_WORDS])])
    return line if len(line) <= _LONGEST_WORDS else f"{line[:_LONGEST_WORDS].rpartition(' ')[0] or line[:80]} ..."


# ---------------------------------------------------------------- jobs, learning, spending


def _step_results(session: Session, since: datetime) -> Iterator[StepResult]:
    for run in reversed(session.stores.history.job_runs(since=since - _RECENT)):  # it may have begun before
        yield from run.steps if run.job != JOB_NAME else ()


def _with_step(line: DigestLine, result: StepResult | None, session: Session) -> DigestLine:
    """The line with what the job said about it."""
    if result is None:
        return line
    group = line.group if line.group == "proposed" else _ACTIONS.get(result.step.action, line.group)
    return replace(line, group=group, reason=_words(result.step.said, session))


def _job_lines(session: Session, since: datetime) -> Iterator[DigestLine]:
    """What jobs may not do, steps that failed, and notices that were raised since."""
    for run in session.stores.history.job_runs(since=since):
        for outcome, group in _TOLD_OUTCOMES.items():
            results = [each for each in run.steps if each.outcome == outcome]
            if results:
                yield DigestLine(
                    group=group,
                    said=f"{counted(len(results), 'step')} of {run.job} {outcome}",
                    command=f"commonplace jobs log {run.job}",
                    key=f"{run.job} {run.number} {outcome}",
                    reason=_words(results[0].reason, session),
                    count=len(results),
                    at=run.began,
                )
    for notice in session.stores.history.job_notices():
        if notice.at >= moment_text(since):
            yield DigestLine(
                group="failing",
                said=f"notice about {line_of(notice.key)}",
                command="commonplace jobs list",
                key=f"notice {notice.key} {notice.at}",
                reason=_words(notice.said, session),
                at=notice.at,
            )


def _learning_lines(session: Session, since: datetime) -> Iterator[DigestLine]:
    """Statements that were refused or not kept, by their number; sources that learning gave up."""
    start = moment_text(since)
    items = session.stores.history.learned_items(since=since)
    outcomes = Counter[str](item.outcome for item in items)
    for outcome, verb in (("refused", "were refused"), ("rejected", "were not worth keeping")):
        if number := outcomes[outcome]:
            verb = verb.replace("were", "was") if number == 1 else verb
            yield DigestLine(
                group="refused",
                said=f"{counted(number, 'statement')} {verb}",
                command=f"commonplace learn log --outcome {outcome}",
                key=f"{outcome} {start}",
                count=number if outcome == "refused" else 0,
            )
    parked = [each for each in session.stores.history.learning_states().values() if each.is_parked]
    if parked:
        said = f"{counted(len(parked), 'source')} could not be learned from"
        names = "\n".join(sorted(each.source for each in parked))
        key = f"{_STANDING}{blake2b(names.encode(errors='replace'), digest_size=8).hexdigest()}"
        yield DigestLine(group="failing", said=said, command="commonplace learn --retry", key=key, count=len(parked))


def _spent_lines(session: Session, since: datetime) -> Iterator[tuple[DigestLine, int, float]]:
    """A line for each language model, with its tokens and dollars."""
    models: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for call in session.stores.history.calls(since=since):
        if call.tokens or call.cost:
            models[call.model_alias].append((call.tokens, call.cost))
    for model, calls in sorted(models.items()):
        tokens, dollars = sum(each for each, _ in calls), sum(each for _, each in calls)
        said = f"{counted(len(calls), 'call')} of {line_of(model)}: {tokens:,} tokens, ${dollars:.4f}"
        key = f"spent {model} {moment_text(since)}"
        yield (
            DigestLine(group="spent", said=said, command="commonplace learn spending", key=key, count=0),
            tokens,
            dollars,
        )


# ---------------------------------------------------------------- the note


def digest_path(now: datetime, zone: tzinfo) -> str:
    """The note of the day of that moment in the person's zone."""
    return f"{DIGESTS}/{now.astimezone(zone).date().isoformat()}.md"


def render_lines(digest: Digest) -> list[str]:
    """The lines of a digest as its note has them, with their headings; without words of entries."""
    lines: list[str] = []
    for group in DIGEST_GROUPS:
        of_group = digest.of(group)
        most = len(of_group) if group == "changed" else _MOST_LINES
        shown = [f"- {line.said}: `{line.command}`" for line in of_group[:most]]
        more = [f"- and {len(of_group) - most} more: `commonplace log`"] if len(of_group) > most else []
        lines += [f"### {_TITLES[group]}", *shown, *more] if shown else []
    return lines


def append_to_note(path: str, lines: Sequence[str], session: Session, *, head: str, dry_run: bool = False) -> Changed:
    """Add these lines to the day's note below a heading; what the note has already, and all else in it, stays.

    `changed` is False if the note has every line. Raises as every write does.
    """
    at = locate(path, session.stores.vault)
    terms = Terms(message=commit_message(session.stores, verb="write", path=at.path), dry_run=dry_run)
    permit = Permit(session, terms, "write", at.path)
    permit.ask()

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read_existing(at, read)
        before = there.content if there else None
        text = before.decode("utf-8", "surrogateescape") if before is not None else ""
        after = with_lines(text, lines, head=head, day=at.path[-13:-3])
        return (Edit(at, before, after.encode("utf-8", "surrogateescape")),)

    (edit,), result = change(plan, [permit], path=at.path)
    return change_result(edit, permit, result)


def with_lines(text: str, lines: Sequence[str], *, head: str, day: str) -> str:
    """The text of the note with the lines that it lacks, below a heading; the same text if it lacks none."""
    present = {line.strip() for line in text.splitlines()}
    new = [line for line in lines if line.startswith("#") or line not in present]
    kept = [
        line
        for number, line in enumerate(new)
        if not line.startswith("#") or (number + 1 < len(new) and not new[number + 1].startswith("#"))
    ]
    if not kept:
        return text
    body = "\n".join(f"\n{line}\n" if line.startswith("#") else line for line in kept)
    start = text.rstrip("\n") or f"# Digest of {day}"
    return f"{start}\n\n## {head}\n{body}\n"


# ---------------------------------------------------------------- what a session is told


def session_line(session: Session, *, waiting: int) -> str:
    """One line about the newest digest, if no session was told of it yet; empty if one was."""
    states = session.stores.history.job_states()
    state, told = states.get(JOB_NAME), states.get(ANNOUNCED_STATE)
    written = str(state.values.get("written", "")) if state else ""
    counts = state.values.get("counts") if state else None
    if not written or not isinstance(counts, Mapping) or (told and str(told.values.get("written", "")) >= written):
        return ""
    parts = [f"{group} {counts[group]}" for group in DIGEST_GROUPS if counts.get(group) and group != "proposed"]
    text = counts_text(parts, waiting=waiting)
    is_recent = session.clock() - parse_moment(written) < _RECENT
    return (
        f"{'Last night' if is_recent else f'Until {long_day(written)}'}: {text}: `commonplace digest`" if text else ""
    )


def note_announcement(session: Session) -> None:
    """Record that a session was told of the newest digest, or that the person has read it."""
    history = session.stores.history
    state = history.job_states().get(JOB_NAME)
    written = str(state.values.get("written", "")) if state else ""
    if written:
        history.save_job_state(JobState(job=ANNOUNCED_STATE, values={"written": written}))


def state_values(digest: Digest, *, seen: Iterable[str] = ()) -> dict[str, Any]:
    """What the history keeps of a digest that was written or read: how far it goes, and its counts; no words."""
    is_same_second = digest.since == digest.until
    standing = [key for key in seen if is_same_second or key.startswith(_STANDING)]
    border = [*dict.fromkeys((*(standing if is_same_second else standing[-_MOST_STANDING:]), *border_keys(digest)))]
    return {"until": digest.until, "border": border, "written": digest.until, "counts": digest.counts}


def digest_start(values: Mapping[str, Any]) -> tuple[datetime | None, tuple[str, ...]]:
    """Where the next digest begins, and the keys of lines that the last one had; None if there was none."""
    until, border = str(values.get("until", "")), values.get("border")
    keys = tuple(map(str, border)) if isinstance(border, list | tuple) else ()
    return (parse_moment(until), keys) if until else (None, ())
