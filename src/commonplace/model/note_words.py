"""Words of conversations, calendars, models and other notes, made plain for the text of a note.

A note gives a meaning to more than a terminal does: headings, links, embeds, tags, tasks, structured lines, block ids
and comments. Untrusted words must be none of these when a program writes them into a note.
"""

import re
from typing import Final

from commonplace.model.untrusted_text import clean_text, line_of

LONGEST: Final = 280
"""Characters of a bullet: a prompt gets three days of them."""

_LINK: Final = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)")
_LEADING: Final = re.compile(r"(?:[-*+>#=|\s]|\[[ xX]?\]|\d{1,3}[.)]\s)+")
_FIELD: Final = re.compile(r"\s*::\s*")
_TAG_SIGN: Final = re.compile(r"(?<!\S)#+(?=\S)")
_HIDDEN: Final = re.compile(r"%%|<!--|-->|`{3,}|~{3,}|\$\$")
_LATE_BLOCK: Final = re.compile(r"\s\^(?=[A-Za-z0-9-]+\s*\Z)")


def plain_words(text: str, *, most: int = LONGEST) -> str:
    """The text as the words of a bullet: on one line, cut at a word, without anything that a note gives a meaning."""
    words = _LINK.sub(lambda link: link[2] or link[1] or link[3] or "", clean_text(text))
    words = _HIDDEN.sub(" ", words.replace("[[", "").replace("]]", ""))
    words = _FIELD.sub(": ", _TAG_SIGN.sub("", words))
    words = line_of(_LEADING.sub("", words, count=1) if _LEADING.match(words) else words)
    if words.startswith("["):
        words = words.replace("[", "", 1).replace("]", "", 1).lstrip("\\")
    words = _LATE_BLOCK.sub(" ", words)
    if len(words) > most:
        words = f"{words[: most - 4].rpartition(' ')[0] or words[: most - 4]} ..."
    return words
