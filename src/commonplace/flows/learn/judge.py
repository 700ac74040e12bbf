"""A new statement and a known one -> how the two relate, as the model of the task `judge` sees it.

It is asked where the rules cannot decide, and its failure is no failure of the save: then the rules' guess stands.
"""

import json
from typing import Any, Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.flows.learn.model_calls import ask_model, prompt_for
from commonplace.flows.stores import Session
from commonplace.llm.base import Prompt
from commonplace.model import Action, Candidate, Fact
from commonplace.model.fact import ACTIONS
from commonplace.model.untrusted_text import break_marks

_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"action": {"type": "string", "enum": list(ACTIONS)}},
    "required": ["action"],
    "additionalProperties": False,
}
_MOST_CHARACTERS: Final = 2000  # of one statement: longer ones are whole notes


def judge_by_model(candidate: Candidate, fact: Fact, *, session: Session) -> Action | None:
    """The model's decision; None if no model is set for it, or it does not answer.

    Sensitive statements are not shown to a model on another machine.
    """
    if session.stores.models.route("judge") is None:
        return None
    try:
        prompt = prompt_for("judge", session)
        answer = ask_model(
            "judge",
            (Prompt("system", prompt.text), Prompt("user", _statements(candidate, fact))),
            _SCHEMA,
            session,
            prompt_version=prompt.version,
            is_sensitive=fact.sensitive,
        )
    except CommonplaceError as error:
        emit("judge_failed", level="warning", reason=error.reason, said=error.message)
        return None
    action: Action = answer.value["action"]
    return action


def _statements(candidate: Candidate, fact: Fact) -> str:
    """Both statements in one JSON object: its quotation marks fence them, and no mark of a model's template is left."""
    known = {"statement": _shown(fact.text), "kind": fact.kind, "valid_from": fact.begins[:10]}
    new = {"statement": _shown(candidate.text), "kind": candidate.kind, "valid_from": candidate.valid_from[:10]}
    return json.dumps({"known": known, "new": new}, ensure_ascii=False)


def _shown(text: str) -> str:
    return break_marks(text)[:_MOST_CHARACTERS]
