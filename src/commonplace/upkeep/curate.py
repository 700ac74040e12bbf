"""The job `curate`: each night after `sleep`, a model suggests a few operations on USER.md and each CHANNEL.md.

    the note, the last days, the known facts -> the model of the task `curate` -> operations -> each one validated

The operations go the way of all others (`flows/memory/profiles`): what a person wrote changes by proposal alone, what
reads like an instruction waits, a bad operation is rejected. They are based on the version that the model was shown: a
note that was edited while the model thought stays as it is, and the next run asks again. An answer that cannot be read
changes nothing, and is tried again the next night. Without a model nothing is curated.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from commonplace.errors import ProviderFailed, Refused
from commonplace.events import emit
from commonplace.facts.triples import ME
from commonplace.flows.learn.extract import known_statements
from commonplace.flows.learn.model_calls import ask_model, model_of, prompt_for
from commonplace.flows.memory.facts import FactRequest, facts_about
from commonplace.flows.memory.profiles import edit_profile, read_profile
from commonplace.flows.stores import Session
from commonplace.llm.base import Prompt
from commonplace.model.layout import DATED_NOTES, USER_NOTE, channel_folder, newest_dated
from commonplace.model.profile import OPERATION_NAMES, ProfileChange, ProfileText
from commonplace.model.untrusted_text import break_values
from commonplace.notes.section_operations import read_operation, statement_key
from commonplace.upkeep.day_memories import read_day_note
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult
from commonplace.upkeep.sleep import channels, notes_below

DAYS: Final = 3
"""How many days back the dated notes are read."""
MOST_DAY_CHARACTERS: Final = 8000
"""Characters of dated notes, the newest first."""
_MOST_FACTS: Final = 60
_MOST_OPERATIONS: Final = 10  # beyond what the prompt asks for; the rest of a longer answer is dropped
_MOST_CHANNELS: Final = 20  # calls of a model in one run
_ALIKE: Final = 0.8  # share of common words at which a line says the same as a known fact
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
class _Inputs:
    """What the model is shown of one profile note."""

    channel: str
    profile: ProfileText
    days: tuple[tuple[str, str], ...]
    facts: tuple[str, ...]

    @property
    def hash(self) -> str:
        """Changes when there is something new to curate from; the note itself does not count."""
        text = json.dumps((self.days, self.facts), ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]

    def question(self) -> str:
        """The JSON that the model gets: its quotation marks fence the words."""
        name = f"the channel {self.channel}" if self.channel else "the person"
        days = [{"day": day, "text": text} for day, text in self.days]
        shown = {"note": name, "profile": self.profile.text, "days": days, "facts": [*self.facts]}
        return json.dumps(break_values(shown), ensure_ascii=False)


def plan_curation(run: JobRun) -> Plan:
    """A step for each profile note that the model would change. Raises ProviderFailed if the model is away."""
    if model_of("curate", run.session) is None:
        return Plan(
            said="No model is set (llm, or llm.curate): USER.md changes by operations of people and agents alone."
        )
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


def _gathered(channel: str, session: Session) -> _Inputs | None:
    """What the model is shown; None if the person hides the note from programs."""
    try:
        profile = read_profile(session, channel=channel)
    except Refused:
        return None
    days = tuple(_recent_days(channel, session))
    return _Inputs(channel, profile, days, _known_facts(channel, [text for _, text in days], session))


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


def _known_facts(channel: str, texts: Sequence[str], session: Session) -> tuple[str, ...]:
    """What memory knows already: about the person, or for a channel what its days speak of."""
    if channel:
        return tuple(fact.text for fact in known_statements(texts, session, most=_MOST_FACTS)) if texts else ()
    about = facts_about(FactRequest(entity=ME, limit=_MOST_FACTS), session)
    return tuple(each.fact.text for each in about if not each.fact.sensitive and each.fact.path != USER_NOTE)


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
    trial = edit_profile(operations, session, channel=inputs.channel, dry_run=True)
    if not any(each.outcome in ("applied", "proposed") for each in trial.results):
        return None, f"{said} {trial.summary}".strip() if operations else said
    values = {"ops": operations, "channel": inputs.channel, "version": inputs.profile.version}
    return Step(action="curate", subject=path, said=trial.summary, values=values), said


def _is_known(given: object, facts: Sequence[str]) -> bool:
    """True if the operation adds what memory knows as a fact, which every session gets anyway."""
    operation, problem = read_operation(given)
    added = (operation.line, *operation.lines) if operation.op in ("append", "add_heading") else ()
    words = [_words(each) for each in added if each]
    known = [_words(each) for each in facts]
    return not problem and bool(words) and all(any(_alike(line, each) for each in known) for line in words)


def _words(text: str) -> frozenset[str]:
    return frozenset("".join(each if each.isalnum() else " " for each in statement_key(text)).split())


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and len(one & other) / len(one | other) >= _ALIKE


def apply_curation(step: Step, run: JobRun) -> StepResult:
    """Apply the operations to the note, if it is the version that the model saw. Raises Conflict if it is not."""
    values, session = step.values, run.session
    given = {"channel": values["channel"], "why": "Nightly curation."}
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
