"""One person's year, generated from a seed: what is true of them on each day, and where they say so.

`year_of(seed, days)` gives statements (a sentence of the person, the entry that a good model makes of it), plans that
are booked, moved and cancelled, preferences that recur, trivia that goes cold, and the questions of the year.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final, Literal

Relation = Literal["new", "update", "end", "again"]

FIRST_DAY: Final = date(2025, 1, 6)
"""A Monday, so that the year is over before this was written: no file is older than it says."""
QUESTIONS: Final = 100
_SETTLED: Final = 24  # days at the beginning in which the first values are said


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that has one value at a time. `about` finds the entries that speak of it.

    `says` state the first value, `moves` a later one, `agains` repeat one; `text` is the entry; `asks` ask for it.
    """

    key: str
    about: str
    values: tuple[str, ...]
    says: tuple[str, ...]
    moves: tuple[str, ...]
    text: str
    asks: tuple[str, ...]
    agains: tuple[str, ...] = ()
    kind: str = "fact"
    predicate: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of the person on one day, and the entry that a model makes of it; `old` is the entry that ends.

    `until` is the day on which a plan is over, `project` the project in which it is said.
    """

    day: int
    attribute: str
    value: str
    sentence: str
    text: str
    relation: Relation = "new"
    old: str = ""
    kind: str = "fact"
    importance: float = 0.7
    predicate: str = ""
    until: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A value that holds from the day on which it is said until the day before `until`; 9999 if it never ends."""

    attribute: str
    value: str
    since: int
    until: int = 9999

    def holds(self, day: int) -> bool:
        """True if the value holds on that day of the year."""
        return self.since <= day < self.until


@dataclass(frozen=True, slots=True)
class Question:
    """A question about an attribute; the right answer has its value of the day."""

    text: str
    attribute: str


@dataclass(frozen=True, slots=True)
class Year:
    """Everything that is true and said in a year."""

    days: int
    statements: tuple[Statement, ...]
    spans: tuple[Span, ...]
    questions: tuple[Question, ...]
    about: dict[str, Attribute] = field(default_factory=dict)

    def on(self, day: int) -> tuple[Statement, ...]:
        """What is said on that day."""
        return tuple(each for each in self.statements if each.day == day)

    def true_on(self, day: int) -> dict[str, str]:
        """The value of each attribute that has one on that day."""
        return {each.attribute: each.value for each in self.spans if each.holds(day)}

    def over_by(self, day: int) -> list[Span]:
        """The values that were true and are not on that day, unless the attribute has the same value again."""
        now = self.true_on(day)
        return [each for each in self.spans if each.until <= day and now.get(each.attribute) != each.value]


def date_of(day: int) -> date:
    """The date of the day of the year, counted from 0."""
    return FIRST_DAY + timedelta(days=day)


def year_of(seed: int, days: int = 365, *, questions: int = QUESTIONS) -> Year:
    """The year of this seed, with so many questions. A shorter one has its changes closer together, and fewer."""
    chance = random.Random(f"year {seed}")
    statements, spans = list[Statement](), list[Span]()
    for attribute in ATTRIBUTES:
        said, held = _timeline(attribute, days, chance)
        statements += said
        spans += held
    for name, when in _plans(days, chance):
        said, held = _planned(name, when)
        statements += said
        spans += held
    statements += _recurring(days, chance)
    statements += _trivia(days, chance)
    statements += _project(days)
    statements += _events(days)
    ordered = tuple(sorted(statements, key=lambda each: (each.day, each.attribute, each.relation)))
    about = {each.key: each for each in ATTRIBUTES}
    asks = [Question(ask, each.key) for each in ATTRIBUTES for ask in each.asks]
    asked = asks[:: max(1, len(asks) // questions)][:questions]
    return Year(days, tuple(each for each in ordered if each.day < days), tuple(spans), tuple(asked), about)


def _timeline(attribute: Attribute, days: int, chance: random.Random) -> tuple[list[Statement], list[Span]]:
    """The statements and spans of one attribute: its values one after another, some of them said again."""
    settled = min(_SETTLED, days // 3)
    count = min(len(attribute.values), 1 + (days - settled) // 12)
    changes = sorted(chance.sample(range(settled + 4, max(settled + 5, days - 6)), count - 1)) if count > 1 else []
    starts = [chance.randrange(settled), *changes]
    statements, spans = list[Statement](), list[Span]()
    for number, (value, start) in enumerate(zip(attribute.values, starts, strict=False)):
        end = starts[number + 1] if number + 1 < len(starts) else 9999
        old = attribute.values[number - 1] if number else ""
        sentence = chance.choice(attribute.moves if old else attribute.says).format(v=value, old=old)
        said = Statement(
            day=start,
            attribute=attribute.key,
            value=value,
            sentence=sentence,
            text=attribute.text.format(v=value),
            relation="update" if old else "new",
            old=attribute.text.format(v=old) if old else "",
            kind=attribute.kind,
            predicate=attribute.predicate,
        )
        statements.append(said)
        statements += _agains(attribute, said, until=min(end, days), chance=chance)
        spans.append(Span(attribute.key, value, start, end))
    return statements, spans


def _agains(attribute: Attribute, said: Statement, *, until: int, chance: random.Random) -> Iterator[Statement]:
    """The person says it again some weeks later: never, once or twice."""
    days = range(said.day + 6, until - 1)
    wordings = attribute.agains or attribute.says
    for day in sorted(chance.sample(days, min(chance.choice((0, 0, 1, 2)), len(days)))):
        yield Statement(
            day=day,
            attribute=attribute.key,
            value=said.value,
            sentence=chance.choice(wordings).format(v=said.value, old=""),
            text=said.text,
            relation="again",
            kind=said.kind,
            predicate=said.predicate,
        )


def _plans(days: int, chance: random.Random) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Each plan with the days on which it is booked, moved and cancelled; -1 where it is not."""
    every = max(9, days // len(PLANS))
    for number, name in enumerate(PLANS):
        booked = 3 + number * every + chance.randrange(4)
        if booked + 12 < days:
            yield name, (booked, booked + 4 if number % 2 else -1, booked + 7 if number % 3 == 2 else -1)


def _planned(name: str, when: tuple[int, int, int]) -> tuple[list[Statement], list[Span]]:
    """A plan as an attribute whose value is its date."""
    booked, moved, cancelled = when
    dates = {f"{date_of(booked + ahead):%B} {date_of(booked + ahead).day}": booked + ahead + 1 for ahead in (40, 55)}
    first, second = dates
    text = f"{name[0].upper()}{name[1:]} is planned for {{v}}."
    key = f"plan: {name}"
    common = {"attribute": key, "kind": "event", "importance": 0.6}

    def said(day: int, value: str, sentence: str, **more: str) -> Statement:
        fields = {**common, "day": day, "value": value, "sentence": sentence, "text": text.format(v=value), **more}
        fields["until"] = date_of(dates[value]).isoformat() if value else ""
        return Statement(**fields)  # type: ignore[arg-type]

    statements = [said(booked, first, f"{name} is booked now, it's planned for {first}.")]
    ends = [moved if moved >= 0 else cancelled if cancelled >= 0 else dates[first]]
    spans = [Span(key, first, booked, ends[0])]
    if moved >= 0:
        words = f"they moved {name}: it's planned for {second} instead of {first}."
        statements.append(said(moved, second, words, relation="update", old=text.format(v=first)))
        spans.append(Span(key, second, moved, cancelled if cancelled >= 0 else dates[second]))
    if cancelled >= 0:
        last = second if moved >= 0 else first
        over = f"{name} is cancelled, so {last} is free again."
        gone = f"{name[0].upper()}{name[1:]} is cancelled."
        statements.append(said(cancelled, "", over, relation="end", old=text.format(v=last), text=gone))
    return statements, spans


def _recurring(days: int, chance: random.Random) -> Iterator[Statement]:
    """Preferences in other words each time, on three days or more."""
    for number, (key, wordings) in enumerate(RECURRING.items()):
        days_said = sorted(chance.sample(range(2, max(12, days - 4)), len(wordings)))
        for day, (sentence, text) in zip(days_said, wordings, strict=True):
            is_first = day == days_said[0]
            yield Statement(
                day=day,
                attribute=key,
                value=RECURRING_WORDS[number],
                sentence=sentence,
                text=text,
                relation="new" if is_first else "again",
                kind="preference",
            )


def _trivia(days: int, chance: random.Random) -> Iterator[Statement]:
    """What is said once and never wanted again."""
    for key, (sentence, text) in TRIVIA.items():
        yield Statement(
            day=chance.randrange(1, max(2, days - 10)),
            attribute=f"trivia: {key}",
            value=key,
            sentence=sentence,
            text=text,
            importance=0.35,
        )


def _project(days: int) -> Iterator[Statement]:
    """What is decided in the project that closes, until it closes."""
    for number, (sentence, text) in enumerate(KESTREL):
        day = 5 + number * max(2, min(days, CLOSES) // (len(KESTREL) + 1))
        if day < min(days, CLOSES):
            key = f"{PROJECT}: {number}"
            yield Statement(day, key, text, sentence, text, kind="decision", importance=0.6, project=PROJECT)


def _events(days: int) -> Iterator[Statement]:
    """The same event on several days, which may make an insight."""
    for number in range(5):
        day = 8 + number * max(4, days // 8)
        if day < days:
            sentence, text = EVENT
            yield Statement(day, "event: sensor", text, sentence, text, kind="event", importance=0.5)


def attributes_said(text: str, year: Year) -> dict[str, str]:
    """The attributes that a text gives a value, each with that value: of several, the one that it names first.

    "my bank is Starling now instead of Triodos" says Starling, and "stopped cetirizine" gives no value.
    """
    found: dict[str, tuple[int, str]] = {}
    for key, value in dict.fromkeys((each.attribute, each.value) for each in year.spans):
        place = _place_of(key, value, text, year)
        if place is not None and (key not in found or place < found[key][0]):
            found[key] = (place, value)
    return {key: value for key, (_, value) in found.items()}


def says(key: str, value: str, text: str, year: Year) -> bool:
    """True if the text gives the attribute this value, whatever else it says."""
    return _place_of(key, value, text, year) is not None


def _place_of(key: str, value: str, text: str, year: Year) -> int | None:
    """Where the text gives the attribute this value; None if it does not."""
    about = year.about[key].about if key in year.about else rf"\b{re.escape(key.partition(': ')[2])}\b"
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE)
    if match is None or not re.search(about, text, re.IGNORECASE) or _FORMER.search(text[: match.start()]):
        return None
    return None if _OVER.match(text[match.end() :]) else match.start()


_FORMER: Final = re.compile(
    r"\b(?:stopped|sold|left|gave|gave up|instead of|no longer(?: \w+)?|no more|not(?: just)?|cancelled[^.]*)"
    r"(?: (?:taking|the|at|in|to|on|with|a))?\W*\Z",
    re.IGNORECASE,
)
_OVER: Final = re.compile(
    r"\W*(?:retired|has left|is switched off|fell|is not enough|is free again|is over)", re.IGNORECASE
)


def _attribute(key: str, about: str, values: str, text: str, **more: object) -> Attribute:
    listed = tuple(each.strip() for each in values.split("|"))
    return Attribute(key=key, about=about, values=listed, text=text, **more)  # type: ignore[arg-type]


ATTRIBUTES: Final[Sequence[Attribute]] = (
    _attribute(
        "home",
        r"\blive|\bmoved|\bhome\b",
        "Leeds | Sheffield | Whitby",
        "Lives in {v}.",
        says=("we live in {v}, so the sea is far.", "I live in {v}, hence the rain."),
        moves=("we moved to {v} last weekend, boxes everywhere.", "I live in {v} now, no longer in {old}."),
        agains=("I live in {v}, as you know.",),
        asks=("where do I live?", "which town is my home in?", "what city do I live in now?"),
        predicate="lives_in",
        kind="identity",
    ),
    _attribute(
        "employer",
        r"\bwork",
        "Norrfors | Calder Labs",
        "Works at {v}.",
        says=("I work at {v}, in the old mill.", "I work at {v} and we ship on Fridays."),
        moves=("I started at {v} this week, I work at {v} now and no longer at {old}.",),
        agains=("I work at {v}, remember.",),
        asks=("who is my employer?", "which company do I work at?", "where do I work?"),
        predicate="works_at",
        kind="identity",
    ),
    _attribute(
        "role",
        r"\bwork|\brole|\bI'm|\bam\b",
        "data engineer | platform lead | head of infrastructure",
        "Works as a {v}.",
        says=("I work as a {v}.", "my role is {v}."),
        moves=("I got promoted, I work as a {v} now.", "my role is {v} now, not {old} any more."),
        asks=("what is my role at work?", "what is my job title?", "as what do I work?"),
        predicate="has_role",
        kind="identity",
    ),
    _attribute(
        "boss",
        r"\bboss|\bmanager",
        "Ingrid Halvorsen | Tomasz Wilk | Priya Raman",
        "The boss is {v}.",
        says=("my boss is {v}.", "my boss is {v}, who likes long memos."),
        moves=("my new boss is {v}, {old} has left the team.", "my boss is {v} now instead of {old}."),
        asks=("who is my boss?", "what is the name of my manager, my boss?", "who do I report to, who is the boss?"),
    ),
    _attribute(
        "doctor",
        r"\bdoctor",
        "Dr Okafor | Dr Feld",
        "The doctor is {v}.",
        says=("my doctor is {v}.", "my doctor is {v}, on the high street."),
        moves=("my doctor is {v} now, {old} retired.",),
        asks=("who is my doctor?", "what is the name of my doctor?", "which doctor do I see?"),
    ),
    _attribute(
        "medicine",
        r"\btake",
        "cetirizine | loratadine | fexofenadine",
        "Takes {v} every day.",
        says=("I take {v} every day.", "I take {v} every day for the hay fever."),
        moves=("I take {v} every day now instead of {old}.", "I stopped {old}, I take {v} every day now."),
        asks=("which medicine do I take every day?", "what do I take every day for hay fever?", "what medicine?"),
    ),
    _attribute(
        "car",
        r"\bdrive|\bcar\b",
        "Skoda Fabia | Kia Niro",
        "Drives a {v}.",
        says=("I drive a {v}.", "I drive a {v}, and it squeaks."),
        moves=("we sold the {old}, I drive a {v} now.",),
        asks=("what car do I drive?", "which car do I have, what do I drive?", "what is my car?"),
    ),
    _attribute(
        "gym",
        r"\bgym",
        "Tuesdays | Thursdays | Saturdays",
        "Goes to the gym on {v}.",
        says=("I go to the gym on {v}.", "I go to the gym on {v}, so evenings then are full."),
        moves=("I go to the gym on {v} now instead of {old}.",),
        asks=("on which day do I go to the gym?", "when is my gym day?", "what day is gym?"),
        kind="preference",
    ),
    _attribute(
        "standup",
        r"\bstand-?up",
        "Mondays at 10:00 | Wednesdays at 9:30 | Fridays at 11:00 | Thursdays at 14:00",
        "The team's standup is on {v}.",
        says=("our team's standup is on {v}.",),
        moves=("our team's standup is on {v} now, no longer on {old}.",),
        asks=("when is the team's standup?", "what time is our standup?", "on which day is the standup?"),
    ),
    _attribute(
        "heron database",
        r"\bHeron\b",
        "PostgreSQL 15 | PostgreSQL 16 | PostgreSQL 17",
        "Heron runs on {v}.",
        says=("Heron runs on {v}.",),
        moves=("Heron runs on {v} now, we left {old} behind.", "since today Heron runs on {v} instead of {old}."),
        asks=("which PostgreSQL does Heron run on?", "what database version does Heron run on?", "Heron database?"),
    ),
    _attribute(
        "heron python",
        r"\bHeron\b",
        "Python 3.11 | Python 3.12 | Python 3.13",
        "Heron uses {v}.",
        says=("Heron uses {v}.",),
        moves=("Heron uses {v} now instead of {old}.",),
        asks=("which Python does Heron use?", "what Python version is Heron on?", "Heron's Python version?"),
    ),
    _attribute(
        "heron ci",
        r"\bHeron\b",
        "Jenkins | Buildkite",
        "Heron's tests run on {v}.",
        says=("Heron's tests run on {v}.",),
        moves=("Heron's tests run on {v} now, {old} is switched off.",),
        asks=("where do Heron's tests run?", "what do Heron's tests run on?", "which CI runs Heron's tests?"),
    ),
    _attribute(
        "heron lines",
        r"\bHeron\b",
        "100 characters | 120 characters",
        "Lines in Heron have at most {v}.",
        says=("rule for the codebase: lines in Heron have at most {v}.",),
        moves=("the rule changed: lines in Heron have at most {v} now, not {old}.",),
        asks=("how long may lines in Heron be?", "what is the rule for line length in Heron?", "Heron line length?"),
        kind="constraint",
    ),
    _attribute(
        "osprey bundler",
        r"\bOsprey\b",
        "webpack | Vite | Rspack",
        "Osprey is bundled with {v}.",
        says=("Osprey is bundled with {v}.",),
        moves=("Osprey is bundled with {v} now instead of {old}.",),
        asks=("what is Osprey bundled with?", "which bundler does Osprey use?", "Osprey's bundler?"),
    ),
    _attribute(
        "osprey node",
        r"\bOsprey\b",
        "Node 18 | Node 20 | Node 22 | Node 24",
        "Osprey needs {v}.",
        says=("Osprey needs {v}.",),
        moves=("Osprey needs {v} now, {old} is not enough any more.",),
        asks=("which Node does Osprey need?", "what version of Node does Osprey need?", "Osprey's Node version?"),
    ),
    _attribute(
        "osprey host",
        r"\bOsprey\b",
        "Fly | Hetzner",
        "Osprey is deployed to {v}.",
        says=("Osprey is deployed to {v}.",),
        moves=("Osprey is deployed to {v} now instead of {old}.",),
        asks=("where is Osprey deployed to?", "which host is Osprey deployed to?", "Osprey deployed where?"),
    ),
    _attribute(
        "partner",
        r"\bpartner|\bhusband",
        "Jonas",
        "The partner is called {v}.",
        says=("my partner is called {v}.",),
        moves=(),
        asks=("what is my partner called?", "who is my partner?", "what's the name of my partner?"),
        kind="identity",
    ),
    _attribute(
        "partner's work",
        r"\bJonas\b",
        "the harbour office | Marlow Press",
        "Jonas works at {v}.",
        says=("Jonas works at {v}.",),
        moves=("Jonas works at {v} now, he left {old}.",),
        asks=("where does Jonas work?", "which place does Jonas work at?", "what is the employer of Jonas?"),
    ),
    _attribute(
        "Elin's school",
        r"\bElin\b",
        "Roundhay Primary | Castle Dale School",
        "Elin goes to {v}.",
        says=("my daughter Elin goes to {v}.", "Elin goes to {v}."),
        moves=("Elin goes to {v} now, no longer to {old}.",),
        asks=("which school does Elin go to?", "where does Elin go to school?", "what is Elin's school?"),
    ),
    _attribute(
        "Nils's nursery",
        r"\bNils\b",
        "Pebble Nursery | Harbour Nursery",
        "Nils goes to {v}.",
        says=("my son Nils goes to {v}.", "Nils goes to {v}."),
        moves=("Nils goes to {v} now instead of {old}.",),
        asks=("which nursery does Nils go to?", "where does Nils go?", "what is the nursery of Nils?"),
    ),
    _attribute(
        "editor",
        r"\beditor|\buse",
        "Helix | Zed",
        "The editor is {v}.",
        says=("my editor is {v}.",),
        moves=("my editor is {v} now, I gave up {old}.",),
        asks=("which editor do I use?", "what is my editor?", "what editor do I write code in?"),
        kind="preference",
    ),
    _attribute(
        "coffee",
        r"\bcoffee|\bdrink",
        "black coffee | oat flat whites | decaf",
        "Drinks {v} in the morning.",
        says=("I drink {v} in the morning.",),
        moves=("I drink {v} in the morning now, no more {old}.",),
        asks=("what do I drink in the morning?", "which coffee do I drink?", "what drink in the morning?"),
        kind="preference",
    ),
    _attribute(
        "diet",
        r"\beat|\bdiet|\bam\b|\bI'm\b|\bis\b",
        "vegetarian | vegan",
        "Is {v}.",
        says=("I'm {v}, so no bacon.",),
        moves=("I'm {v} now, not just {old} any more.",),
        asks=("what is my diet, am I vegetarian or vegan?", "am I vegan or vegetarian?", "do I eat meat, vegetarian?"),
        kind="preference",
    ),
    _attribute(
        "phone",
        r"\bphone",
        "Fairphone 4 | Pixel 9",
        "The phone is a {v}.",
        says=("my phone is a {v}.",),
        moves=("my phone is a {v} now, the {old} fell into the harbour.",),
        asks=("what phone do I have?", "which phone is mine?", "what is my phone?"),
    ),
    _attribute(
        "bank",
        r"\bbank",
        "Triodos | Starling",
        "The bank is {v}.",
        says=("my bank is {v}.",),
        moves=("my bank is {v} now instead of {old}.",),
        asks=("what is my bank?", "which bank do I use?", "at which bank is my account?"),
    ),
    _attribute(
        "commute",
        r"\bwork",
        "bicycle | train",
        "Goes to work by {v}.",
        says=("I go to work by {v}.",),
        moves=("I go to work by {v} now instead of {old}.",),
        asks=("how do I go to work?", "how do I commute to work, by what?", "by what do I go to work?"),
        kind="preference",
    ),
    _attribute(
        "allergy",
        r"\ballerg",
        "hazelnuts",
        "Is allergic to {v}.",
        says=("I'm allergic to {v}.", "careful, I'm allergic to {v}."),
        moves=(),
        asks=("what am I allergic to?", "which allergy do I have?", "am I allergic to something?"),
        kind="constraint",
    ),
    _attribute(
        "instrument",
        r"\bplay",
        "cello",
        "Plays the {v}.",
        says=("I play the {v}.",),
        moves=(),
        asks=("which instrument do I play?", "what do I play?", "what instrument?"),
    ),
    _attribute(
        "language",
        r"\blearn",
        "Portuguese | Danish",
        "Is learning {v}.",
        says=("I'm learning {v}.",),
        moves=("I'm learning {v} now, I gave up {old}.",),
        asks=("which language am I learning?", "what am I learning?", "what language do I learn?"),
    ),
    _attribute(
        "insurance",
        r"\binsur",
        "Aviva | Axa",
        "The insurance is with {v}.",
        says=("my insurance is with {v}.",),
        moves=("my insurance is with {v} now instead of {old}.",),
        asks=("who is my insurance with?", "which insurance do I have?", "what company is my insurance with?"),
    ),
    _attribute(
        "dog",
        r"\bdog",
        "Rufus",
        "The dog is called {v}.",
        says=("our dog is called {v}.",),
        moves=(),
        asks=("what is our dog called?", "what's the name of the dog?", "who is our dog?"),
    ),
    _attribute(
        "garden",
        r"\ballotment",
        "plot 14 | plot 31",
        "The allotment is {v}.",
        says=("our allotment is {v}.",),
        moves=("our allotment is {v} now, we gave {old} back.",),
        asks=("which plot is our allotment?", "what number is our allotment?", "where is the allotment?"),
    ),
    _attribute(
        "osprey review",
        r"\bOsprey\b",
        "two approvals | one approval",
        "A merge into Osprey needs {v}.",
        says=("rule: a merge into Osprey needs {v}.",),
        moves=("we changed the rule, a merge into Osprey needs {v} now instead of {old}.",),
        asks=("what does a merge into Osprey need?", "how many approvals for a merge into Osprey?", "Osprey approval?"),
        kind="constraint",
    ),
    _attribute(
        "password manager",
        r"\bpassword manager",
        "Bitwarden | KeePassXC",
        "The password manager is {v}.",
        says=("my password manager is {v}.",),
        moves=("my password manager is {v} now, I left {old}.",),
        asks=("what is my password manager?",),
    ),
)

PLANS: Final = (
    "the trip to Lisbon",
    "the dentist appointment",
    "the talk in Utrecht",
    "the boiler inspection",
    "the weekend in Bergen",
    "the driving lesson",
    "the roof repair",
    "the concert in Hull",
)

RECURRING: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "short answers": (
        ("please keep answers short.", "Wants answers to be short."),
        ("I prefer short answers without a preamble.", "Prefers short answers without a preamble."),
        ("again: short answers, I prefer two sentences.", "Prefers short answers of two sentences."),
        ("from now on give me short answers first.", "Wants short answers first."),
    ),
    "tests first": (
        ("I always write the tests first.", "Always writes the tests first."),
        ("I prefer tests first, then the code.", "Prefers tests first, then the code."),
        ("for bugs too, I want the tests first.", "Wants the tests first for bugs too."),
    ),
    "metric units": (
        ("I prefer metric units.", "Prefers metric units."),
        ("always use metric units in recipes.", "Wants metric units in recipes."),
        ("please always give metric units, no ounces.", "Wants metric units and no ounces."),
    ),
}
PROJECT: Final = "kestrel"
"""The project that closes, on the day `CLOSES`."""
CLOSES: Final = 205
KESTREL: Final = (
    ("we decided that Kestrel reads the tide tables from CSV.", "Kestrel reads the tide tables from CSV."),
    ("we decided that Kestrel keeps times in UTC.", "Kestrel keeps times in UTC."),
    ("we decided that Kestrel rejects rows without a station.", "Kestrel rejects rows without a station."),
    ("we decided that Kestrel checks leap days by the calendar.", "Kestrel checks leap days by the calendar."),
)
EVENT: Final = ("sensor 3 on the pier was offline this morning.", "Sensor 3 on the pier was offline.")

RECURRING_WORDS: Final = ("short", "tests first", "metric units")

TRIVIA: Final[dict[str, tuple[str, str]]] = {
    "Biscuit": ("our neighbour's cat is called Biscuit.", "The neighbour's cat is called Biscuit."),
    "stroopwafels": ("my colleague Bas brings stroopwafels on Fridays.", "Bas brings stroopwafels on Fridays."),
    "Moomin": ("my favourite mug is the Moomin one.", "The favourite mug is the Moomin one."),
    "teal": ("our bike shed is painted teal.", "The bike shed is painted teal."),
    "Gunnar": ("my grandfather's name was Gunnar.", "The grandfather's name was Gunnar."),
    "chess": ("I used to play chess at school.", "Used to play chess at school."),
    "Wensleydale": ("my favourite cheese is Wensleydale.", "The favourite cheese is Wensleydale."),
    "lighthouse": ("we got married at the lighthouse.", "Got married at the lighthouse."),
    "size 41": ("my shoes are size 41.", "The shoes are size 41."),
    "Dvorak": ("I tried a Dvorak keyboard for a month in 2019.", "Tried a Dvorak keyboard in 2019."),
    "quince": ("we have a quince tree in the yard.", "Has a quince tree in the yard."),
    "Tuva": ("my cousin Tuva lives in Bodø.", "Tuva (cousin) lives in Bodø."),
}
