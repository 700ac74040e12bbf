"""The job `judge`: a model that reads both says how near entries relate of which nobody has said it.

One call a night has all groups that are new or changed, with speakers and days; none with a sensitive entry. The model
ends something by itself only where the older statement is a program's, or the newer one is what the person told and
told first after the older one began. Otherwise it prepares the review: the newer entry gets the bond `end`. A group
that it is unsure about waits for the person, and is not sent again until it changes.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from commonplace.errors import ProviderFailed
from commonplace.events import emit
from commonplace.facts.claims import is_own_word, kind_of_speaker
from commonplace.facts.entry_paths import word_digits
from commonplace.facts.groups import Group, said_last
from commonplace.flows.encode import text_hash
from commonplace.flows.learn.model_calls import ask_model, prompt_for
from commonplace.flows.memory.groups import undecided
from commonplace.flows.memory.undo import undone_by_person
from commonplace.flows.memory.verdicts import settle
from commonplace.flows.stores import Session
from commonplace.llm.base import Prompt
from commonplace.model import Fact
from commonplace.model.fact import Settlement
from commonplace.model.layout import entry_digits
from commonplace.model.untrusted_text import break_marks
from commonplace.upkeep.entry_steps import GONE, label, result_of
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult

_MOST_STATEMENTS: Final = 40  # of one call: what a model of a laptop reads, and answers within its limit
_MOST_IN_GROUP: Final = 12  # the newest: the rest is asked about when these are settled
_UNFIT: Final = frozenset({"malformed", "too_long"})  # why an answer cannot be read; it is asked for the next night
_LONGEST: Final = 500  # characters of a statement that are sent
_MOST_ASKED: Final = 1000  # groups that were sent, the last ones: they are not sent again

_Verdict = Literal["replaces", "covers", "same", "both", "unsure"]
_WORDS: Final[dict[_Verdict, str]] = {
    "replaces": "replaces",
    "covers": "covers",
    "same": "says the same as",
    "both": "holds beside",
}
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "maxItems": _MOST_STATEMENTS,
            "items": {
                "type": "object",
                "properties": {
                    "newer": {"type": "integer"},
                    "older": {"type": "integer"},
                    "reasoning": {"type": "string", "maxLength": 400},
                    "verdict": {"type": "string", "enum": [*_WORDS, "unsure"]},
                },
                "required": ["newer", "older", "reasoning", "verdict"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}


class _Pair(NamedTuple):
    """What the model says of an entry and an older one."""

    newer: Fact
    older: Fact
    verdict: _Verdict


def plan(run: JobRun) -> Plan:
    """A step for each entry about which the model says how it relates to older ones. Raises ProviderFailed."""
    asked = tuple(str(each) for each in run.state.get("asked") or ())
    undone = undone_by_person(run.session)
    groups = [
        group
        for group in undecided(run.session)
        if _key(group) not in asked and not {entry_digits(fact.path) for fact in group.entries} & undone
    ]
    sent = _within_limit(groups)
    if not sent:
        return Plan(said="Nothing new is undecided.")
    try:
        pairs = _judged(sent, run.session)
    except ProviderFailed as failure:
        if failure.reason not in _UNFIT:
            raise
        emit("judgement_unread", level="warning", reason=failure.reason)
        return Plan(said=f"The answer could not be read ({failure.reason}): nothing was settled.", left=len(groups))
    said = f"{len(pairs)} of {sum(len(each.entries) - 1 for each in sent)} decided."
    keys = (*asked, *map(_key, sent))[-_MOST_ASKED:]
    return Plan(steps=tuple(_steps(pairs)), state={"asked": [*keys]}, said=said, left=len(groups) - len(sent))


def _key(group: Group) -> str:
    """What names the group with the words of its entries; it tells nothing of them."""
    return text_hash(" ".join(sorted(f"{fact.id} {word_digits(fact)}" for fact in group.entries)))[:16]


def _within_limit(groups: Sequence[Group]) -> list[Group]:
    """The groups that one call can hold, those with the newest entries first."""
    sent: list[Group] = []
    room = _MOST_STATEMENTS
    for group in groups:
        room -= len(group.entries[:_MOST_IN_GROUP])
        if room < 0:
            break
        sent.append(group)
    return sent


def _judged(groups: Sequence[Group], session: Session) -> list[_Pair]:
    """What the model says of the pairs that it knows about; once of each older entry. Raises ProviderFailed."""
    shown = [group.entries[:_MOST_IN_GROUP] for group in groups]
    numbered = dict(enumerate((fact for entries in shown for fact in entries), start=1))
    group_of = {fact.id: place for place, entries in enumerate(shown) for fact in entries}
    prompt = prompt_for("judge", session)
    prompts = (Prompt("system", prompt.text), Prompt("user", _question(shown, session)))
    answer = ask_model("judge", prompts, _SCHEMA, session, prompt_version=prompt.version)
    pairs: dict[str, _Pair] = {}
    for each in answer.value["verdicts"]:
        newer, older = numbered.get(each["newer"]), numbered.get(each["older"])
        is_pair = newer and older and each["newer"] < each["older"] and group_of[newer.id] == group_of[older.id]
        if newer and older and is_pair and each["verdict"] in _WORDS:
            pairs.setdefault(older.id, _Pair(newer, older, each["verdict"]))
    return [*pairs.values()]


def _question(groups: Sequence[Sequence[Fact]], session: Session) -> str:
    """The groups in one JSON object: its quotation marks fence the statements."""
    number = 0
    shown = []
    for entries in groups:
        statements = []
        for fact in entries:
            number += 1
            words = break_marks(fact.text)[:_LONGEST]
            said = {"number": number, "statement": words, "speaker": kind_of_speaker(fact), "day": said_last(fact)[:10]}
            statements.append(said)
        shown.append(statements)
    return json.dumps({"today": session.today, "groups": shown}, ensure_ascii=False)


def _steps(pairs: Sequence[_Pair]) -> Iterator[Step]:
    """A step for each entry and what it settles, in the order in which the entries were recorded."""
    alone = [each for each in map(_as_allowed, pairs) if each.verdict == "same"]
    together: defaultdict[str, list[_Pair]] = defaultdict(list)
    for each in map(_as_allowed, pairs):
        if each.verdict != "same":
            together[each.newer.id].append(each)
    settled = [*together.values(), *([each] for each in alone)]
    for of_one in sorted(settled, key=lambda each: (each[0].newer.recorded, each[0].newer.id)):
        newer = of_one[0].newer
        said = "; ".join(f"{_WORDS[each.verdict]} {label(each.older)}" for each in of_one)
        is_own = all(_is_newer_word(newer, each.older) for each in of_one)
        values = {"names": [[each.verdict, _name(each.older)] for each in of_one], "own": is_own}
        yield Step(action="judge", subject=_name(newer), said=f"{label(newer)} {said}", values=values)


def _is_newer_word(newer: Fact, older: Fact) -> bool:
    """True if the person told the newer one, and for the first time after the older one.

    A word of theirs that was only confirmed since, as a program may do, ends nothing that they said in between.
    """
    return newer.origins.trust == "told" and newer.begins > older.begins


def _as_allowed(pair: _Pair) -> _Pair:
    """The pair so that the person's own word stays: of two that say the same, a program's gives way to it."""
    newer, older, verdict = pair
    if verdict != "same" or not is_own_word(newer):
        return pair
    return _Pair(newer, older, "covers") if is_own_word(older) else _Pair(older, newer, "same")


def _name(fact: Fact) -> str:
    """The entry with the words that were read: `settle` refuses others."""
    return f"{fact.id}.{word_digits(fact)[:12]}"


def apply(step: Step, run: JobRun) -> StepResult:
    """Settle the entry as the model said; what only the person may end waits for them."""
    names: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for verdict, name in step.values["names"]:
        names[verdict] += (name,)
    settlement = Settlement(names["replaces"], names["covers"], names["same"], names["both"])
    try:
        result = settle(
            step.subject,
            settlement,
            run.session,
            reason=f"A model has read both: {step.said}.",
            is_spoken=step.values["own"],
        )
    except GONE as gone:
        return StepResult(step=step, outcome="unchanged", reason=gone.message)
    return result_of(step, result)


JOB: Final = Job(
    name="judge",
    about="Lets a model say how near entries relate; your own word ends only by your own newer one",
    schedule="25 4 * * *",
    plan=plan,
    apply=apply,
    is_wanted=lambda session: session.stores.models.route("judge") is not None,
)
