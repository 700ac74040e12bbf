"""What the model of a conversation has been given, and which prompts a new one is read with.

The history keeps it on this device, so that nothing comes twice through a resume or a restart. Prompts are kept for
follow-ups, without secrets, and a prompt whose recall was late until the next one brings what it missed.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.flows.stores import Session
from commonplace.history.base import ContextState, History
from commonplace.model.learning import Turn
from commonplace.questions.prompt_needs import is_follow_up, is_greeting
from commonplace.questions.question import has_nothing_to_search
from commonplace.screening.junk import courtesy_reason

PROFILE_GIVEN: Final = "profile"
"""Among the marks that a conversation has been given: the parts of a session."""

REFLECTED: Final = "reflected"
"""Among these marks: the agent was asked to look back at the session, which it is asked once."""

_KEPT_PROMPTS: Final = 2
_KEPT_CHARS: Final = 500  # of each prompt that a follow-up may lean on


def read_state(conversation: str, history: History) -> ContextState:
    """What the conversation has been given; an empty state if the history cannot be read."""
    if not conversation:
        return ContextState("")
    try:
        return history.context_state(conversation)
    except CommonplaceError as error:
        emit("context_state_not_read", level="warning", said=str(error))
        return ContextState(conversation)


def forget_given(conversation: str, session: Session) -> None:
    """Record that the model of a conversation no longer has what it was given; its last prompts are kept."""
    history = session.stores.history
    state = history.context_state(conversation)
    if state.given - {REFLECTED}:
        history.save_context_state(replace(state, given=state.given & {REFLECTED}), now=session.clock())


def is_worth_reflecting(conversation: str, session: Session) -> bool:
    """True if the rules find a lasting fact in the last prompts of a conversation that was not looked back at yet.

    Where the settings name a model that reads conversations, no agent needs to look back.
    """
    state = read_state(conversation, session.stores.history)
    if not state.prompts or REFLECTED in state.given or session.stores.models.route("extract"):
        return False
    from commonplace.extraction.rules import extract_by_rules  # its expressions take a moment to load

    day = session.now[:10]
    turns = [Turn(number, "user", prompt, day) for number, prompt in enumerate(state.prompts, start=1)]
    return bool(extract_by_rules(turns, day=day).facts)


def note_reflection(conversation: str, session: Session) -> None:
    """Record that the agent of a conversation was asked to look back: it is asked once."""
    history = session.stores.history
    state = history.context_state(conversation)
    history.save_context_state(replace(state, given=state.given | {REFLECTED}), now=session.clock())


def take_back(before: ContextState, session: Session, *, prompt: str) -> None:
    """Record that nobody read a conversation's last context: it has what it had `before`, and missed the prompt."""
    state = replace(before, missed=kept_text(prompt) or before.missed)
    session.stores.history.save_context_state(state, now=session.clock())


def prompts_to_judge(prompt: str, state: ContextState) -> tuple[str, ...]:
    """The prompts to judge memories by, the newest last; empty if this one asks for nothing.

    A follow-up leans on the prompt before it; one without any content asks for what that one asked for.
    """
    if why_silent(prompt, state):
        return ()
    own, before = prompt, state.prompts[-1] if state.prompts else ""
    if before and _without_content(prompt):
        own = before
    elif before and is_follow_up(prompt):
        own = f"{before}\n{prompt}"
    return tuple(dict.fromkeys(each for each in (state.missed, own) if each))


def why_silent(prompt: str, state: ContextState) -> str:
    """Why nothing is recalled for this prompt; empty if something may be."""
    if not prompt.strip() or state.missed:
        return ""
    reason = _without_content(prompt)
    if reason and (is_greeting(prompt) or not state.prompts):
        return f"the prompt has nothing to search for: {reason}"
    return ""


def after_context(state: ContextState, *, marks: Collection[str], prompt: str, is_missed: bool) -> ContextState:
    """The state once the conversation was given these pieces; `is_missed` says that recall was late for the prompt."""
    text = kept_text(prompt)
    is_kept = text and not is_follow_up(text) and not _without_content(text)
    return replace(
        state,
        given=state.given | frozenset(marks),
        prompts=(*state.prompts, text)[-_KEPT_PROMPTS:] if is_kept else state.prompts,
        missed=state.missed if not text else text if is_missed else "",
    )


def _without_content(prompt: str) -> str:
    """Why a prompt asks for nothing by itself, such as `ok, do it`; empty if it asks for something."""
    return courtesy_reason(prompt) or ("only stop words" if has_nothing_to_search(prompt) else "")


def kept_text(prompt: str) -> str:
    """The beginning of a prompt, without secrets."""
    from commonplace.screening.secrets import redact  # its expressions are compiled at first use

    (text,) = redact([prompt.strip()[:_KEPT_CHARS]])
    return text
