"""Commitments in what a person says: "I'll send Ada the plan by Friday" makes one, "I sent Ada the plan" closes it.

Only a clause makes a commitment that says who, a deed and a day at its end, and that can be understood alone: "I'll
send it by Friday" does not say what. Somebody else must have promised or agreed; what they "will" do may be the
person's guess.

Only a clause in the past tense closes one, with the verb of the commitment (`send`: sent), or one that says that
something is finished, and with every other word of it that carries meaning. If several commitments fit, none is closed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from commonplace.facts.commitments import Commitment, without_day
from commonplace.facts.triples import ME, strip_links
from commonplace.facts.words import denials, stem_of
from commonplace.model.text import fold_phrase


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OWN_PROMISE: Final = re.compile(
    r"(?:(?:i|we)(?:['’]ll| will)|(?:(?:i|we) )?(?:have to|need to|must)|i(?:['’]ve| have) (?:got )?to"
    r"|(?:please )?(?:remind me|don['’]t let me forget) to"
    r"|(?:i|we)(?:['’]ve| have)? (?:promised|agreed|committed|undertook)(?: [^\W\d_][\w'’-]*)? to)[ ]+",
    re.IGNORECASE,
)
_OTHERS_PROMISE: Final = re.compile(
    r"(?P<who>(?-i:[A-ZÄÖÜÅ])[\w'’-]+(?: (?-i:[A-ZÄÖÜÅ])[\w'’-]+)?) (?:has )?(?:promised|agreed|committed)"
    r"(?: me| us)? to[ ]+",
    re.IGNORECASE,
)
_OWN_THINGS: Final = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
_DUE: Final = re.compile(r",? (?:that(?:['’]s| is)|which is) due\Z", re.IGNORECASE)
_PROMISE_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_NO_DEEDS: Final = _word_set(
    "be become have feel know see think want need wait stay live like love try hope get go come remain keep leave "
    "probably maybe never not just still only also definitely hopefully"
)
"""Words after which no deed is promised that could be closed one day."""
_UNCLEAR: Final = _word_set("it that this these those them him her they he she you your there something someone")
_LEAST_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class Promise:
    """Who has to do what by which day."""

    who: str
    what: str
    due: str


def promise_of(clause: str, *, day: str) -> Promise | None:
    """The promise that a clause makes which was said on that day; None if it makes none."""
    words = " ".join(clause.split())
    match = _OWN_PROMISE.match(words) or _OTHERS_PROMISE.match(words)
    if match is None:
        return None
    what, due = without_day(words[match.end() :], day)
    what = _DUE.sub("", _OWN_THINGS.sub("the", what)).strip(" .,;:!-")
    said = [word.casefold().replace("’", "'") for word in _PROMISE_WORD.findall(what)]
    is_clear = len(said) >= _LEAST_WORDS and said[0] not in _NO_DEEDS
    is_open = bool(denials(what)) or any(word in _UNCLEAR for word in said)
    if not due or due < day or not is_clear or is_open:
        return None
    return Promise(match.groupdict().get("who") or ME, what, due)


_IRREGULAR: Final = {
    past: base
    for base, pasts in (
        ("begin", "began begun"),
        ("bring", "brought"),
        ("build", "built"),
        ("buy", "bought"),
        ("choose", "chose chosen"),
        ("cut", "cut"),
        ("do", "did done"),
        ("draw", "drew drawn"),
        ("find", "found"),
        ("forward", "forwarded"),
        ("get", "got gotten"),
        ("give", "gave given"),
        ("hand", "handed"),
        ("hold", "held"),
        ("leave", "left"),
        ("make", "made"),
        ("meet", "met"),
        ("pay", "paid"),
        ("put", "put"),
        ("read", "read"),
        ("see", "saw seen"),
        ("sell", "sold"),
        ("send", "sent"),
        ("set", "set"),
        ("speak", "spoke spoken"),
        ("take", "took taken"),
        ("talk", "talked"),
        ("teach", "taught"),
        ("tell", "told"),
        ("write", "wrote written"),
    )
    for past in pasts.split()
}
_FINISHED: Final = frozenset({"finished", "completed", "did", "done"})
_GIVEN: Final = frozenset({*_FINISHED, "sent", "delivered", "made", "submitted", "wrote", "handed", "shared", "gave"})
"""Verbs that close a commitment which names a thing and no deed: `slides for Monday`."""
_EMPTY: Final = _word_set(
    "a an the to of for in on at by with from and or my our your his her their its this that it them him me us as into "
    "up out off over about"
)
_SPEAKER: Final = re.compile(r"(?i:i|we)\b(?:['’]ve)?")
_ADVERBS: Final = _word_set("just already finally today yesterday now also have has had")
_UNDONE: Final = _word_set("almost nearly half partly partially should would could will want wanted tried forgot")
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def completed_commitment(clause: str, commitments: Sequence[Commitment]) -> Commitment | None:
    """The one open commitment of which the clause says that it is done; None if it is not certain."""
    fitting = {
        (fold_phrase(each.who), fold_phrase(each.what)): each for each in commitments if _completes(clause, each)
    }
    return next(iter(fitting.values())) if len(fitting) == 1 else None


def _completes(clause: str, commitment: Commitment) -> bool:
    said = _after_subject(clause, commitment.who)
    words = [word for word in _words(said) if word not in _ADVERBS]
    if not words or denials(clause) or any(word in _UNDONE for word in _words(clause)):
        return False
    what = [word for word in _words(strip_links(commitment.what)) if word not in _EMPTY]
    verb, others = words[0], {stem_of(word) for word in words[1:]}
    if what and _is_past_of(verb, what[0]):
        needed = what[1:]
    elif verb in _FINISHED or (verb in _GIVEN and not _may_be_verb(commitment.what)):
        needed = what
    else:
        return False
    return bool(needed) and all(stem_of(word) in others for word in needed)


def _may_be_verb(what: str) -> bool:
    """True if the commitment may begin with a verb, as `send the offer`, and not with a thing, as `drawing of it`."""
    words = _words(strip_links(what))
    return len(words) > 1 and words[1] in _EMPTY - {"of", "for"}


def _after_subject(clause: str, who: str) -> str:
    """What the clause says that this person did; empty if it is about somebody else."""
    clause = clause.strip()
    if who == ME:
        match = _SPEAKER.match(clause)
        return clause[match.end() :] if match else ""
    name = strip_links(who)
    for called in (name, name.partition(" ")[0]):
        if clause.casefold().startswith(f"{called.casefold()} "):
            return clause[len(called) :]
    return ""


def _words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]


def _is_past_of(word: str, verb: str) -> bool:
    if word in _IRREGULAR:
        return _IRREGULAR[word] == verb
    endings = (f"{verb}ed", f"{verb}d", f"{verb}{verb[-1]}ed", f"{verb[:-1]}ied")
    return word in endings
