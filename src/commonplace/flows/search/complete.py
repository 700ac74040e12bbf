"""While a person types: the words that the unfinished last word of a question may become."""

import re
from collections import Counter
from typing import Final

from commonplace.flows.stores import Session
from commonplace.model.text import fold_stored

_LAST_WORD: Final = re.compile(r"\w+\Z")
_WORD: Final = re.compile(r"\w+")
_ENTRY_DIGITS: Final = re.compile(r"-[0-9a-f]{6,16}\Z")  # the title of an entry is made of its words and these
_SHORTEST: Final = 2  # letters; one begins too many words to mean any


def complete_last_word(text: str, session: Session, *, limit: int) -> tuple[str, ...]:
    """Words of titles and names that begin with the last one of the text, in most of them first; not that word itself.

    None if the text ends in a space or a sign. Raises IndexDamaged.
    """
    match = _LAST_WORD.search(text)
    beginning = fold_stored(match[0]) if match else ""
    if len(beginning) < _SHORTEST:
        return ()
    with session.stores.index.reader() as reader:
        titles = reader.titles_with(beginning, sensitive=session.sees_sensitive)
    words = Counter(word for title in titles for word in set(_WORD.findall(_ENTRY_DIGITS.sub("", title))))
    longer = [word for word in words if word.startswith(beginning) and word != beginning]
    return tuple(sorted(longer, key=lambda word: (-words[word], len(word), word))[:limit])
