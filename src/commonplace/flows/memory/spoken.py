"""Whether the person said it: the words that an agent quotes stand in what the person wrote within the last day.

What they wrote is known from where an agent cannot write: from transcripts that we read ourselves, and from the prompts
that hooks hand over (`PromptLog`). Code, quotations and pasted text in it are somebody else's words. A quotation proves
no more than that: so every name and number of a new statement must stand in it, more than half of the words in which
the statement differs from what it ends, and all of them if it differs in nothing but such words as "not". What it ends
must be near to it, or named by a rare word of the quotation. Of an entry that is only to be forgotten, the quotation
has a word that is rare in this memory.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from commonplace.facts.triples import ME
from commonplace.facts.words import (
    bare_words,
    folded_words,
    plain_signs,
    said_words,
    stem_of,
    without_punctuation,
)
from commonplace.flows.memory.neighbours import neighbours
from commonplace.flows.memory.new_entry import may_end
from commonplace.flows.stores import Session
from commonplace.index.base import IndexReader
from commonplace.model import Candidate, Fact, Filters, Thread
from commonplace.model.layout import MEMORY
from commonplace.questions.words import STOP_WORDS, query_words
from commonplace.sources.conversations import ISOLATED

_FRESH: Final = timedelta(hours=24)
_FEWEST_WORDS: Final = 3  # of a quotation that is not all that the person wrote: "Oslo" is said for many reasons
_MOST_MESSAGES: Final = 400  # of one conversation in which a quotation is looked for, the last ones
_FEW: Final = 5  # entries: a word that no more have is rare in any memory
_SHARE: Final = 0.05  # of the passages of a memory: a word that no more have is rare
_DIGITS: Final = re.compile(r"\d+")
_SENTENCE_ENDS: Final = (".", "!", "?")
_LONGEST_TITLE: Final = 5  # characters of an abbreviation before a name, such as `Prof.`


def is_spoken_change(quote: str, new: Candidate | Fact, ended: Sequence[Fact], session: Session) -> bool:
    """True if an agent's change of what only the person may end is the person's: they said so in the quoted words."""
    own = [each for each in ended if needs_the_person(each, session)]
    if not own or not _is_said(quote, session) or not _has_change(quote, new, own):
        return False
    with session.stores.index.reader() as reader:
        is_named = all(_has(quote, word) for word in _needed(new, reader, session))
        unnamed = [each for each in own if not _has_rare_word(quote, each.text, reader)]
    return is_named and (not unnamed or _are_near(unnamed, new, session))


def is_spoken_wish(quote: str, fact: Fact, session: Session) -> bool:
    """True if the wish to forget the entry is the person's: a rare word of the entry stands in what they said."""
    if not needs_the_person(fact, session) or not _is_said(quote, session):
        return False
    with session.stores.index.reader() as reader:
        return _has_rare_word(quote, fact.text, reader)


def needs_the_person(fact: Fact, session: Session) -> bool:
    """True if this agent may end the entry only by the person's own words."""
    kind = session.actor.kind
    return (
        kind == "agent" and not may_end(fact, actor=kind, is_spoken=False) and may_end(fact, actor=kind, is_spoken=True)
    )


# ---------------------------------------------------------------- what the person wrote


def _is_said(quote: str, session: Session) -> bool:
    """True if the person wrote the quotation themselves, within the last day."""
    words = said_words(quote)
    return bool(words) and any(_stands(words, text) for text in _texts(session))


def _stands(quote: tuple[str, ...], text: str) -> bool:
    """True if the quotation stands in one of the parts of a message that are the person's own words."""
    from commonplace.extraction.speech import own_parts  # its expressions take a moment to load

    parts = [said_words(part) for part in own_parts(text)]
    if len(quote) < _FEWEST_WORDS:
        return parts == [quote]
    starts = ((part, start) for part in parts for start in range(len(part) - len(quote) + 1))
    return any(part[start : start + len(quote)] == quote for part, start in starts)


def _texts(session: Session) -> Iterator[str]:
    """What the person wrote within the last day: the prompts of this process's hooks, then captured messages."""
    stores, now = session.stores, session.clock()
    since, author = now - _FRESH, session.author
    if stores.members() and not author:
        return  # nobody knows which of them the agent works for
    yield from stores.prompts.texts(since=since, until=now, author=author)
    for thread in stores.history.conversations(since=since):
        if not _is_read_by_us(thread, session):
            continue
        first = max(1, thread.count - _MOST_MESSAGES + 1)
        for message in reversed(stores.history.messages(thread.id, first=first)):
            is_fresh = message.at is not None and since <= message.at <= now
            if is_fresh and message.role == "user" and message.author == author:
                yield message.text


def _is_read_by_us(thread: Thread, session: Session) -> bool:
    """True for a conversation that we read in its program's own transcript, and from which memory may learn."""
    return thread.captured and thread.is_eligible and session.stores.conversations.type_of(thread) != ISOLATED


# ---------------------------------------------------------------- what must stand in it


def _has_change(quote: str, new: Candidate | Fact, ended: Sequence[Fact]) -> bool:
    """True if the quotation has most words of the statement that what it ends lacks; if none carries meaning, all."""
    said = {*query_words(quote).words}
    changed = _words(new) - {word for each in ended for word in _words(each)}
    if changed:
        return 2 * len(changed & said) > len(changed)
    signs = {*folded_words(new.text)} - {word for each in ended for word in folded_words(each.text)}
    return all(_has(quote, sign) for sign in signs)


def _words(statement: Candidate | Fact) -> frozenset[str]:
    """The stems of the words that carry its meaning."""
    return frozenset(query_words(statement.text).words) - STOP_WORDS


def _are_near(facts: Sequence[Fact], new: Candidate | Fact, session: Session) -> bool:
    """True if all of these are among the neighbours of the statement: what it ends is about the same thing."""
    itself = [new.id] if isinstance(new, Fact) else []
    near = {each.fact.id for each in neighbours(new, session, without=itself)[0]}
    return all(each.id in near for each in facts)


def _needed(new: Candidate | Fact, reader: IndexReader, session: Session) -> Iterator[str]:
    """The names and numbers of a new statement. The first word of a sentence is a name only if the memory knows it.

    It has a capital either way.
    """
    rules = session.stores.rules
    own_name = {*said_words(rules.user)}
    subject = "" if rules.entity(new.subject) == ME else new.subject
    for text in (new.text, new.object, subject):
        yield from (word for word in folded_words(text) if _DIGITS.search(word))
        for word, begins in _names(text):
            is_name = not begins or text is not new.text or bool(reader.existing_names([rules.entity(word)]))
            if is_name and word.casefold() not in own_name:
                yield word


def _names(text: str) -> Iterator[tuple[str, bool]]:
    """The words without digits that are written like names or signs, and whether each begins a sentence."""
    begins = True
    for token in plain_signs(text).split():
        word = without_punctuation(token)
        is_odd = any(not (sign.isalpha() or sign in "'-") for sign in word)
        is_stop_word = word.casefold().replace("'", "") in STOP_WORDS and not (len(word) > 1 and word.isupper())
        if (is_odd or word != word.lower()) and not (is_stop_word or _DIGITS.search(word)):
            yield word, begins and not is_odd and word[1:] == word[1:].lower()
        end = token.rstrip("\"')]")
        begins = end.endswith(_SENTENCE_ENDS) and len(end) > _LONGEST_TITLE


def _has(text: str, word: str) -> bool:
    """True if the text has the word, in one of its forms; a number in any of its spellings."""
    said, folded = {*said_words(text)}, {*folded_words(text)}
    plain = word.casefold()
    if plain in said | folded:
        return True
    if plain.isdigit():
        return plain in {group for each in said | folded for group in _DIGITS.findall(each)}
    parts = bare_words(word)
    is_word = len(parts) == 1 and len(parts[0]) == len(plain) and not _DIGITS.search(plain)
    return is_word and stem_of(plain) in {stem_of(each) for each in bare_words(text)}


def _has_rare_word(quote: str, text: str, reader: IndexReader) -> bool:
    """True if the quotation has one of the text's words that few entries have."""
    common = {*query_words(quote).words} & {*query_words(text).words}
    return any(_is_rare(word, reader) for word in sorted(common) if word not in STOP_WORDS)


def _is_rare(word: str, reader: IndexReader) -> bool:
    filters = Filters(path=MEMORY)
    count = len(reader.chunks_with([word], filters))
    return count <= max(_FEW, reader.count_documents(filters) * _SHARE)
