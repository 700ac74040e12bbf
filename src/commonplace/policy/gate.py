"""The gate at the door of memory: what may be kept, what waits for a person, what is turned away."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from commonplace.model import ActorKind, Trust
from commonplace.policy.junk import junk_reason
from commonplace.policy.secrets import find_secrets


@dataclass(frozen=True, slots=True)
class Gated:
    """What the gate says: `reason` is a word for programs, `said` a sentence for people, without the secret."""

    verdict: Literal["allow", "stage", "refuse"]
    reason: Literal["", "secret", "junk", "trust", "always-load"] = ""
    said: str = ""


def gate(text: str, *, trust: Trust, always_load: bool, actor: ActorKind, staged_trusts: Collection[str]) -> Gated:
    """Whether the text may be kept, and if not at once, why.

    Secrets and junk are refused, whoever brings them. What a person saves is kept; what a program saves waits for a
    person if its source has one of `staged_trusts`, or if it is to stand before every prompt.
    """
    if secrets := find_secrets(text):
        return Gated("refuse", "secret", f"This holds a secret: {', '.join(map(str, secrets[:3]))}.")
    if reason := junk_reason(text):
        return Gated("refuse", "junk", reason)
    if actor != "person" and trust in staged_trusts:
        return Gated("stage", "trust", f"What was {trust} waits for a person's review.")
    if actor != "person" and always_load:
        return Gated("stage", "always-load", "What is to be loaded always waits for a person's review.")
    return Gated("allow")
