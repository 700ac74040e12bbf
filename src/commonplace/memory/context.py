"""The verb context: what to put before a model, for a prompt or at the start of a session; and topics and styles."""

from collections.abc import Sequence
from contextlib import suppress

from commonplace.context.options import MIN_BUDGET
from commonplace.errors import CommonplaceError, Refused, UsageError
from commonplace.flows.context.build import ContextRequest, build_context
from commonplace.flows.context.conversation_state import forget_given, is_worth_reflecting, note_reflection, take_back
from commonplace.flows.context.passages import noise_level
from commonplace.flows.context.topics import infer_and_lock_topics, list_styles, list_topics, style_for
from commonplace.flows.ingest.sync import index_new_vault
from commonplace.flows.stores import Session
from commonplace.history.base import ContextState, GivenContext
from commonplace.model import Context, InferredTopics, Style, Topic
from commonplace.model.progress import Progress, ignore_progress
from commonplace.sources.transcripts import strip_injected

PROMPT_SECONDS = 0.3
START_SECONDS = 0.5


class Contexts:
    """What one vault's memory puts before prompts. It is for a model: it never has sensitive text."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def budget(self) -> int:
        """Characters of a context, from the settings."""
        return self._session.stores.context.budget

    @property
    def tokens(self) -> int:
        """Tokens of a context, from the settings; 0 if only characters are limited."""
        return self._session.stores.context.tokens

    def recent(self, *, limit: int = 20) -> tuple[GivenContext, ...]:
        """The contexts that were given to agents last, newest first: when, to whom, which pieces and why, or silence.

        Only a person may look: Refused. Contexts of private conversations are not remembered.
        """
        if self._session.actor.kind != "person":
            raise Refused("only a person may see what was given to agents", hint="Ask the owner of the vault.")
        return self._session.stores.history.contexts(limit=limit)

    def __call__(
        self,
        prompt: str,
        *,
        phase: str = "",
        conversation: str = "",
        folder: str = "",
        scope: str = "",
        kinds: Sequence[str] = (),
        notes: str = "",
        profile: bool = True,
        budget: int | None = None,
        tokens: int | None = None,
        within: float | None = PROMPT_SECONDS,
        peek: bool = False,
        private: bool = False,
        progress: Progress = ignore_progress,
    ) -> Context:
        """What belongs before this prompt, fenced and with its sources.

        `conversation` names the conversation: its first context has the profile, and nothing that it was given comes
        again. Without one, every context has the profile. `phase` is one of the phases of work in the settings, or
        `briefing`; `folder` is where the person works, whose repository is the project; `scope` is `channel:TOKEN` in a
        channel. `kinds` are the kinds of entries to recall, `note` for everything that is not an entry; `notes` is
        `auto`, `always`, `asked` or `off`. Without `profile` only what belongs to this prompt is given. `budget` is in
        characters, `tokens` in tokens. After `within` seconds the context has what is ready, and lists what is not;
        None waits for everything. A `peek` records nothing; of a `private` conversation only what every session is
        given is recorded. Outside the daemon, a vault that was never synced is indexed by words first, which the
        deadline does not count and `progress` does. Raises UsageError.
        """
        return self._build(
            ContextRequest(
                prompt=prompt,
                phase=phase.strip(),
                conversation=conversation.strip(),
                folder=folder,
                scope=scope,
                kinds=tuple(kind.strip().casefold() for kind in kinds if kind.strip()),
                notes=notes.strip(),
                profile=profile,
                budget=budget,
                tokens=tokens,
                within=within,
                peek=peek,
                private=private,
            ),
            progress,
        )

    def start(
        self,
        *,
        phase: str = "",
        conversation: str = "",
        folder: str = "",
        scope: str = "",
        budget: int | None = None,
        tokens: int | None = None,
        within: float | None = START_SECONDS,
        peek: bool = False,
        private: bool = False,
        progress: Progress = ignore_progress,
    ) -> Context:
        """What belongs before a whole session: what is always loaded, the profile, the last session of the project.

        Empty if the conversation has been given it already. A new vault is indexed first, as for a prompt. Raises
        UsageError.
        """
        return self._build(
            ContextRequest(
                phase=phase.strip(),
                conversation=conversation.strip(),
                folder=folder,
                scope=scope,
                budget=budget,
                tokens=tokens,
                within=within,
                peek=peek,
                private=private,
            ),
            progress,
        )

    def given(self, conversation: str) -> ContextState:
        """What the model of a conversation has been given."""
        return self._session.stores.history.context_state(conversation.strip())

    def take_back(self, before: ContextState, *, prompt: str = "") -> None:
        """Note that nobody read a conversation's last context: it has what it had `before`, and missed the prompt."""
        take_back(before, self._session, prompt=prompt)

    def note_prompt(self, prompt: str) -> None:
        """Note what the person typed, as a hook hands it over: so an agent may pass it on while the prompt runs.

        Raises Refused for an agent: what it hands over would count as what its person said.
        """
        if self._session.actor.kind == "agent":
            raise Refused(
                "an agent may not say what the person typed: the hook of its host does",
                hint="Pass on the person's words as `quote`; they count if a hook or a transcript has them.",
            )
        log, text = self._session.stores.prompts, strip_injected(prompt)
        if text:
            log.add(text, author=self._session.author, at=self._session.clock())

    def forget(self, conversation: str) -> None:
        """Note that the model of a conversation no longer has what it was given: its host has compacted it."""
        forget_given(conversation.strip(), self._session)

    def is_worth_reflecting(self, conversation: str) -> bool:
        """True if its agent should look back before it stops: the person said something lasting, and it never did."""
        return is_worth_reflecting(conversation.strip(), self._session)

    def note_reflection(self, conversation: str) -> None:
        """Note that the agent of a conversation was asked to look back."""
        note_reflection(conversation.strip(), self._session)

    def measure_noise(self) -> None:
        """Measure how near unrelated passages of this vault come, unless that is known, so that no prompt waits for it.

        Raises IndexDamaged.
        """
        noise_level(self._session.stores)

    def _build(self, request: ContextRequest, progress: Progress) -> Context:
        if request.budget is not None and request.budget < MIN_BUDGET:
            raise UsageError(
                f"a budget of {request.budget} characters is too small", hint=f"Give at least {MIN_BUDGET} characters."
            )
        if request.tokens is not None and request.tokens < 0:
            raise UsageError(f"tokens must be at least 0, not {request.tokens}", hint="0 limits only the characters.")
        if request.within is not None and request.within < 0:
            raise UsageError(
                f"within must be at least 0 seconds, not {request.within}", hint="Give None to wait for everything."
            )
        with suppress(CommonplaceError):  # the context says which part it lacks, and has the others
            index_new_vault(self._session.stores, progress=progress)
        return build_context(request, self._session)


class Topics:
    """The topics of the memory, and the styles that the vault describes."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> tuple[Topic, ...]:
        """Every topic, those with the most notes first."""
        return list_topics(self._session)

    def infer(self, message: str, *, conversation: str = "") -> InferredTopics:
        """The topics of a message, found by the encoder alone; those of a conversation are remembered."""
        return infer_and_lock_topics(message, self._session, conversation=conversation)

    def styles(self) -> tuple[Style, ...]:
        """The styles under `Agent/styles`."""
        return list_styles(self._session)

    def style(self, message: str) -> Style | None:
        """The style that fits a message best, or None."""
        return style_for(message, self._session, topics=[name for name, _ in self.infer(message).topics])


__all__ = ["MIN_BUDGET", "Contexts", "GivenContext", "Topics"]
