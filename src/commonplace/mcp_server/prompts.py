"""The prompts that a person may pick in their host: recall, and reflect."""

from typing import Final

from fastmcp.prompts.base import Prompt, PromptArgument

from commonplace.errors import UsageError
from commonplace.mcp_server.arguments import LONGEST_PROMPT
from commonplace.mcp_server.door import Door
from commonplace.mcp_server.failures import failing
from commonplace.mcp_server.memory_tools import NOTHING, WITHIN

REFLECT: Final = """\
Look back at this session and save what will matter in others.

1. Go through what was said and done. Note what the person prefers, what was decided and why, facts about them, their \
people and projects, and fixes that worked. Leave out secrets, passing states, and what the code or a note says itself.
2. For each, ask memory_search whether it is known. If it is known and wrong now, correct it: memory_append with the \
entry's id as `replaces`, and the reason. If it is known and right, leave it.
3. Save the rest by memory_append, one plain sentence a call, with its kind and topics, with subject, predicate and \
object where it is a triple, and with your session_id.
4. Tell the person in a few lines what you saved, what waits for their approval, and what you were not sure of."""

_PROMPT: Final = PromptArgument(
    name="prompt", description="A topic, or the task in a sentence; empty at the start of a session.", required=False
)


def prompts_of(door: Door) -> list[Prompt]:
    """The prompts `recall` and `reflect`."""

    def recall(prompt: str = "") -> str:
        if len(prompt) > LONGEST_PROMPT:
            raise UsageError(f"a prompt of {len(prompt)} characters", hint=f"Give {LONGEST_PROMPT} at most.")
        context = door.memory().context(prompt, within=WITHIN)
        return f"{context.text or NOTHING}\n\n{prompt}"

    def reflect() -> str:
        return REFLECT

    return [
        Prompt.from_function(
            failing(recall),
            name="recall",
            title="Recall",
            description="Put what memory knows about something before your prompt.",
        ).model_copy(update={"arguments": [_PROMPT]}),
        Prompt.from_function(
            failing(reflect),
            name="reflect",
            title="Reflect",
            description="Look back at this session and save what is worth keeping.",
        ),
    ]
