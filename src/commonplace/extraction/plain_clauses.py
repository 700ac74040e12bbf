"""A clause that no frame knows, as a statement: for clauses that a classifier takes for something that lasts.

The classifier knows what is worth keeping, and not whether the words make a sentence: that is decided here.
"""

from typing import Final

from commonplace.extraction.statement import PlainStatement, is_vague
from commonplace.extraction.third_person import about_person
from commonplace.model.fact import FactClass
from commonplace.model.text import LazyPattern

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
