"""Which texts are not worth keeping: nothing in them, or only what people, programs and pages say by habit."""

from commonplace.policy.courtesies import courtesy_reason
from commonplace.policy.gibberish import gibberish_reason
from commonplace.policy.tool_noise import noise_reason


def junk_reason(text: str) -> str:
    """Why the text is not worth keeping, as a sentence; empty when it is.

    Short is not junk: one word may say something. A text in which one sentence says something is kept.
    """
    if not text.strip():
        return "There is no text."
    reason = gibberish_reason(text) or courtesy_reason(text) or noise_reason(text)
    return f"This is not worth keeping: {reason}." if reason else ""
