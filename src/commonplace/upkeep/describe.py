"""The job `describe`: a model says what entries are about and when they matter, where nobody has said it.

One call a night has the newest entries that lack it, without sensitive ones. Their words stay as they are, and what the
person or an agent said of an entry stays, too. An entry that was sent is not sent again unless its words change.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from commonplace.errors import ProviderFailed, Refused
from commonplace.events import emit
from commonplace.facts.cues import counted_cue
from commonplace.facts.entry_paths import id_digits, word_digits
from commonplace.flows.cues import counting_cue
from commonplace.flows.learn.model_calls import ask_model, prompt_for
from commonplace.flows.memory.amend import describe
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.undo import undone_by_person
from commonplace.flows.notes.write import refuse_secrets
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.llm.base import Prompt
from commonplace.model import Fact
from commonplace.model.layout import entry_digits
from commonplace.model.request import LONGEST_CUE
from commonplace.model.untrusted_text import break_marks
from commonplace.upkeep.entry_steps import GONE, label, result_of
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult

MOST: Final = 40
"""Entries of one night: what a model of a laptop reads, and answers within its limit."""

_UNFIT: Final = frozenset({"malformed", "too_long"})  # why an answer cannot be read; it is asked for the next night
_LONGEST: Final = 500  # characters of a statement that are sent
_MOST_ASKED: Final = 20_000  # entries that were sent, the last ones: they are not sent again
_CUE: Final = {"type": "string", "maxLength": LONGEST_CUE}
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "entries": {
            "type": "array",
            "maxItems": MOST,
            "items": {
                "type": "object",
                "properties": {"number": {"type": "integer"}, "about": _CUE, "when": _CUE},
                "required": ["number", "about", "when"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["entries"],
    "additionalProperties": False,
}


def plan(run: JobRun) -> Plan:
    """A step for each entry that the model describes. Raises ProviderFailed."""
    asked = [str(each) for each in run.state.get("asked") or ()]
    lacking = _lacking(run.session, without=frozenset(asked))
    if not lacking:
        return Plan(said="Every entry says when it matters, or was asked about before.")
    sent = lacking[:MOST]
    try:
        steps = [*_steps(sent, run.session)]
    except ProviderFailed as failure:
        if failure.reason not in _UNFIT:
            raise
        emit("description_unread", level="warning", reason=failure.reason)
        said = f"The answer could not be read ({failure.reason}): nothing was described."
        return Plan(said=said, left=len(lacking))
    keys = [*asked, *map(_key, sent)][-_MOST_ASKED:]
    return Plan(steps=tuple(steps), state={"asked": keys}, left=len(lacking) - len(sent))


def _lacking(session: Session, *, without: frozenset[str]) -> list[Fact]:
    """The entries in use that programs may see and that lack a cue, the last updated first."""
    undone = undone_by_person(session)
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(statuses=("active",), origins=("entry",), sensitive=False))
    facts = (each.fact for each in records)
    lacking = (fact for fact in facts if not (fact.about and fact.when) and not fact.place)
    return [fact for fact in lacking if _key(fact) not in without and entry_digits(fact.path) not in undone]


def _key(fact: Fact) -> str:
    """What names the entry with its words; it tells nothing of them."""
    return f"{id_digits(fact.id)}.{word_digits(fact)[:8]}"


def _steps(facts: Sequence[Fact], session: Session) -> Iterator[Step]:
    """A step for each entry with what the model says of it. Raises ProviderFailed."""
    shown = [{"number": number, "statement": break_marks(each.text)[:_LONGEST]} for number, each in enumerate(facts, 1)]
    prompt = prompt_for("describe", session)
    prompts = (Prompt("system", prompt.text), Prompt("user", json.dumps({"entries": shown}, ensure_ascii=False)))
    answer = ask_model("describe", prompts, _SCHEMA, session, prompt_version=prompt.version)
    said = {each["number"]: each for each in answer.value["entries"]}
    for number, fact in enumerate(facts, 1):
        given = {name: _cue(said.get(number, {}).get(name, "")) for name in ("about", "when")}
        cues = {name: cue for name, cue in given.items() if cue and not getattr(fact, name)}
        if cues:
            said_of = f"Says {' and '.join(cues)} of {label(fact)}."
            yield Step(action="describe", subject=fact.id, said=said_of, values={"cues": cues})


def _cue(text: str) -> str:
    """What the model says, if it is a cue: no secret, and nothing that speaks to whoever reads it."""
    cue = counted_cue(" ".join(text.split()))
    try:
        refuse_secrets(cue)
    except Refused:
        return ""
    return counting_cue(cue)


def apply(step: Step, run: JobRun) -> StepResult:
    """Write the cues into the entry's note; its words stay."""
    try:
        return result_of(step, describe(step.subject, run.session, cues=step.values["cues"]))
    except GONE as gone:
        return StepResult(step=step, outcome="unchanged", reason=gone.message)


JOB: Final = Job(
    name="describe",
    about="Lets a model say what entries are about and when they matter; their words stay",
    schedule="35 4 * * *",
    plan=plan,
    apply=apply,
    is_wanted=lambda session: session.stores.models.route("describe") is not None,
    keeps_words=True,
)
