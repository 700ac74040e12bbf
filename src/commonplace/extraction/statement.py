"""The statement that a clause makes, and the vocabulary that the frames of statements share.

A frame is a pattern for one way of saying something that lasts, with the function that makes a statement of it. Frames
are in `personal_frames`, `household_frames`, `standing_frames` and `dated_frames`. A clause that no frame knows can be
a statement too, if a classifier takes it for something that lasts (`plain_statement`): the classifier knows what is
worth keeping, and not whether the words make a sentence.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from commonplace.extraction.third_person import ADVERBS, about_person
from commonplace.model.fact import FactClass
from commonplace.model.learning import FactRelation
from commonplace.model.text import LazyPattern


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainStatement:
    """What a clause states, as a sentence of its own, before its times are made absolute.

    `slot` names what can have one value in a conversation, so that a later value replaces an earlier one. `starts`: a
    time in it is when it began. `joins`: it needs the clause before it, of the same sentence, to be understood.
    `needs_date`: it is worth keeping only with a day of the calendar. `is_value`: it is the value of a thing that the
    conversation has named before, so that the rest of the sentence and the event at hand belong to it.
    """

    text: str
    kind: str
    fact: FactClass = "fact"
    relation: FactRelation = "new"
    ends: str = ""
    slot: str = ""
    subject: str = ""
    predicate: str = ""
    object: str = ""
    starts: bool = False
    joins: bool = False
    needs_date: bool = False
    is_value: bool = False


Builder = Callable[[re.Match[str]], PlainStatement | None]


@dataclass(frozen=True, slots=True)
class Frame:
    """One way of saying something that lasts; `build` may find that the words are about something else."""

    pattern: LazyPattern
    build: Builder


def frame(pattern: str, build: Builder) -> Frame:
    """The frame for clauses that begin with the pattern; `@adv@` stands for adverbs, `@kin@` for relatives."""
    for name, words in _VOCABULARY.items():
        pattern = pattern.replace(f"@{name}@", words)
    return Frame(LazyPattern(pattern, re.IGNORECASE), build)


def statements(clause: str, frames: Iterable[Frame]) -> Iterator[PlainStatement]:
    """The statements of the frames that fit the clause, in the order of the frames."""
    for each in frames:
        if (match := each.pattern.match(clause)) and (statement := each.build(match)):
            yield statement


KIN: Final = (
    "wife|husband|partner|girlfriend|boyfriend|fiancée?|spouse|mother|father|mum|mom|dad|parents"
    "|sister|brother|siblings?"
    "|sisters|brothers|son|daughter|sons|daughters|kids?|child|children|twins|baby|grandmother"
    "|grandfather|grandma|grandpa"
    "|granddaughter|grandson|aunt|uncle|cousin|niece|nephew|mother-in-law|father-in-law|stepson"
    "|stepdaughter|dog|cat|cats"
    "|dogs|puppy|kitten|horse|rabbit|parrot|eldest|youngest|oldest|\\d+[- ]year[- ]olds?"
)
ROLES: Final = (
    "engineer|developer|programmer|designer|architect|manager|director|lead|head|owner|founder"
    "|co-founder|ceo|cto|cfo|coo"
    "|teacher|professor|lecturer|student|nurse|doctor|physician|surgeon|dentist|therapist|psychologist|psychiatrist"
    "|lawyer|attorney|accountant|controller|analyst|scientist|researcher|consultant|writer|author|journalist|editor"
    "|photographer|musician|artist|illustrator|chef|baker|waiter|barista|(?:bus|taxi|truck|lorry"
    "|train|tram) driver|pilot|electrician|plumber|carpenter"
    "|mechanic|farmer|gardener|librarian|translator|interpreter|salesperson|secretary"
    "|administrator|technician|freelancer|contractor|intern|apprentice|trainee|veterinarian|vet|pharmacist|midwife"
    "|paramedic|firefighter|soldier|officer|postdoc|phd student|principal|supervisor|coordinator|specialist|advisor"
    "|planner|marketer|recruiter|trainer|instructor|tutor|captain|biologist|chemist|physicist"
    "|mathematician|historian|economist|geologist|vegetarian|vegan|pescatarian|widow|widower|veteran"
    "|pensioner|retiree"
    "|trustee|treasurer|chairman|chairwoman|landlord|homeowner|beekeeper"
)
CONDITIONS: Final = (
    r"(?:type [12] )?diabet\w+|asthma\w*|epilep\w+|migraines?|co?eliac(?: disease)?|arthritis"
    r"|rheumatoid arthritis|adhd"
    r"|autis\w+|dyslexi\w+|hypertension|high blood pressure|eczema|psoriasis|hay fever|lupus|crohn's(?: disease)?"
    r"|ibs|pcos|endometriosis|tinnitus|glaucoma|anaemi\w+|anemi\w+|osteoporosis|depression|gout"
    r"|scoliosis|sleep apn\w+"
    r"|colou?r[- ]?blind|lactose[- ]intoleran\w+|gluten[- ]intoleran\w+|hypothyroid\w+|fibromyalgia"
    r"|multiple sclerosis|ms"
    r"|parkinson's|a pacemaker|an? [\w-]+ (?:allergy|intolerance)|reynaud's|vertigo|insomnia"
    r"|heart condition|back problems?"
)
_VOCABULARY: Final = {
    "adv": rf"(?:(?:{ADVERBS})\s+)*",
    "i": r"(?:i|we)\s+",
    "be": r"(?:i'm|im|i am|we're|we are)\s+",
    "have": r"(?:i|we)(?:'ve| have|'ve got| have got)\s+",
    "kin": rf"(?:{KIN})",
    "role": rf"(?:{ROLES})",
    "condition": rf"(?:{CONDITIONS})",
    "weekdays": r"(?:mon|tues|wednes|thurs|fri|satur|sun)days",
}

_DEICTIC: Final = LazyPattern(
    r"(?i)\b(?:this(?! (?:week|month|year|season|spring|summer|autumn|winter|semester|term|project"
    r"|repo|repository|codebase|team|company|business|house|household|country)\b)|that"
    r"|these|those|(?-i:[Ii]t)|them"
    r"|here|there|his|its|their|him|you|your|yours|the (?:first|second|third|last)(?: (?:one|option|version))?$"
    r"|the (?:latter|former|same|other|above|following)|option|above|below|everything you|something"
    r"|anything|stuff|ones|(?:which|another|a new) one|idea|ideas|suggestion\w*"
    r"|recommendation\w*|sound of|example|answer|version|draft|result)\b"
)
_LISTENER: Final = LazyPattern(r"(?i)\b(?:you|your|yours|answers?|suggestions?|drafts?|examples?|ideas?)\b")
_NAMED: Final = LazyPattern(r"(?<![.!?]\s)(?<!^)\b[A-ZÄÖÜÅÉ][\w&.-]*|\d|\b[a-z]+[A-Z]\w*|\w+\.\w{2,4}\b")
_CAPITAL: Final = LazyPattern(r"[A-ZÄÖÜÅÉØ]")
_PAST_VERB: Final = LazyPattern(
    r"(?i)^(?:\w+ed|was|were|had|did|went|got|took|came|saw|made|found|thought|felt|knew|said|kept"
    r"|left|ran|gave|forgot|put|set|wore|ate|bought"
    r"|brought|met|won|lost|read|sat|slept|spent|wrote|drove|began|chose|tried|haven't|hadn't|didn't|wasn't|weren't)$"
)

_MOODS: Final = LazyPattern(
    r"(?i)^(?:(?:so|very|really|too|quite|pretty|a bit|a little|not|still|completely|totally|just|only"
    r"|now) )*(?:fine|good"
    r"|bad|great|tiny|small|big|huge|long|short|slow|fast|broken|dead|late|early|tired|busy|ok|okay"
    r"|full|empty|down|up|red"
    r"|green|ready|done|over|gone|cold|hot|wet|nice|ugly|expensive|cheap|tight|limited|unclear|clear"
    r"|complicated|simple"
    r"|easy|hard|different|similar|wrong|right|true|false|ridiculous|quiet|loud|annoying|boring|on fire|missing"
    r"|interesting|beautiful|lovely|awful|terrible|amazing|delicious|perfect|important|to [a-z]+|that|how|why|what|if"
    r"|where|the same|as follows|below|above|based on|about|[a-z]+ing)\b"
)


def is_mood(value: str) -> bool:
    """True if the value is how something is at the moment, or no value at all: "broken", "too slow", "getting late"."""
    return bool(_MOODS.match(value))


def is_vague_rule(words: str) -> bool:
    """True if a rule points at the conversation; a rule may speak to the listener: "in mails you write for me"."""
    return bool(_DEICTIC.search(_LISTENER.sub("", words)))


def is_vague(words: str) -> bool:
    """True if the words point at the conversation: "this one", "your suggestion"; alone they mean nothing."""
    return bool(_DEICTIC.search(words))


def has_name(words: str) -> bool:
    """True if the words have a name, a number or a file name."""
    return bool(_NAMED.search(f"x {words}"))


def has_capital(words: str) -> bool:
    """True if a word of these begins with a capital letter."""
    return bool(_CAPITAL.search(words))


def is_past(verb: str) -> bool:
    """True if the verb is in the past tense."""
    return bool(_PAST_VERB.match(verb))


_FEWEST_WORDS, _MOST_WORDS = 3, 32
_DEPENDENT: Final = LazyPattern(
    r"(?i)(?:he|she|it|they|this|that|these|those|there|here|him|her|his|its|their|them|you|your|which|who|whose"
    r"|because|since|while|when|whenever|after|before|until|if|as|like|than|so|then|and|but|or|nor|except|for example"
    r"|such|also|too|not|no|yes|instead|otherwise|still|now|first|second|last|next|one|both|same|mine|ours|theirs"
    r"|i'll|we'll|i can|we can|i should|we should|i could|let's|i'd|we'd|you'll)(?![\w'])(?! since)"
)
_PRONOUN_VERB: Final = LazyPattern(r"(?i)(?:he|she|it|they|that|this|there|you)'(?:s|re|ve|ll|d)\b")
_LOOSE_END: Final = LazyPattern(r"(?i)\b(?:and|but|or|so|while|since|because|though|to|of|with|for|the|a|an|my|our)$")
_VERB: Final = LazyPattern(
    r"(?i)\b(?:is|are|am|was|were|has|have|had|does|do|did|don't|doesn't|didn't|isn't|aren't|wasn't|haven't|hasn't"
    r"|can't|cannot|won't|must|will|gets?|goes|takes?|makes?|needs?|wants?|keeps?|runs?|lives?|works?|likes?|hates?"
    r"|loves?|prefers?|uses?|pays?|costs?|starts?|ends?|opens?|closes?|turns?|moved|left|quit|sold|bought|stopped"
    r"|switched|changed|joined|signed|booked|decided|settled|agreed|never|always|only|no)\b"
    r"|^(?:i|we) [a-z]+|\b\w+'(?:m|re|ve|s)\b|\b\w{3,}(?:s|ed)\b"
)
_TALK: Final = LazyPattern(
    r"(?i)\b(?:interested in|excited|never (?:reali[sz]ed|thought|knew|considered)|up for|needs? (?:help|to)|need a"
    r"|wants? (?:to|what)|trying (?:to|out)|been (?:trying|thinking|experimenting|getting|meaning|looking)|curious"
    r"|wondering|just (?:ordered|participated|started|got|had|finished)|for instance|for example|speaking of"
    r"|reali[sz]ed|(?:goal|budget) is|struggl\w+|happy (?:to|with)|glad|worried|good experiences?|lately|pfft)\b"
)
"""What people say along the way: interests, efforts and news of the day."""
_RULE: Final = LazyPattern(
    r"(?i)^(?:always|never|please|don't|use|write|keep|give|put|send|call|answer|reply|address|no )\b"
    r"|\b(?:always|never|every time|from now on|as a rule|standing rule|in future|each time)\b"
)
_TASTE: Final = LazyPattern(
    r"(?i)\b(?:prefer|love|hate|can't stand|dislike|enjoy|favou?rite|allergic|don't eat|don't drink|don't like)"
)
_DATED: Final = LazyPattern(
    r"(?i)\b(?:on|from|by|until|till) (?:the )?\d{1,2}(?:st|nd|rd|th)?\b|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? "
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december) \d"
)
_DECIDED: Final = LazyPattern(r"(?i)\bwe(?:'ve)? (?:decided|settled|agreed|chose|went with|picked|migrated|switched)\b")


def plain_statement(text: str) -> PlainStatement | None:
    """The clause as a statement about the person; None if it does not stand alone."""
    words = text.split()
    if not _FEWEST_WORDS <= len(words) <= _MOST_WORDS or is_vague(text):
        return None
    if (
        _TALK.search(text)
        or _DEPENDENT.match(text)
        or _PRONOUN_VERB.search(text)
        or _LOOSE_END.search(text)
        or not _VERB.search(text)
    ):
        return None
    kind, fact = _kind_of(text)
    return PlainStatement(text=about_person(text), kind=kind, fact=fact)


def _kind_of(text: str) -> tuple[str, FactClass]:
    if _DECIDED.search(text):
        return "decision", "fact"
    if _RULE.search(text) or _TASTE.search(text):
        return "preference", "preference"
    return ("event", "event") if _DATED.search(text) else ("fact", "fact")
