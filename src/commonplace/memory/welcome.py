"""The verb welcome: what the person tells about themselves at the beginning, saved as facts of high importance.

Every question may be left out. Answering again changes what is answered and nothing else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonplace.errors import UsageError
from commonplace.facts.triples import ME, predicate_key
from commonplace.flows.stores import Session
from commonplace.memory.entries import Entries
from commonplace.memory.facts import Facts
from commonplace.model import EntryResult, FactSnapshot
from commonplace.model.request import NewEntry

INTERFACE: Final = "welcome"
IMPORTANCE: Final = 0.9
"""What a person says of themselves first; entries of the class identity have 0.8 by default."""
_LONGEST: Final = 300  # characters of an answer
_REASON: Final = "answered again in `commonplace welcome`"


@dataclass(frozen=True, slots=True)
class WelcomeQuestion:
    """One question: how it is asked, and how its answer is saved. `sentence` has the place of the answer."""

    name: str
    question: str
    predicate: str
    kind: str
    sentence: str


QUESTIONS: Final = (
    WelcomeQuestion("name", "What is your name?", "name", "identity", "{} is the person's name."),
    WelcomeQuestion(
        "language",
        "In which language should agents answer you?",
        "prefers_language",
        "preference",
        "Prefers answers in {}.",
    ),
    WelcomeQuestion(
        "use", "What will you mainly use this memory for?", "main_use", "fact", "Mainly uses agents for {}."
    ),
)
"""The questions with one answer each, in the order in which they are asked."""
PREFERENCE_QUESTION: Final = "What should agents always keep in mind?"


@dataclass(frozen=True, slots=True, kw_only=True)
class WelcomeAnswers:
    """What the person answers, or has answered; empty where they have not."""

    name: str = ""
    language: str = ""
    use: str = ""
    preferences: tuple[str, ...] = ()


class Welcome:
    """What the person tells about themselves, for one actor."""

    def __init__(self, session: Session) -> None:
        self._entries, self._facts = Entries(session), Facts(session)

    def known(self) -> WelcomeAnswers:
        """What is known of the answers."""
        single = {each.name: found.fact.object for each in QUESTIONS if (found := self._known(each))}
        told = (each.fact for each in self._facts.about() if each.fact.origins.interface == INTERFACE)
        preferences = tuple(each.text for each in told if each.kind == "preference" and not each.predicate)
        return WelcomeAnswers(**single, preferences=preferences)

    def save(self, answers: WelcomeAnswers) -> tuple[EntryResult, ...]:
        """Save what is answered: a new answer replaces the old one, and the same one confirms it.

        Raises UsageError for an answer that is too long, and Refused as `entries.save` does.
        """
        return (*self._save_single(answers), *self._save_preferences(answers.preferences))

    def _save_single(self, answers: WelcomeAnswers) -> Iterator[EntryResult]:
        for each in QUESTIONS:
            answer = _checked(getattr(answers, each.name)).rstrip(".")
            if not answer:
                continue
            text, known = each.sentence.format(answer), self._known(each)
            if known and known.fact.origin == "entry" and known.fact.object.casefold() != answer.casefold():
                yield self._entries.evolve(known.fact.id, text, object=answer, reason=_REASON, interface=INTERFACE)
                continue
            yield self._entries.add(
                NewEntry(
                    text,
                    kind=each.kind,
                    fact="identity",
                    subject=ME,
                    predicate=each.predicate,
                    object=answer,
                    importance=IMPORTANCE,
                    interface=INTERFACE,
                    project="",
                )
            )

    def _save_preferences(self, preferences: Sequence[str]) -> Iterator[EntryResult]:
        for each in filter(None, map(_checked, preferences)):
            yield self._entries.add(
                NewEntry(
                    each,
                    kind="preference",
                    fact="preference",
                    subject=ME,
                    importance=IMPORTANCE,
                    interface=INTERFACE,
                    project="",
                )
            )

    def _known(self, question: WelcomeQuestion) -> FactSnapshot | None:
        """The fact that answers the question now; the person's own word before what a program says."""
        facts = self._facts.about(ME, predicate=question.predicate)
        own = [each for each in facts if predicate_key(each.fact.predicate) == question.predicate and each.fact.object]
        return min(own, key=lambda each: each.fact.origins.trust != "told", default=None)


def _checked(answer: str) -> str:
    """The answer on one line. Raises UsageError if it is too long."""
    line = " ".join(answer.split())
    if len(line) > _LONGEST:
        raise UsageError(f"an answer has {len(line)} characters", hint=f"Give at most {_LONGEST}.")
    return line
