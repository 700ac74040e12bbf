"""Entries: one thing known in each, kept as a note of its own."""

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from commonplace.memory import shapes
from commonplace.model import FactClass, Remembered
from commonplace.web.asked import NO_QUERY, Amended, Asked, Names, such_as
from commonplace.web.fact_answers import ChainAnswer, RememberedAnswer
from commonplace.web.fields import Id, Line, Prose, Word
from commonplace.web.gate import CallerHere, Reader, Writer

router = APIRouter(prefix="/entries", tags=["entries"], dependencies=[NO_QUERY])


class SaveBody(Amended):
    """One thing worth knowing. With a predicate it is a triple, and its text may be empty."""

    model_config = such_as(text="Prefers concise pull requests.", kind="preference", topics=["coding"])

    text: Prose
    kind: Word = Field("", description="preference, workflow, fix, idea, decision, ...")
    fact: FactClass = Field("", description="How it ages.")
    subject: Word = ""
    predicate: Word = ""
    object: Line = ""
    tags: Names = Field(default_factory=list)
    extends: Names = Field(default_factory=list, description="Ids of what it adds to.")
    derived_from: Names = Field(default_factory=list, description="Ids of what it follows from.")
    contradicts: Names = Field(default_factory=list, description="Ids of what it speaks against.")


class EvolveBody(Amended):
    """What is true now, in the place of an entry."""

    model_config = such_as(text="Prefers long pull requests.", reason="said so on Monday")

    text: Prose
    reason: Line
    object: Line = Field("", description="The new value of a triple, where the text is its sentence.")


class ForgetBody(Asked):
    """Why."""

    model_config = such_as(reason="never true")

    reason: Line = ""


@router.post("", operation_id="save_entry", summary="Save one thing known", response_model=RememberedAnswer)
def save_entry(asked: SaveBody, caller: CallerHere, memory: Writer) -> Any:
    """Keep one thing worth knowing. What is known already is confirmed instead; nothing is overwritten."""
    fields = asked.model_dump(exclude={"text", "session_id"})
    saved = memory.entries.save(asked.text, **fields, interface=caller.name, conversation=asked.session_id)
    return remembered(saved)


@router.get("/{id}", operation_id="show_entry", summary="An entry with its whole past", response_model=ChainAnswer)
def show_entry(id: Id, memory: Reader) -> Any:
    """An entry or a fact with all its versions and bonds."""
    return {"ok": True, **shapes.chain_shape(memory.entries.show(id))}


@router.post("/{id}/evolve", operation_id="evolve_entry", summary="Replace an entry", response_model=RememberedAnswer)
def evolve_entry(id: Id, asked: EvolveBody, caller: CallerHere, memory: Writer) -> Any:
    """Put what is true now in its place; the old version goes to the archive, and each names the other."""
    fields = asked.model_dump(exclude={"text", "session_id"})
    evolved = memory.entries.evolve(id, asked.text, **fields, interface=caller.name, conversation=asked.session_id)
    return remembered(evolved)


@router.post(
    "/{id}/confirm", operation_id="confirm_entry", summary="Say that it still holds", response_model=RememberedAnswer
)
def confirm_entry(id: Id, memory: Writer) -> Any:
    """It ages from today on."""
    return remembered(memory.entries.confirm(id))


@router.post("/{id}/forget", operation_id="forget_entry", summary="Forget an entry", response_model=RememberedAnswer)
def forget_entry(id: Id, asked: ForgetBody, memory: Writer) -> Any:
    """Let nothing recall it any more; its note stays, and undo brings it back."""
    return remembered(memory.entries.forget(id, reason=asked.reason))


def remembered(change: Remembered) -> dict[str, Any]:
    """What came of a change, as every route that changes a fact answers it."""
    return {"ok": True, "remembered": shapes.remembered_shape(change)}
