"""A scripted model of the year over real HTTP: it answers every task from the table that the generator made.

The model's name in a request is the task (`llm.TASK.model`), so that one server can answer all of them. A task that it
does not know is counted in `unknown`, and the year fails. On some days it is away, now and then it answers nonsense.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from bench.year_person import RECURRING, RECURRING_WORDS, Statement, Year, attributes_said

from commonplace.llm.options import TASKS
from tests.llm_server import Answer, Failure, ModelScript, Received, Turn, serving_models

AWAY: Final = frozenset({100, 101, 230})
"""Days on which the model does not answer at all."""
_ODD: Final = 47  # every so many answers, one is no JSON


class YearModel:
    """What the model answers, and how often it was asked for each task. `day` is set by the year."""

    def __init__(self, year: Year) -> None:
        self.day = 0
        self.asked = Counter[str]()
        self.unknown = Counter[str]()
        self._year = year
        self._said = {each.sentence: each for each in year.statements}
        self._texts = {each.text: each for each in year.statements}
        self._tasks: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
            "extract": self._extract,
            "judge": self._judge,
            "sleep": self._sleep,
            "playbook": self._playbook,
            "curate": self._curate,
            "draft": lambda question: {"summary": "An ordinary stretch of days."},
        }

    def __call__(self, received: Received) -> Turn:
        """The answer to one request."""
        task = str(received.body.get("model", ""))
        self.asked[task] += 1
        if self.day in AWAY:
            return Failure(503)
        if task not in self._tasks:
            self.unknown[task] += 1
            return Answer({})
        if sum(self.asked.values()) % _ODD == 0:
            return Answer(text="I would rather talk about the weather.")
        return Answer(self._tasks[task](_question(received)))

    def _statement(self, text: str) -> Iterator[Statement]:
        for sentence, statement in self._said.items():
            if sentence in text:
                yield statement

    def _extract(self, asked: Mapping[str, Any]) -> Any:
        """The facts of the messages that are new, each with the sentence that says it."""
        facts = [
            self._fact(statement, message["number"], asked.get("known", ()))
            for message in asked["messages"]
            if message["speaker"] == "person" and not message.get("context")
            for statement in self._statement(message["text"])
        ]
        summary = " ".join(fact["text"] for fact in facts)
        return {"facts": facts, "summary": summary}

    def _fact(self, statement: Statement, number: int, known: list[str]) -> dict[str, Any]:
        old = statement.old if statement.old in known else ""
        relation = statement.relation if statement.relation in ("update", "end") and old else "new"
        fact: dict[str, Any] = {
            "text": statement.text,
            "quote": statement.sentence,
            "message": number,
            "kind": statement.kind,
            "class": statement.kind if statement.kind in ("identity", "preference", "event") else "fact",
            "importance": statement.importance,
            "relation": relation,
            "ends": old,
            "valid_until": statement.until,
        }
        if statement.predicate and statement.value:
            fact |= {"subject": "me", "predicate": statement.predicate, "object": statement.value}
        return fact

    def _judge(self, asked: Mapping[str, Any]) -> Any:
        """How two statements relate: by the attributes and values that they state."""
        known, new = (str(asked[name]["statement"]) for name in ("known", "new"))
        one, other = attributes_said(known, self._year), attributes_said(new, self._year)
        for key in one.keys() & other.keys():
            return {"action": "confirm" if one[key] == other[key] else "supersede"}
        both = [word for word in RECURRING_WORDS if word in known.casefold() and word in new.casefold()]
        return {"action": "extend" if both else "insert"}

    def _sleep(self, asked: Mapping[str, Any]) -> Any:
        """A memory for each statement, and one for what else was talked about."""
        memories, topics = [], {}
        for item in asked.get("interactive", ()):
            for statement in self._statement(item["text"]):
                memories.append({"text": statement.text, "item": item["item"]})
                topics[str(len(memories))] = "home" if statement.kind == "identity" else "work"
        return {"memories": memories[:8], "facts": [], "topics": topics}

    def _curate(self, asked: Mapping[str, Any]) -> Any:
        """Once, a preference that recurs becomes a line of the profile; on most nights nothing has to change."""
        profile, days = str(asked.get("profile", "")), json.dumps(asked.get("days", ""), ensure_ascii=False)
        for wordings in RECURRING.values():
            for _, text in wordings[-1:]:
                if text in days and text not in profile:
                    return {"ops": [{"op": "append", "heading": "Preferences", "line": text}]}
        return {"ops": []}

    def _playbook(self, asked: Mapping[str, Any]) -> Any:
        return {"task": asked["task"], "steps": asked["steps"], "triggers": [str(asked["task"]).lower()]}


def _question(received: Received) -> Mapping[str, Any]:
    """The JSON object of the first message of the user: after an answer that is no JSON, others follow it."""
    asked = next(each for each in received.body["messages"] if each["role"] == "user")
    value = json.loads(str(asked["content"]))
    return value if isinstance(value, dict) else {}


@contextmanager
def serving_year(year: Year) -> Iterator[tuple[YearModel | None, dict[str, object]]]:
    """The model on its server, and the settings that name it for every task."""
    model = YearModel(year)
    with serving_models(answers=model) as script:
        yield model, settings_of(script)


@contextmanager
def no_model() -> Iterator[tuple[YearModel | None, dict[str, object]]]:
    """No model, and no settings for one."""
    yield None, {}


def settings_of(script: ModelScript) -> dict[str, object]:
    """The settings that ask this server, with the task as the model's name."""
    named: dict[str, object] = {f"llm.{task}.model": task for task in TASKS}
    return {"llm.provider": "openai", "llm.base_url": script.openai, "llm.model": "any", **named}
