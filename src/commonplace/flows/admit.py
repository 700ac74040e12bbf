"""Admitting a candidate: what can be filled in, and what the gate at the door says of it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from commonplace.errors import Refused, UsageError
from commonplace.facts.entities import ME
from commonplace.facts.routes import checked_kind, class_of
from commonplace.facts.sentence import sentence_of
from commonplace.flows.keeper import Keeper
from commonplace.model import Candidate

if TYPE_CHECKING:
    from commonplace.policy.gate import Gated

_KEEP_ELSEWHERE: Final = "Keep secrets in a password manager."


def completed(candidate: Candidate, keeper: Keeper) -> Candidate:
    """The candidate with what can be filled in: its statement, class and window. Raises UsageError."""
    if candidate.predicate and not (candidate.subject and candidate.object):
        raise UsageError("a triple has a subject, a predicate and an object", hint="Give all three, or none of them.")
    if candidate.importance is not None and not 0 <= candidate.importance <= 1:
        raise UsageError(f"an importance of {candidate.importance} is none", hint="Give one from 0 to 1.")
    kind = checked_kind(candidate.kind) if candidate.kind else ""
    predicates = keeper.rules.predicates
    begins = candidate.valid_from or keeper.now
    until = candidate.valid_until or predicates.default_until(candidate.predicate, begins)
    if until and until <= begins:
        raise UsageError("it would end before it begins", hint="Give a later end, or say since when it held.")
    text = _told(candidate.text)
    if candidate.predicate and not text:
        text = sentence_of(candidate.subject, candidate.predicate, candidate.object, user=keeper.rules.user)
    is_who_i_am = keeper.rules.entity(candidate.subject) == ME and predicates.is_single(candidate.predicate)
    fact = candidate.fact or ("identity" if is_who_i_am else class_of(kind))
    return replace(candidate, text=text, kind=kind, fact=fact, valid_until=until)


def _told(text: str) -> str:
    """The text without blanks around it. Raises UsageError for what no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"what is saved is text, and this is not: {error.reason}", hint="Give text.") from error
    return text.strip()


def admit(candidate: Candidate, keeper: Keeper) -> "Gated":
    """What the gate says of it. Raises Refused for secrets, in whatever field, and for junk."""
    from commonplace.policy.gate import gate  # seventy milliseconds of patterns that a reader need not spend

    origins = candidate.origins
    refuse_secrets(
        candidate.kind,
        candidate.subject,
        candidate.predicate,
        candidate.object,
        *candidate.topics,
        *candidate.tags,
        origins.interface,
        origins.conversation,
        " ".join((candidate.subject, candidate.predicate.replace("_", " "), candidate.object)),
    )
    gated = gate(
        candidate.text,
        trust=origins.trust,
        always_load=candidate.always_load,
        actor=keeper.desk.actor.kind,
        staged_trusts=keeper.options.staged_trusts,
    )
    if gated.verdict == "refuse":
        is_secret = gated.reason == "secret"
        hint = _KEEP_ELSEWHERE if is_secret else "Say one thing worth knowing, in a sentence."
        raise Refused(gated.said, reason="secret" if is_secret else "junk", hint=hint)
    return gated


def refuse_secrets(*texts: str) -> None:
    """Raise Refused when one of these texts holds a secret; no message repeats it."""
    from commonplace.policy.secrets import find_secrets

    for secret in (secret for text in texts if text for secret in find_secrets(text)):
        raise Refused(f"it holds a secret: {secret.kind}", reason="secret", hint=_KEEP_ELSEWHERE)
