"""Which texts tell a model what to do. What a program adds to a note that prompts show as the person's word may not."""

from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.model.untrusted_text import seen_as

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


def directive_reason(text: str) -> str:
    """Why the text may be read as an instruction to a model, as a sentence; empty for a plain statement.

    When in doubt it is one: what it says then waits for the person, and is not lost. Letters of other shapes or other
    alphabets that look like these are read as these.
    """
    text = seen_as(text)
    if _ORDERS.search(text):
        return "It reads like an order."
    if _TO_THE_MODEL.search(text):
        return "It speaks to or about an assistant."
    if _RULES.search(text):
        return "It reads like a rule or a permission."
    return "It names an address, a command or a credential." if _REACHES_OUT.search(text) else ""
