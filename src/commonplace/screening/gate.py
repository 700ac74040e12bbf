"""The gate of memory: which texts may be saved, which wait for review, and which are refused.

A text that tells a model what to do may not be added by a program to a note that prompts show as the person's word.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from commonplace.model import ActorKind, Trust
from commonplace.model.text import LazyPattern
from commonplace.model.untrusted_text import seen_as
from commonplace.screening.junk import junk_reason
from commonplace.screening.secrets import find_secrets


@dataclass(frozen=True, slots=True)
class GateResult:
    """The gate's verdict: `reason` is a word for programs, `message` a sentence for people, without the secret."""

    verdict: Literal["allow", "stage", "refuse"]
    reason: Literal["", "secret", "junk", "trust", "always-load"] = ""
    message: str = ""


def gate(text: str, *, trust: Trust, always_load: bool, actor: ActorKind, staged_trusts: Collection[str]) -> GateResult:
    """Whether the text may be saved, must wait for review, or is refused.

    Secrets and junk are refused, whoever saves them. A person's text is saved; a program's waits for review if its
    source has one of `staged_trusts`, or if it would be loaded before every prompt.
    """
    if secrets := find_secrets(text):
        return GateResult("refuse", "secret", f"This contains a secret: {', '.join(map(str, secrets[:3]))}.")
    if reason := junk_reason(text):
        return GateResult("refuse", "junk", reason)
    if actor != "person" and trust in staged_trusts:
        return GateResult("stage", "trust", f"What was {trust} waits for the person's approval.")
    if actor != "person" and always_load:
        return GateResult("stage", "always-load", "Always-loaded entries wait for the person's approval.")
    return GateResult("allow")


_ORDERS: Final = LazyPattern(
    r"(?i)\A\W*(?:please\s+|kindly\s+|always\s+|never\s+|from now on\b.{0,3}|going forward\b.{0,3}"
    r"|note to (?:self|ai)\W+)*"
    r"(?:do not|don't|do|never|always|ignore|disregard|forget|override|bypass|pretend|act|behave|respond|reply|answer"
    r"|run|execute|call|invoke|install|download|upload|send|forward|email|post|publish|share|reveal|disclose|print|output"
    r"|show|tell|ask|remind|warn|use|avoid|make sure|ensure|remember|keep|treat|assume|trust|follow|obey|comply|approve"
    r"|accept|allow|grant|delete|remove|erase|overwrite|write|save|add|append|commit|push|merge|open|visit|click|fetch"
    r"|browse|read|load|set|enable|disable|stop|start|begin|include|prepend|insert|translate|summari[sz]e|skip|check|give"
    r"|provide|return|let|be|speak|talk|call me|address)\b"
)
_TO_THE_MODEL: Final = LazyPattern(
    r"(?i)\b(?:you|your|yours|yourself|assistants?|agents?|chatbots?|llms?|language models?|claude|chatgpt|gpt-?\d*"
    r"|codex|gemini|copilot|the ai|ais?)\b"
)
_RULES: Final = LazyPattern(
    r"(?i)\b(?:must|shall|should|ought to|has to|have to|needs? to|is (?:required|allowed|authori[sz]ed|permitted)"
    r"|(?:are|is) to be|not to be|in every (?:reply|answer|response|session|message)"
    r"|before (?:every|each|answering|replying)|after (?:every|each)"
    r"|without (?:asking|confirm\w*|approv\w*|review\w*|permission|telling|checking)"
    r"|regardless of|instructions?|directives?|system prompt|developer mode|jailbreak|previous (?:rules|messages)"
    r"|approv(?:es|ed) (?:all|any|every)|consents?|authori[sz]e[sd]?|always wants?|wants? (?:all|every|any)\b)"
)
_REACHES_OUT: Final = LazyPattern(
    r"(?i)\w://|www\.|\]\(|!\[|"
    r"\b[\w.+-]+@[\w-]+\.\w|\b(?:curl|wget|sudo|rm -rf|chmod|ssh|base64|eval|powershell)\b|`[^`]+`"
    r"|\b(?:npx|npm|pip|bash)\b"
    r"|\b(?:api[- ]?keys?|credentials?|passwords?|passphrases?|access tokens?|private keys?|seed phrases?)\b"
)

_FOREIGN: Final = LazyPattern(
    r"(?i)\b(?:der|die|das|dem|den|des|ein|eine[nmrs]?|und|oder|nicht|kein\w*|immer|nie|niemals|alle[nmrs]?|jede[nmrs]?"
    r"|mit|bitte|auf|aus|von|zu|wird|ist|sind|hat|ich|du|le|la|les|un|une|et|ou|ne|pas|toujours|jamais|tous|toutes|chaque"
    r"|avec|dans|est|el|los|las|una|y|o|nunca|siempre|todos|todas|cada|con|para|por|que|es|il|lo|gli|sempre|mai|tutti"
    r"|tutte|ogni|che|non|per|o|os|uma|e|não|nao|sempre|em|com|het|een|en|niet|altijd|nooit|elke|met|voor|van|zijn|nie"
    r"|zawsze|nigdy|wszystk\w*|och|att|inte|alltid|aldrig|det|som|ikke|altid|alltid|og)\b"
)
_ENGLISH: Final = LazyPattern(
    r"(?i)\b(?:the|a|an|of|and|or|in|on|at|to|is|are|was|were|has|have|had|with|for|from|by|as|not|no|his|her|their|my"
    r"|every|each|since|before|after|when|but|likes?|loves?|hates?|prefers?|lives?|works?|uses?|owns?|drinks?|eats?)\b"
    r"|\A\W*[A-Z]?[a-z]+s\b"
)
_OTHER_LETTERS: Final = LazyPattern(r"(?<!\w)[^\W\d_A-Z]*[^\W\d_A-Za-z]\w*")


def _is_english(text: str) -> bool:
    """True if the text is in the one language whose instructions are known; a name may have any letters."""
    if _FOREIGN.search(text) or any(not word[0].isupper() for word in _OTHER_LETTERS.findall(text)):
        return False
    return bool(_ENGLISH.search(text)) or (len(text.split()) < 3 and text.isascii())


def reads_as_instruction(cue: str) -> bool:
    """True if a cue of an entry speaks to whoever reads it, and names no situation.

    One sign alone is none: honest cues name assistants, commands and deeds. Of 1,632 honest ones 5 have two signs.
    """
    seen = seen_as(cue)
    return sum(bool(each.search(seen)) for each in (_ORDERS, _TO_THE_MODEL, _RULES, _REACHES_OUT)) > 1


def directive_reason(text: str) -> str:
    """Why the text may be read as an instruction to a model, as a sentence; empty for a plain statement.

    When in doubt it is one: what it says then waits for the person, and is not lost. So is every text in another
    language than English. Letters of other shapes or other alphabets that look like these are read as these.
    """
    is_english = _is_english(text)
    text = seen_as(text)
    if _ORDERS.search(text):
        return "It reads like an order."
    if _TO_THE_MODEL.search(text):
        return "It speaks to or about an assistant."
    if _RULES.search(text):
        return "It reads like a rule or a permission."
    if _REACHES_OUT.search(text):
        return "It names an address, a command or a credential."
    return "" if is_english else "It is not in English, so that nobody can tell whether it is an instruction."
