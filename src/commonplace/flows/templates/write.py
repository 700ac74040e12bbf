"""A note from a template, in eight steps, so that the earliest failure wins and nothing is spent in vain:

    1 redirect     low autonomy writes to the Inbox, and so does a template whose folder is not on the allowlist
    2 idempotency  a note that has this key was written before: skipped, and nothing is gathered, asked or rendered
    3 gather       what memory knows about it
    4 prompt       the instructions for the model, strictly rendered
    5 model        one call for a structured draft, within the skill's budget; no model, no call
    6 render       values, draft (`llm`) and `now_iso` into the template
    7 write        a note for each of its people who has none (`people`); then the note itself, in one commit, based on
                   the version that was read in step 2
    8 event        `vault_autowrite_written`

A failure of step 1 or 2 is raised. A failure of steps 3 to 7 is an event (`vault_autowrite_failed`) and a skipped
result: no part of the note is written.

A note is found by its key, wherever the person moved it. One that they removed is not written again, unless they ask.
A note that a person took over is never overwritten: one that they wrote, from which they removed `autowritten_by`, or
that they moved to where programs may not write. A note of ours for something else at the same path stays, and the new
one gets a name of its own. When the source of a note changed (`source_version`), it is rendered again: sections that
are as we wrote them are replaced, and a change of those that the person edited is proposed (`commonplace review`).
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from commonplace.errors import CommonplaceError, ProviderFailed, Refused
from commonplace.events import emit
from commonplace.flows.learn.model_calls import ask_model, model_of, prompt_for
from commonplace.flows.notes.proposals import propose
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    check_version,
    parse_existing,
    read_existing,
    refuse_too_large,
)
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.flows.templates.library import RenderedNote, TemplateLibrary
from commonplace.flows.templates.people import create_person_stubs
from commonplace.llm.base import Prompt, estimate_tokens
from commonplace.llm.options import MOST_TOKENS
from commonplace.model import Note, Terms
from commonplace.model.template import (
    AUTHOR,
    KEY,
    OWN_KEYS,
    SECTIONS,
    SOURCE_VERSION,
    TEMPLATE,
    WRITTEN_AT,
    WRITTEN_BY,
    NoteDraft,
    TemplateRequest,
    WriteResult,
)
from commonplace.model.untrusted_text import break_values, line_of
from commonplace.notes import set_key
from commonplace.notes.note_text import render_note, split_note
from commonplace.policy.write_policy import has_id, inbox_path, is_trusted
from commonplace.templates.render import render
from commonplace.templates.sections import KEYS, Merged, keys_mark, marks_of, merge_sections, open_boxes, read_marks
from commonplace.vault.base import ABSENT, Blob, Locator

Gather = Callable[[], Mapping[str, Any] | None]
"""Gives what memory knows, or None if there is nothing to write about; runs only if the note may be written."""

_LONGEST_KEY: Final = 200
_PASSING: Final = (SOURCE_VERSION, WRITTEN_AT)  # a note of a day that is not over differs in these each time
_NOT_ASKED: Final = ("auth", "budget", "paused", "quota", "too_long")  # asking again would not help today


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the note goes, and what is there: `note` is ours with this key if it `is_refresh`, else None."""

    at: Locator
    blob: Blob | None
    note: Note | None
    redirected: bool
    skip: str = ""

    @property
    def is_refresh(self) -> bool:
        return self.note is not None


def write_from_template(
    request: TemplateRequest, gather: Gather, session: Session, *, library: TemplateLibrary | None = None
) -> WriteResult:
    """Write the note of this request, once; see above for the steps.

    Raises Refused if policy forbids the path, and what reading the target raises, except that it is missing. Any later
    failure is a skipped result with the reason.
    """
    place = _find_place(request, session)
    if place.skip:
        _emit_skipped(request, place, reason=place.skip)
        text = place.blob.content.decode(errors="replace") if place.blob else ""
        return _skipped(place, place.skip, text=text)
    try:
        result = _write(request, gather, session, place=place, library=library or TemplateLibrary(session.stores))
    except Exception as error:  # noqa: BLE001 (whatever a skill or a template does wrong, nothing is half written)
        emit(
            "vault_autowrite_failed",
            level="info" if request.is_asked else "warning",  # who asks is told by the error itself
            template=request.template,
            path=place.at.path,
            reason=_reason(error),
            exc_type=type(error).__name__,
        )
        return replace(_skipped(place, _reason(error)), error=error)
    if result.skipped and not request.dry_run:
        _emit_skipped(request, place, reason=result.reason)
    elif not request.dry_run:
        _emit_written(request, result, session)
    return result


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, CommonplaceError) else f"{type(error).__name__}: {error}"


def _skipped(place: _Place, reason: str, *, text: str = "") -> WriteResult:
    return WriteResult(place.at.path, skipped=True, reason=reason, redirected_to_inbox=place.redirected, text=text)


def _emit_skipped(request: TemplateRequest, place: _Place, *, reason: str) -> None:
    emit("vault_autowrite_skipped", template=request.template, path=place.at.path, reason=reason)


def _emit_written(request: TemplateRequest, result: WriteResult, session: Session) -> None:
    emit(
        "vault_autowrite_written",
        path=result.path,
        template=request.template,
        idempotency_key=request.idempotency_key,
        autonomy_level=request.autonomy or session.stores.safety.autonomy,
        redirected_to_inbox=result.redirected_to_inbox,
        sha=result.sha,
        review=result.review,
    )


# ---------------------------------------------------------------- steps 1 and 2


def is_due(request: TemplateRequest, session: Session) -> bool:
    """True if the note of this request is not written yet, or its source changed; for plans of jobs. Raises Refused."""
    return not _find_place(request, session).skip


def note_place(request: TemplateRequest, session: Session) -> tuple[str, str]:
    """The path at which the note of this request is or would be, and its text; empty if there is none. As `is_due`."""
    place = _find_place(request, session)
    return place.at.path, place.blob.content.decode(errors="replace") if place.blob else ""


def _find_place(request: TemplateRequest, session: Session) -> _Place:
    """Where the note goes, or why it is not written. Raises Refused, and what reading raises."""
    place = _place_at(request.target_path, request, session)
    if (place is None or place.blob is None) and (moved := _moved_place(request, session)):
        return moved
    place = place or _place_at(_other_name(request), request, session)
    if place is None:
        at = locate(_other_name(request), session.stores.vault)
        return _Place(at, None, None, redirected=False, skip="taken_over")
    is_removed = place.blob is None and not request.is_asked and _was_written(place.at.path, request, session)
    return replace(place, skip="removed") if is_removed else place


def _place_at(path: str, request: TemplateRequest, session: Session) -> _Place | None:
    """The place at this path; None if a note for something else is there."""
    vault = session.stores.vault
    permit = _permit(path, request, session)
    target = _target(permit, session)
    at = locate(target, vault)
    blob = read_existing(at, vault.read)
    place = _Place(at, blob, None, redirected=target != locate(path, vault).path)
    note = parse_existing(blob)
    if note is None:
        return place
    permit.ask(at.path, there=note)
    if not _has_key(note, request):
        return None if note.frontmatter.get(WRITTEN_BY) == AUTHOR else replace(place, skip="taken_over")
    return _with_note(place, note, request)


def _target(permit: Permit, session: Session) -> str:
    """Where policy lets the note go: outside of the allowlist, to the Inbox if that is on it. Raises Refused."""
    try:
        return permit.ask().path
    except Refused as error:
        inbox = inbox_path(permit.path, session.stores.safety)
        if error.reason != "outside_allowlist" or inbox is None:
            raise
        return permit.ask(inbox).path


def _moved_place(request: TemplateRequest, session: Session) -> _Place | None:
    """The place of the note with this key that the person moved or renamed; None if the index knows none.

    Where the program may not write, the note is the person's.
    """
    vault = session.stores.vault
    with session.stores.index.reader() as reader:
        paths = [each.path for each in reader.written_notes(key=request.idempotency_key)]
    for path in paths:
        at = locate(path, vault)
        blob = read_existing(at, vault.read)
        note = parse_existing(blob)
        if note is None or not _has_key(note, request):
            continue
        place = _Place(at, blob, None, redirected=False)
        try:
            is_free = _permit(path, request, session).ask(at.path, there=note).path == at.path
        except Refused:
            is_free = False
        return _with_note(place, note, request) if is_free else replace(place, skip="taken_over")
    return None


def _was_written(path: str, request: TemplateRequest, session: Session) -> bool:
    """True if the note of this request stood at that path before."""
    rows = session.stores.history.entries(path=path, actor="job")
    return any(each.reason == _message(request) for each in rows)


def _has_key(note: Note, request: TemplateRequest) -> bool:
    return str(note.frontmatter.get(KEY, "")) == request.idempotency_key


def _with_note(place: _Place, note: Note, request: TemplateRequest) -> _Place:
    """The place of a note that has the key: as it is, the person's, or to be rendered again."""
    keys = note.frontmatter
    if str(keys.get(SOURCE_VERSION, "")) == request.source_version:
        return replace(place, skip="idempotent")
    if keys.get(WRITTEN_BY) != AUTHOR:
        return replace(place, skip="taken_over")
    return replace(place, note=note)


def _message(request: TemplateRequest) -> str:
    return f"autowrite: {line_of(request.template)} {line_of(request.idempotency_key)[:_LONGEST_KEY]}"


def _permit(path: str, request: TemplateRequest, session: Session) -> Permit:
    message = _message(request)
    at = locate(path, session.stores.vault)
    terms = Terms(message=message, why=message, dry_run=request.dry_run)
    return Permit(session, terms, "write", at.path, autonomy=request.autonomy)


def _other_name(request: TemplateRequest) -> str:
    """The path with digits of the key, for a note at whose path another one stands."""
    digits = hashlib.sha256(request.idempotency_key.encode(errors="replace")).hexdigest()[:6]
    return f"{request.target_path.removesuffix('.md')}-{digits}.md"


# ---------------------------------------------------------------- steps 3 to 7


def _write(
    request: TemplateRequest, gather: Gather, session: Session, *, place: _Place, library: TemplateLibrary
) -> WriteResult:
    gathered = gather()
    if gathered is None:
        return _skipped(place, "nothing")
    values = {**request.values, **gathered}
    values["llm"] = _drafted(request.draft, values, session)
    values |= {"now_iso": session.now, KEY: request.idempotency_key, TEMPLATE: request.template}
    rendered = library.render(request.template, values)
    _refuse_trust(rendered, request)
    if not (request.dry_run or place.redirected):
        create_person_stubs(request.people, session)  # first: once the note is there, nobody looks at it again
    if place.is_refresh:
        return _refresh(request, rendered, session, place=place)
    return _create(request, rendered, session, place=place)


def _drafted(draft: NoteDraft | None, values: Mapping[str, Any], session: Session) -> Mapping[str, Any]:
    """What the model says, by the fields of the schema; all are empty without one, or beyond a budget.

    So they are while it is not asked after failures. Raises UsageError if the instructions need a value that is
    missing, and ProviderFailed if the model was asked and failed.
    """
    if draft is None:
        return {}
    empty = _empty_draft(draft.schema)
    task = render(draft.task, values, name="instructions of the draft")
    try:
        return {**empty, **_answer(task, draft, values, session)}
    except ProviderFailed as error:
        if error.reason not in _NOT_ASKED:
            raise
        emit("vault_autowrite_without_draft", level="warning", reason=error.reason, said=error.message)
        return empty


def _answer(task: str, draft: NoteDraft, values: Mapping[str, Any], session: Session) -> Mapping[str, Any]:
    """The fields of the schema that the model gives; none without one, or beyond the skill's budget."""
    if model_of("draft", session) is None:
        return {}
    prompt = prompt_for("draft", session)
    asked = {"task": task, "material": break_values(dict(values))}
    text = json.dumps(asked, ensure_ascii=False, default=str)
    most = estimate_tokens(prompt.text) + estimate_tokens(text) + MOST_TOKENS["draft"]
    if most > draft.most_tokens:
        if draft.most_tokens:
            emit("vault_autowrite_without_draft", level="warning", tokens=most, budget=draft.most_tokens)
        return {}
    prompts = (Prompt("system", prompt.text), Prompt("user", text))
    answer = ask_model("draft", prompts, draft.schema, session, prompt_version=prompt.version)
    fields = draft.schema.get("properties", {})
    return {name: value for name, value in answer.value.items() if name in fields}


def _empty_draft(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {name: [] if each.get("type") == "array" else "" for name, each in properties.items()}


def _refuse_trust(rendered: RenderedNote, request: TemplateRequest) -> None:
    """Raise Refused if the template makes its note an entry or the person's own word."""
    if is_trusted(rendered.frontmatter) or has_id(rendered.frontmatter):
        said = f"the template {request.template} may not set `id`, `always_load` or `trust: told`"
        raise Refused(said, path=request.template, hint="Remove that key from the template.")


def _own_keys(rendered: RenderedNote) -> dict[str, Any]:
    """The template's keys without those that the writer sets."""
    return {key: value for key, value in rendered.frontmatter.items() if key not in OWN_KEYS}


def _writer_keys(request: TemplateRequest, session: Session, marks: tuple[str, ...]) -> dict[str, Any]:
    return {
        TEMPLATE: request.template,
        KEY: request.idempotency_key,
        **({SOURCE_VERSION: request.source_version} if request.source_version else {}),
        WRITTEN_BY: AUTHOR,
        WRITTEN_AT: session.now,
        SECTIONS: list(marks),
    }


def _create(request: TemplateRequest, rendered: RenderedNote, session: Session, *, place: _Place) -> WriteResult:
    keys = _own_keys(rendered)
    marks = marks_of(rendered.body, keys)
    content = _with_keys(rendered.body.encode(), {**keys, **_writer_keys(request, session, marks)}, path=place.at.path)
    return _put(request, content, session, place=place)


def _refresh(request: TemplateRequest, rendered: RenderedNote, session: Session, *, place: _Place) -> WriteResult:
    """Render the note again, where nobody touched it; what the person edited is proposed."""
    old = place.blob.content if place.blob else b""
    note, path = split_note(old), place.at.path
    present = place.note.frontmatter if place.note else {}
    marks, keys = read_marks(present.get(SECTIONS)), _own_keys(rendered)
    body = open_boxes(note.body) if request.resets_boxes else note.body
    merged = merge_sections(body, rendered.body, marks)
    now = {key: present.get(key) for key in keys}
    is_free = keys_mark(now) == marks.get(KEYS) or now == keys
    new_marks = (f"{keys_mark(keys) if is_free else marks.get(KEYS, '')} {KEYS}", *merged.marks)
    writer = _writer_keys(request, session, new_marks)
    text = render_note(replace(note, body=merged.text))
    content = _with_keys(text, {**(keys if is_free else {}), **writer}, path=path)
    is_ours = is_free and not merged.changed
    passing = {key: value for key, value in writer.items() if key in _PASSING}
    if request.is_asked and is_ours and content == _with_keys(old, passing, path=path):
        return _skipped(place, "unchanged", text=old.decode(errors="replace"))
    result = _put(request, content, session, place=place)
    if is_ours or request.dry_run:
        return result
    return replace(result, review=_propose(request, result, session, rendered=rendered, merged=merged))


def _propose(
    request: TemplateRequest, result: WriteResult, session: Session, *, rendered: RenderedNote, merged: Merged
) -> str:
    """Let the changes of what the person edited wait for them; the id of the proposal, empty if they rejected it."""
    raw = result.text.encode()
    body = merged.proposed or merged.text
    keys = _own_keys(rendered)
    marks = [*marks_of(rendered.body, keys)]
    text = _with_keys(render_note(replace(split_note(raw), body=body)), {**keys, SECTIONS: marks}, path=result.path)
    names = ", ".join(merged.changed) or "the properties"
    why = f"What {request.template} was made from has changed, and you edited {line_of(names)}."
    proposed = propose(result.path, session, why=why, text=text)
    return proposed.proposal.id if proposed.changed else ""


def _with_keys(content: bytes, keys: Mapping[str, Any], *, path: str) -> bytes:
    for key, value in keys.items():
        content = set_key(content, key, value, path=path)
    return content


def _put(request: TemplateRequest, content: bytes, session: Session, *, place: _Place) -> WriteResult:
    """Write the note over the version that was read. Raises Conflict if it changed meanwhile."""
    at = place.at
    refuse_too_large(content, at.path, session.stores.safety)
    permit = _permit(at.path, request, session)
    terms = replace(permit.terms, expected=place.blob.version if place.blob else ABSENT)

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read_existing(at, read)
        check_version(at.path, there, terms)
        permit.ask(at.path, there=parse_existing(there))
        return (Edit(at, there.content if there else None, content),)

    permit.ask(at.path)
    (edit,), written = change(plan, [permit], path=at.path)
    changed = change_result(edit, permit, written)
    text = content.decode(errors="replace")
    return WriteResult(at.path, changed.commit, redirected_to_inbox=place.redirected, text=text)
