"""The verb context: what is put before a model, for a prompt or at the start of a session."""

from collections.abc import Collection, Sequence

from commonplace.errors import UsageError
from commonplace.flows.context import context_for
from commonplace.flows.occasion import Lectern, Occasion
from commonplace.model import Context
from commonplace.recalling.context_options import LEAST_BUDGET

PROMPT_SECONDS = 0.3
START_SECONDS = 0.5


class Contexts:
    """What one vault's memory puts before prompts. It is made for a model: sensitive text is in none of it."""

    def __init__(self, lectern: Lectern) -> None:
        self._lectern = lectern

    @property
    def budget(self) -> int:
        """Characters that the person gives to a context, unless a caller asks for more or less."""
        return self._lectern.options.budget

    @property
    def tokens(self) -> int:
        """The same in tokens; 0 where characters alone are counted."""
        return self._lectern.options.tokens

    def __call__(
        self,
        prompt: str,
        *,
        phase: str = "",
        conversation: str = "",
        scope: str = "",
        kinds: Sequence[str] = (),
        budget: int | None = None,
        tokens: int | None = None,
        within: float | None = PROMPT_SECONDS,
        peek: bool = False,
        known: Collection[str] = (),
    ) -> Context:
        """What belongs before this prompt, fenced and with its sources.

        `phase` is one of the phases of work in the settings, or `briefing`; `conversation` names the conversation,
        whose topics are kept; `scope` is `channel:TOKEN` in a channel. `kinds` are the kinds of entries to recall,
        `note` for all that is no entry. `budget` is in characters, `tokens` in tokens. After `within` seconds what is
        ready is given, and the answer says what is not; None waits for everything. A `peek` is not counted as use.
        `known` are the marks of what an earlier context of the same session has shown, which is not shown again.
        Raises UsageError.
        """
        return self._given(
            Occasion(
                prompt=prompt,
                phase=phase.strip(),
                conversation=conversation.strip(),
                scope=scope,
                kinds=tuple(kind.strip().casefold() for kind in kinds if kind.strip()),
                budget=budget,
                tokens=tokens,
                within=within,
                peek=peek,
                known=frozenset(known),
            )
        )

    def start(
        self,
        *,
        phase: str = "",
        scope: str = "",
        budget: int | None = None,
        tokens: int | None = None,
        within: float | None = START_SECONDS,
        peek: bool = False,
    ) -> Context:
        """What belongs before a whole session: what is always loaded, and who the person is. Raises UsageError."""
        return self._given(
            Occasion(phase=phase.strip(), scope=scope, budget=budget, tokens=tokens, within=within, peek=peek)
        )

    def _given(self, occasion: Occasion) -> Context:
        if occasion.budget is not None and occasion.budget < LEAST_BUDGET:
            hint = f"Give at least {LEAST_BUDGET} characters."
            raise UsageError(f"a budget of {occasion.budget} characters has no room for anything", hint=hint)
        if occasion.tokens is not None and occasion.tokens < 0:
            raise UsageError(f"a budget of {occasion.tokens} tokens is none", hint="0 counts characters alone.")
        if occasion.within is not None and occasion.within < 0:
            raise UsageError(f"{occasion.within} seconds are none", hint="Leave `within` None to wait for all.")
        return context_for(occasion, self._lectern)


__all__ = ["LEAST_BUDGET", "Contexts"]
