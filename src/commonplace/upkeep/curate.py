"""The job `curate`: each night after `sleep`, a model suggests a few operations on USER.md and each CHANNEL.md.

    the note, the last days, the known facts -> the model of the task `curate` -> operations -> each one validated
    without a model: statements that are doubled, outdated or in the wrong section -> operations -> each one validated

The operations go the way of all others (`flows/memory/profiles`): what a person wrote changes by proposal alone, what
reads like an instruction waits, a bad operation is rejected. They are based on the version that the model was shown: a
note that was edited while the model thought stays as it is, and the next run asks again. An answer that cannot be read
changes nothing, and is tried again the next night. Without a model nothing is added: only what the note says twice,
what memory knows to be over, and what is below the heading of another kind changes.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from commonplace.errors import ProviderFailed, Refused
from commonplace.events import emit
from commonplace.facts.claims import is_own_word
from commonplace.facts.entry_paths import id_digits
from commonplace.facts.triples import ME
from commonplace.facts.words import fingerprint
from commonplace.flows.learn.extract import known_statements
from commonplace.flows.learn.model_calls import ask_model, model_of, prompt_for
from commonplace.flows.memory.facts import FactRequest, entry_reader, fact_snapshots, facts_about
from commonplace.flows.memory.profiles import edit_profile, read_profile, summary_of
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.llm.base import Prompt
from commonplace.model import KINDS, Fact, FactSnapshot
from commonplace.model.layout import DATED_NOTES, USER_NOTE, channel_folder, newest_dated
from commonplace.model.profile import OPERATION_NAMES, ProfileChange, ProfileText
from commonplace.model.text import fold_heading
from commonplace.model.untrusted_text import break_values
from commonplace.notes.section_operations import (
    SectionStatement,
    read_operation,
    section_headings,
    section_statements,
    statement_key,
)
from commonplace.upkeep.day_memories import notes_below, read_day_note
from commonplace.upkeep.day_note import bullets_of, source_of
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult
from commonplace.upkeep.sleep import channels

DAYS: Final = 3
"""How many days back the dated notes are read."""
MOST_DAY_CHARACTERS: Final = 8000
"""Characters of dated notes, the newest first."""
_MOST_FACTS: Final = 60
_MOST_OPERATIONS: Final = 10  # beyond what the prompt asks for; the rest of a longer answer is dropped
_MOST_CHANNELS: Final = 20  # calls of a model in one run
_SHARED: Final = 0.5  # share of a line's words that a saying has if the line may come from it
_UNFIT: Final = frozenset({"malformed", "too_long"})

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "ops": {
            "type": "array",
            "maxItems": _MOST_OPERATIONS,
            "items": {
                "type": "object",
                "properties": {
                    "op": {"type": "string", "enum": [*OPERATION_NAMES]},
                    "heading": {"type": "string"},
                    "subheading": {"type": "string"},
                    "line": {"type": "string"},
                    "match": {"type": "string"},
                    "lines": {"type": "array", "maxItems": 10, "items": {"type": "string"}},
                },
                "required": ["op"],
            },
        }
    },
    "required": ["ops"],
}
"""The JSON that a model must answer with: the operations and nothing else."""


@dataclass(frozen=True, slots=True)
class _Saying:
    """The words of a fact, or of a bullet of a day, and whether they go back to the person."""

    words: frozenset[str]
    is_told: bool


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What the model is shown of one profile note."""

    channel: str
    profile: ProfileText
    days: tuple[tuple[str, str], ...]
    facts: tuple[str, ...]
    sayings: tuple["_Saying", ...] = ()

    @property
    def hash(self) -> str:
        """Changes when there is something new to curate from; the note itself does not count."""
        text = json.dumps((self.days, self.facts), ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]

    def is_told(self, line: str) -> bool:
        """False if the line says what others than the person said, and nothing that the person said."""
        words = _words(line)
        near = [each for each in self.sayings if words and len(words & each.words) / len(words) >= _SHARED]
        return not near or any(each.is_told for each in near)

    def question(self) -> str:
        """The JSON that the model gets: its quotation marks fence the words."""
        name = f"the channel {self.channel}" if self.channel else "the person"
        days = [{"day": day, "text": text} for day, text in self.days]
        shown = {"note": name, "profile": self.profile.text, "days": days, "facts": [*self.facts]}
        return json.dumps(break_values(shown), ensure_ascii=False)


def plan_curation(run: JobRun) -> Plan:
    """A step for each profile note that the model would change. Raises ProviderFailed if the model is away."""
    if model_of("curate", run.session) is None:
        return _tidy(run)
    before = run.state.get("read")
    read: dict[str, str] = dict(before) if isinstance(before, Mapping) else {}
    steps: list[Step] = []
    remarks: list[str] = []
    for channel in ("", *channels(run.session)[:_MOST_CHANNELS]):
        if run.stops():
            break
        inputs = _gathered(channel, run.session)
        if inputs is None or not inputs.days or read.get(inputs.profile.path) == inputs.hash:
            continue
        step, said = _asked(inputs, run.session)
        remarks += [said] if said else []
        if step is None and said.startswith(_UNREAD):
            continue  # tried again the next night
        read[inputs.profile.path] = inputs.hash
        steps += [step] if step else []
    said = " ".join(remarks) or ("" if steps else "Nothing new since the last time.")
    return Plan(steps=tuple(steps), state={"read": read}, said=said)


_UNREAD: Final = "The answer for "
_NO_MODEL: Final = "No model is set (llm, or llm.curate): nothing is added, only what is doubled or outdated changes."

_TIDIED: Final = "These statements are doubled, outdated, or below the heading of another kind."


def _tidy(run: JobRun) -> Plan:
    """A step for each profile note that says something twice, that is over, or in the wrong section."""
    steps: list[Step] = []
    for channel in ("", *channels(run.session)[:_MOST_CHANNELS]):
        if run.stops():
            break
        try:
            profile = read_profile(run.session, channel=channel)
        except Refused:
            continue
        operations = _tidying(profile, run.session, is_own=not channel)[:_MOST_OPERATIONS]
        if not operations:
            continue
        trial = edit_profile(operations, run.session, channel=channel, dry_run=True)
        if trial.difference:  # else it waits already, or was rejected
            values = {"ops": operations, "channel": channel, "version": profile.version, "why": _TIDIED}
            steps.append(Step(action="curate", subject=profile.path, said=_plan_text(trial), values=values))
    return Plan(steps=tuple(steps), said=_NO_MODEL)


def _tidying(profile: ProfileText, session: Session, *, is_own: bool) -> list[dict[str, str]]:
    """The operations that tidy the note: at most one for each statement, the first that applies."""
    content = profile.text.encode(errors="surrogateescape")
    statements, headings = section_statements(content), section_headings(content)
    facts = _FactsOf(profile.path, session, is_own=is_own)
    operations: list[dict[str, str]] = []
    kept: list[SectionStatement] = []
    for each in statements:
        if not each.heading and any(_is_elsewhere(each, other) for other in statements):
            continue  # an operation without a heading means every copy
        if twin := next((other for other in kept if _says_the_same(each, other)), None):
            operations.append({"op": "replace", "heading": each.heading, "match": each.text, "line": twin.text})
        elif ended := facts.ended(each):
            operations.append({"op": ended[0], "heading": each.heading, "match": each.text, "line": ended[1]})
        elif section := _right_section(each, facts.kind_of(each), headings):
            operations.append({"op": "append", "heading": section, "line": each.text})
            operations.append({"op": "remove", "heading": each.heading, "match": each.text})
        else:
            kept.append(each)
    return operations


def _says_the_same(one: SectionStatement, other: SectionStatement) -> bool:
    """True for two statements of one section: below another heading the same words may mean something else."""
    return one.heading == other.heading and statement_key(one.text) == statement_key(other.text)


def _is_elsewhere(one: SectionStatement, other: SectionStatement) -> bool:
    return other.heading != one.heading and statement_key(one.text) == statement_key(other.text)


def _right_section(statement: SectionStatement, kind: str, headings: Sequence[str]) -> str:
    """The heading of the statement's kind, if it is below that of another kind; empty if it is not."""
    by_kind = {name: each for each in headings for name in KINDS if fold_heading(each) in (name, f"{name}s")}
    there = next((name for name, each in by_kind.items() if each == statement.heading), "")
    return by_kind.get(kind, "") if there and kind and there != kind else ""


class _FactsOf:
    """What memory knows of the statements in a profile note: the facts in its lines, and entries that say the same."""

    def __init__(self, path: str, session: Session, *, is_own: bool) -> None:
        self._session = session
        with entry_reader(session.stores) as reader:
            lines = reader.facts(FactQuery(paths=(path,), sensitive=False))
        self._lines = {each.fact.line: each for each in fact_snapshots(lines, session)}
        about = facts_about(FactRequest(entity=ME, every=True), session) if is_own else ()
        self._own = [each for each in about if each.fact.path != path]

    def ended(self, statement: SectionStatement) -> tuple[str, str] | None:
        """What becomes of a statement that does not hold any more: it is removed, or replaced by these words."""
        line = self._lines.get(statement.line)
        if line and line.state in _OVER:
            return "remove", ""
        same = self._same(statement)
        if not same or any(each.state not in _OVER for each in same):
            return None
        newer = {each.ended_by for each in same} - {""}
        now = [each.fact.text for each in self._own if each.fact.id in newer and each.state == "current"]
        return ("replace", now[0]) if len(now) == 1 and "\n" not in now[0].strip() else ("remove", "")

    def kind_of(self, statement: SectionStatement) -> str:
        """The kind of the statement, as its line or an entry with its words has it; empty if nothing says."""
        line = self._lines.get(statement.line)
        kinds = {each.fact.kind for each in self._same(statement)}
        return line.fact.kind if line else kinds.pop() if len(kinds) == 1 else ""

    def _same(self, statement: SectionStatement) -> list[FactSnapshot]:
        """The entries that say the same, in any state but forgotten."""
        query = FactQuery(fingerprint=fingerprint(statement.text), origins=("entry",), sensitive=False)
        with entry_reader(self._session.stores) as reader:
            records = reader.facts(query)
        same = fact_snapshots(records, self._session)
        return [each for each in same if each.state != "deleted" and each.fact.origin == "entry"]


_OVER: Final = frozenset({"ended", "superseded", "expired"})


def _gathered(channel: str, session: Session) -> _Inputs | None:
    """What the model is shown; None if the person hides the note from programs."""
    try:
        profile = read_profile(session, channel=channel)
    except Refused:
        return None
    days = tuple(_recent_days(channel, session))
    facts = _known_facts(channel, [text for _, text in days], session)
    sayings = (*(_Saying(_words(each.text), _is_persons(each)) for each in facts), *_day_sayings(days, session))
    return _Inputs(channel, profile, days, tuple(each.text for each in facts), sayings)


def _is_persons(fact: Fact) -> bool:
    """True for what the person said, and what was quoted from what they said."""
    return is_own_word(fact) or (fact.origins.trust == "mined" and bool(fact.origins.quote))


def _day_sayings(days: Sequence[tuple[str, str]], session: Session) -> Iterator[_Saying]:
    """The bullets of the days; one of which nobody knows who said it is not the person's."""
    bullets = [each for _, text in days for each in bullets_of(text)]
    told = {source: _is_of_person(source, session) for source in {source_of(block) for _, block in bullets if block}}
    for words, block in bullets:
        yield _Saying(_words(words), told[source_of(block)] if block else True)


def _is_of_person(source: str, session: Session) -> bool:
    """True if the conversation was read by us and not told by a program, or if the entry is the person's."""
    if not source.startswith("e-"):
        thread = session.stores.history.conversation(source)
        return thread is not None and not thread.is_claim and thread.kind == "chat"
    with session.stores.index.reader() as reader:
        records = reader.facts(FactQuery(origins=("entry",), sensitive=False))
    return any(_is_persons(each.fact) for each in records if id_digits(each.fact.id) == source.removeprefix("e-"))


def _recent_days(channel: str, session: Session) -> Iterator[tuple[str, str]]:
    """The dated notes of the last days that programs may see, the newest first, cut to the limit."""
    folder = f"{channel_folder(channel)}/memories" if channel else DATED_NOTES
    today = session.now[:10]
    oldest = f"{session.clock() - timedelta(days=DAYS):%Y-%m-%d}"
    room = MOST_DAY_CHARACTERS
    for path in newest_dated(notes_below(folder, session), today=today, limit=DAYS + 1):
        day = path.rpartition("/")[2][:10]
        note = read_day_note(path, session) if day > oldest and room > 0 else None
        if note and (text := note.body.strip()[:room]):
            room -= len(text)
            yield day, text


def _known_facts(channel: str, texts: Sequence[str], session: Session) -> tuple[Fact, ...]:
    """What memory knows already: about the person, or for a channel what its days speak of."""
    if channel:
        return tuple(known_statements(texts, session, most=_MOST_FACTS)) if texts else ()
    about = facts_about(FactRequest(entity=ME, limit=_MOST_FACTS), session)
    return tuple(each.fact for each in about if not each.fact.sensitive and each.fact.path != USER_NOTE)


def _asked(inputs: _Inputs, session: Session) -> tuple[Step | None, str]:
    """The step that the model's answer makes, if any, and a word for the log. Raises ProviderFailed."""
    path, prompt = inputs.profile.path, prompt_for("curate", session)
    prompts = (Prompt("system", prompt.text), Prompt("user", inputs.question()))
    try:
        answer = ask_model("curate", prompts, SCHEMA, session, prompt_version=prompt.version)
    except ProviderFailed as failure:
        if failure.reason not in _UNFIT:
            raise
        emit("curation_unread", level="warning", path=path, reason=failure.reason)
        return None, f"{_UNREAD}{path} could not be read ({failure.reason}): nothing was written."
    operations = [each for each in answer.value["ops"] if not _is_known(each, inputs.facts)]
    left = len(answer.value["ops"]) - len(operations)
    said = f"{path}: {left} left out, which memory knows as facts." if left else ""
    trial = edit_profile(operations, session, channel=inputs.channel, is_told=inputs.is_told, dry_run=True)
    if not any(each.outcome in ("applied", "proposed") for each in trial.results):
        return None, f"{said} {trial.summary}".strip() if operations else said
    version = inputs.profile.version
    values = {"ops": operations, "channel": inputs.channel, "version": version, "why": "Nightly curation."}
    return Step(action="curate", subject=path, said=_plan_text(trial), values=values), said


def _plan_text(trial: ProfileChange) -> str:
    """What the operations would do; without ids of proposals, which depend on what else is written by then."""
    return summary_of(trial.path, [replace(each, review="") for each in trial.results])


def _is_known(given: object, facts: Sequence[str]) -> bool:
    """True if the operation adds what memory knows as a fact, which every session gets anyway."""
    operation, problem = read_operation(given)
    added = (operation.line, *operation.lines) if operation.op in ("append", "add_heading") else ()
    words = {fingerprint(each) for each in added if each}
    return not problem and bool(words) and words <= {fingerprint(each) for each in facts}


def _words(text: str) -> frozenset[str]:
    return frozenset("".join(each if each.isalnum() else " " for each in statement_key(text)).split())


def apply_curation(step: Step, run: JobRun) -> StepResult:
    """Apply the operations to the note, if it is the version that the model saw. Raises Conflict if it is not."""
    values, session = step.values, run.session
    inputs = _gathered(values["channel"], session)
    is_told = inputs.is_told if inputs else lambda text: False
    given = {"channel": values["channel"], "why": values["why"], "is_told": is_told}
    trial = edit_profile(values["ops"], session, **given, dry_run=True)
    if not any(each.outcome in ("applied", "proposed") for each in trial.results):
        return StepResult(step=step, outcome="unchanged", reason=trial.summary)
    change = edit_profile(values["ops"], session, **given, expected=values["version"])
    return _result(step, change)


def _result(step: Step, change: ProfileChange) -> StepResult:
    review = next((each.review for each in change.results if each.review), "")
    if change.changed:
        return StepResult(step=step, outcome="done", commit=change.commit or "", review=review, reason=change.summary)
    return StepResult(step=step, outcome="proposed" if review else "unchanged", review=review, reason=change.summary)


JOB: Final = Job(
    name="curate",
    about="Keeps USER.md and CHANNEL.md current by a few operations; your own words change only if you approve",
    schedule="45 3 * * *",
    plan=plan_curation,
    apply=apply_curation,
    most_steps=30,
)
