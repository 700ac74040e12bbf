"""The gate of memory: which texts may be saved, which wait for review, and which are refused."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from commonplace.model import ActorKind, Trust
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
