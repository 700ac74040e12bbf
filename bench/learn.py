"""What is learned from conversations: how much of it is right, how much is missed, what must not be there.

Each labelled conversation meets a memory of its own with the real encoder: what is known is saved, the conversation is
recorded as the person's own, learned from, and the store is looked at. Without a provider the rules extract; with one
(`--provider openai --llm-model NAME --base-url URL`) the model does. `--record FILE` keeps a model's answers, and
`--replay FILE` uses them again, so that CI needs no model.

- precision: stored texts that match a gold text of their conversation, or end a known text that a gold text ends, out
  of all that were stored;
- must-not: stored texts that match one that must not be kept, deny what it denies, and match no gold text better;
- recall: gold texts that a stored text matches;
- endings: known texts that a gold text ends and that are no longer current, and known texts that were ended wrongly.

How texts are matched is described in `bench/learn_sets.py`; `--verbose` lists all of them for reading by eye.

Run it as `python bench/learn.py`; `--file` names another set, `--json` prints all figures, `--save` keeps them.
"""

import argparse
import json
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.figures import say
from bench.learn_sets import EXTRACTION, Judge, LabelledConversation, agree, read_conversations
from bench.memory_sets import sets_folder
from bench.memory_vault import BenchClock, Opener, settings_of
from bench.quality_tables import table

from commonplace.app.encoders import make_encoders
from commonplace.app.models import make_models
from commonplace.errors import ProviderFailed
from commonplace.llm.base import LanguageModel, ModelAnswer, Prompt
from commonplace.llm.options import LlmOptions
from commonplace.memory import Memory
from commonplace.model import Actor
from commonplace.model.request import NewEntry
from commonplace.settings.load import load_settings

ABOUT: Final = """## Learning from conversations

Short conversations with what is worth keeping of each, what must not be kept, and what was known before. Each meets a
memory of its own: what is known is saved, the conversation is recorded as the person's own and learned from.

**What this does not show**

- The sets are small, and the rules were written with this half in sight; another half, kept apart, decides.
- Two texts count as the same by their vectors and their words (`bench/learn_sets.py`), not by a reader.
"""
TARGETS: Final = {"precision": 0.95, "must_not": 0, "recall": 0.45, "endings": 0.9}  # of issue 18, rules alone
PERSON: Final = Actor("person", "bench")
CURRENT: Final = ("current", "future")
_BEFORE: Final = timedelta(days=60)  # what is known was saved that long before the conversation


@dataclass(slots=True)
class RecordedModel:
    """A model that answers what a model answered before, by the id of the conversation; `live` is asked otherwise."""

    answers: dict[str, Any]
    live: LanguageModel | None = None
    conversation: str = ""

    @property
    def name(self) -> str:
        """The name in the log of model calls."""
        return self.live.name if self.live else "recorded"

    @property
    def is_remote(self) -> bool:
        """True if words leave this machine."""
        return bool(self.live and self.live.is_remote)

    def ask(self, prompts: Sequence[Prompt], schema: Mapping[str, Any], *, most_tokens: int) -> ModelAnswer:
        """The recorded answer. Raises ProviderFailed if there is none and no model to ask."""
        if self.live:
            answer = self.live.ask(prompts, schema, most_tokens=most_tokens)
            self.answers[self.conversation] = dict(answer.value)
            return answer
        if self.conversation not in self.answers:
            raise ProviderFailed(f"no recorded answer for conversation {self.conversation}", reason="malformed")
        return ModelAnswer(self.answers[self.conversation], 0, 0, "recorded")

    def check(self) -> str:
        """What the model behind it says about itself."""
        return self.live.check() if self.live else "recorded answers"


@dataclass(slots=True)
class Outcome:
    """What became of one conversation."""

    id: str
    right: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    must_not: list[tuple[str, str]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    staged: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    not_ended: list[str] = field(default_factory=list)
    ended_wrongly: list[str] = field(default_factory=list)
    gold: int = 0


def learn_one(
    conversation: LabelledConversation, memory: Memory, clock: BenchClock, judge: Judge, model: RecordedModel | None
) -> Outcome:
    """Learn from one conversation in an empty memory, and compare the store with the labels."""
    begins = datetime.fromisoformat(f"{conversation.day}T10:00:00+00:00").astimezone(UTC)
    clock.set_to = begins - _BEFORE
    known = {id: memory.entries.add(NewEntry(text)).fact.id for id, text in conversation.known.items()}
    clock.set_to = begins + timedelta(hours=1)
    messages = [
        {"role": role, "content": text, "at": (begins + timedelta(minutes=number)).isoformat()}
        for number, (role, text) in enumerate(conversation.turns)
    ]
    recorded = memory.conversations.record(messages, interface="bench", source_id=conversation.id)
    if model:
        model.conversation = conversation.id
    learned = memory.learning.learn(recorded.id, model=model)
    clock.set_to = begins + timedelta(days=1)
    facts = {each.fact.id: each for each in memory.facts.about(every=True)}
    stored = {id: each.fact.text for id, each in facts.items() if id not in known.values() and each.state in CURRENT}
    over = {id for id, fact in known.items() if _is_over(facts.get(fact))}
    outcome = _compared(conversation, stored.values(), judge)
    expected = {known[each.ends]: conversation.known[each.ends] for each in conversation.gold if each.ends}
    for item in learned.items:
        if item.old in expected and (text := stored.get(item.fact)) in outcome.wrong:
            outcome.wrong.remove(text)
            outcome.right.append((text, f"ends: {expected[item.old]}"))
    outcome.staged = [each.fact.text for each in facts.values() if each.state == "staged"]
    _compare_endings(outcome, conversation, over)
    return outcome


def _is_over(fact: Any) -> bool:
    return fact is None or fact.state not in CURRENT or bool(fact.ended_by)


def _compared(conversation: LabelledConversation, stored: Collection[str], judge: Judge) -> Outcome:
    outcome = Outcome(conversation.id, gold=len(conversation.gold))
    for text in stored:
        score, gold = judge.nearest(text, conversation.gold)
        bad_score, bad = judge.nearest(text, [each for each in conversation.must_not if agree(text, each.text)])
        if bad and bad_score > score:
            outcome.must_not.append((text, bad.text))
        elif gold:
            outcome.right.append((text, gold.text))
        else:
            outcome.wrong.append(text)
    for gold in conversation.gold:
        if not any(judge.closeness(text, gold.text) for text in stored):
            outcome.missed.append(gold.text)
    return outcome


def _compare_endings(outcome: Outcome, conversation: LabelledConversation, over: set[str]) -> None:
    expected = {each.ends for each in conversation.gold if each.ends}
    for id, text in conversation.known.items():
        if id in expected:
            (outcome.ended if id in over else outcome.not_ended).append(text)
        elif id in over:
            outcome.ended_wrongly.append(text)


def measure(
    conversations: Sequence[LabelledConversation], opener: Opener, judge: Judge, model: RecordedModel | None
) -> dict[str, Any]:
    """The figures of all conversations, and the texts behind them."""
    outcomes = []
    for conversation in conversations:
        with opener.in_memory() as (memory, clock):
            outcomes.append(learn_one(conversation, memory, clock, judge, model))
    return _figures(outcomes)


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    right = sum(len(each.right) for each in outcomes)
    stored = right + sum(len(each.wrong) + len(each.must_not) for each in outcomes)
    gold = sum(each.gold for each in outcomes)
    ended, not_ended = (sum(len(getattr(each, name)) for each in outcomes) for name in ("ended", "not_ended"))
    return {
        "conversations": len(outcomes),
        "precision": [right, stored],
        "must_not": sum(len(each.must_not) for each in outcomes),
        "recall": [gold - sum(len(each.missed) for each in outcomes), gold],
        "endings": [ended, ended + not_ended],
        "ended_wrongly": sum(len(each.ended_wrongly) for each in outcomes),
        "staged": sum(len(each.staged) for each in outcomes),
        "texts": [_texts(each) for each in outcomes],
    }


def _texts(outcome: Outcome) -> dict[str, Any]:
    names = ("right", "wrong", "must_not", "missed", "staged", "ended", "not_ended", "ended_wrongly")
    return {"id": outcome.id, **{name: getattr(outcome, name) for name in names if getattr(outcome, name)}}


def tables(told: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    """The figures beside the targets, in Markdown; with `verbose` every text."""
    yield ABOUT
    rows = [
        ("stored texts that are right", _share(told["precision"]), f"{TARGETS['precision']:.2f}"),
        ("stored texts that must not be kept", str(told["must_not"]), "0"),
        ("gold texts found", _share(told["recall"]), f"{TARGETS['recall']:.2f}"),
        ("known texts that ended", _share(told["endings"]), f"{TARGETS['endings']:.2f}"),
        ("known texts that ended wrongly", str(told["ended_wrongly"]), "0"),
        ("texts that wait for review", str(told["staged"]), ""),
    ]
    yield from table(("measure", told["extractor"], "target"), rows)
    if verbose:
        for each in told["texts"]:
            yield json.dumps(each, ensure_ascii=False, indent=1)


def _share(counts: Sequence[int]) -> str:
    return f"{counts[0]}/{counts[1]} ({counts[0] / counts[1]:.2f})" if counts[1] else "0/0"


def main() -> None:
    """Measure, print the tables, and keep the figures if so told."""
    chosen = _options().parse_args()
    conversations = read_conversations(chosen.file or sets_folder(chosen.data) / EXTRACTION)
    flags = settings_of(figures.with_model(chosen.model), [*chosen.set, *_provider_settings(chosen)])
    opener = Opener(flags, chosen.cache / "memory-vectors.db" if chosen.cache else None, actor=PERSON)
    begun = time.perf_counter()
    with figures.own_home():
        told = _measured(chosen, conversations, opener)
    told["seconds"] = round(time.perf_counter() - begun, 1)
    print(
        json.dumps(told, indent=1, ensure_ascii=False)
        if chosen.json
        else "\n".join(tables(told, verbose=chosen.verbose))
    )
    if chosen.save:
        print(f"saved in {figures.save('learn', told)}")


def _measured(
    chosen: argparse.Namespace, conversations: Sequence[LabelledConversation], opener: Opener
) -> dict[str, Any]:
    settings = load_settings(flags=opener.flags).settings
    encoder = make_encoders(settings.embedding).current
    if encoder is None:
        sys.exit("no encoder: run `make setup`, or name the folder of its weights with --model")
    model, judge = _model(chosen, settings.llm), Judge(encoder)
    say(f"{len(conversations)} conversations")
    told = measure(conversations, opener, judge, model)
    if chosen.record and model:
        lines = (json.dumps({"id": id, "value": value}, ensure_ascii=False) for id, value in model.answers.items())
        chosen.record.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"extractor": model.name if model else "rules", **told}


def _model(chosen: argparse.Namespace, options: LlmOptions) -> RecordedModel | None:
    """The model behind the provider, or recorded answers; None for the rules."""
    if chosen.replay:
        lines = chosen.replay.read_text(encoding="utf-8").splitlines()
        return RecordedModel({line["id"]: line["value"] for line in map(json.loads, filter(None, lines))})
    route = make_models(options).route("extract")
    if route and route.model is None:
        sys.exit(f"no model: {route.missing}")
    return RecordedModel({}, live=route.model) if route else None


def _provider_settings(chosen: argparse.Namespace) -> list[str]:
    values = {"llm.provider": chosen.provider, "llm.model": chosen.llm_model, "llm.base_url": chosen.base_url}
    return [f"{key}={value}" for key, value in values.items() if value]


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with memory/, or with the set")
    options.add_argument("--file", type=Path, default=None, help="another set of the same form")
    options.add_argument("--provider", choices=("openai", "anthropic"), default=None, help="extract by a model")
    options.add_argument("--llm-model", default=None, help="the model's name on that server")
    options.add_argument("--base-url", default=None, help="the server, if it is not the provider's own")
    options.add_argument("--record", type=Path, default=None, help="keep the model's answers in this file")
    options.add_argument("--replay", type=Path, default=None, help="use the answers in this file instead of a model")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting to try")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where vectors are kept between runs")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--verbose", action="store_true", help="list every text and what it was matched with")
    options.add_argument("--json", action="store_true", help="print all figures as JSON")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/learn-<commit>.json")
    return options


if __name__ == "__main__":
    main()
