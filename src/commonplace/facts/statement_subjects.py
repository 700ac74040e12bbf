"""Whether two statements are about two people or two things, however similar the rest of them is."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from commonplace.facts.statement_parts import RELATIVES, Clause, Statement, bare, root_of, verb_of
from commonplace.facts.statement_words import OPPOSITES, stem_of, words_of
from commonplace.facts.value_change import is_kin

ONE_OF_A_PERSON: Final = frozenset({"home", "job"})
"""What someone has one of at a time, so that another one's is not theirs; see `FACETS`."""

_BOTH_WAYS: Final = (*OPPOSITES, *((right, left) for left, right in OPPOSITES))
_CAPITAL: Final = re.compile(r"\b[A-Z][\w'\u2019]+")


def has_other_subject(one: Statement, other: Statement) -> bool:
    """True if the statements are about two people or two things, however similar the rest is."""
    left, right = one.main, other.main
    if _is_someone_of(left, right) or _is_someone_of(right, left):
        return True
    if _have_like_names(one, other) or has_opposite_subject(one, other):
        return True
    if root_of(left.owner) != root_of(right.owner) and (
        (left.owner and right.owner) or _is_of_someone(one) or _is_of_someone(other)
    ):
        return True
    if not left.subject or not right.subject:
        return _is_user_and_another(one, other)
    own = [root for root in left.subject if not _mentions(other, root)]
    return bool(own) and any(not _mentions(one, root) for root in right.subject)


def has_opposite_subject(one: Statement, other: Statement) -> bool:
    """True if the one has a word before its subject of which the other has the opposite: the old and the new kiln."""
    described, known = ({*_described(each)} for each in (one, other))
    return any(
        noun == each and any({word} <= left and {opposite} <= right for left, right in _BOTH_WAYS)
        for word, noun in described
        for opposite, each in known
    )


def _described(statement: Statement) -> Iterator[tuple[str, str]]:
    """The words right before those of the subject, each with the root of that one."""
    for word, following in pairwise(statement.words):
        if root_of(following) in statement.main.subject:
            yield word, root_of(following)


def _have_like_names(one: Statement, other: Statement) -> bool:
    """True if a name of each has the same root as one of the other, and another last letter: Simon and Simone."""
    names, known = (
        {bare(word) for word in words_of(" ".join(_CAPITAL.findall(each.text))) if not verb_of(bare(word))}
        for each in (one, other)
    )
    return any(
        root_of(name) == root_of(each) and abs(len(name) - len(each)) <= 1 and {name[-1], each[-1]}.isdisjoint("s'")
        for name in names - known
        for each in known - names
    )


def _is_someone_of(one: Clause, other: Clause) -> bool:
    """True if one is about someone or something of whom the other is: Sam's brother and Sam."""
    owner = root_of(one.owner) if one.owner else ""
    return bool(owner) and not other.owner and owner in other.subject and not {*one.subject} <= {*other.subject}


def _is_user_and_another(one: Statement, other: Statement) -> bool:
    """True if one is about the user and the other about someone else, and both say the same kind of thing."""
    if one.main.subject == other.main.subject:
        return False
    another, user = (one, other) if one.main.subject else (other, one)
    verbs = {one.main.verb or "be", other.main.verb or "be"}
    has_same_verb = len(verbs) == 1 and verbs != {"be call"}
    if not another.main.is_person or not (has_same_verb or one.facets & other.facets & ONE_OF_A_PERSON):
        return False
    return not any(_mentions(user, root) for root in another.main.subject)


def _is_of_someone(statement: Statement) -> bool:
    """True if the subject belongs to someone else than the user: to Sam, to a brother; not to a thing."""
    owner = statement.main.owner
    return owner in RELATIVES or owner in statement.names or bare(statement.words[0]) == owner


def _mentions(statement: Statement, root: str) -> bool:
    """True if the statement has the word, or a longer or shorter one of its family; Sara does not mention Sarah."""
    return any(
        root in (stem_of(bare(word)), root_of(word)) or _is_derived(root, root_of(word)) for word in statement.words
    )


def _is_derived(one: str, other: str) -> bool:
    return len(one) > 4 and is_kin(one, other) and abs(len(one) - len(other)) > 1
