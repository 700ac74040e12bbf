"""What a context is wanted for, and all that is known of it before any work is done."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from commonplace.errors import UsageError
from commonplace.flows.identity import new_nonce
from commonplace.flows.keeper import Keeper
from commonplace.flows.prompted import Prompted
from commonplace.flows.shelf import Questions
from commonplace.model import Actor, ContextSection
from commonplace.recalling.compose import Bounds, briefing_skips
from commonplace.recalling.context_options import ContextOptions
from commonplace.recalling.phases import BRIEFING, Phase, phase_named
from commonplace.recalling.standing import channel_of


@dataclass(frozen=True, slots=True)
class Lectern:
    """Where contexts are put together: the keeper of the memory, and what its person set about contexts."""

    keeper: Keeper
    options: ContextOptions
    nonce: Callable[[], str] = new_nonce


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """What a context is wanted for.

    Without a prompt it is the start of a session. `within` is how many seconds it may take; None waits for everything.
    A `peek` keeps nothing: no use, and no topic of the conversation. `known` are the marks of what the model has read.
    """

    prompt: str = ""
    phase: str = ""
    conversation: str = ""
    scope: str = ""
    kinds: tuple[str, ...] = ()
    budget: int | None = None
    tokens: int | None = None
    within: float | None = None
    peek: bool = False
    known: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Work:
    """An occasion, made ready: who asks is a prompt, whoever it is for."""

    occasion: Occasion
    keeper: Keeper
    options: ContextOptions
    phase: Phase | None
    channel: str
    skips: frozenset[ContextSection]

    @property
    def bounds(self) -> Bounds:
        """How large the context may be: as the occasion says, else as the settings do."""
        occasion, options = self.occasion, self.options
        return Bounds(
            budget=options.budget if occasion.budget is None else occasion.budget,
            tokens=options.tokens if occasion.tokens is None else occasion.tokens,
            recalled_chars=self.phase.chars if self.phase else 0,
            recalled=options.recalled,
            playbooks=options.playbooks,
        )

    def asked(self, topics: Sequence[str]) -> Prompted:
        """The prompt, in a conversation about these topics."""
        occasion = self.occasion
        return Prompted(occasion.prompt, self.phase, occasion.kinds, self.channel, tuple(topics))


def made_ready(occasion: Occasion, lectern: Lectern) -> Work:
    """The occasion, ready to be worked on. Raises UsageError for a phase or channel that is none."""
    phase = phase_named(occasion.phase, lectern.options.phases)
    if occasion.phase and not phase and occasion.phase.casefold() != BRIEFING:
        known = ", ".join([*(line.split()[0] for line in lectern.options.phases), BRIEFING])
        raise UsageError(f"no phase is called {occasion.phase!r}", hint=f"Phases: {known}; `context.phases` sets them.")
    keeper = lectern.keeper.at_this_moment()
    shelf = replace(keeper.shelf(), is_patient=occasion.within is None, questions=Questions())
    desk = replace(keeper.desk, actor=Actor("agent", keeper.desk.actor.origin))  # what goes to a model is for programs
    return Work(
        occasion,
        replace(keeper, desk=desk, shelf=lambda: shelf),
        lectern.options,
        phase,
        channel_of(occasion.scope),
        briefing_skips(occasion.phase.casefold()),
    )
