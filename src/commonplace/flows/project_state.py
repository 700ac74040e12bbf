"""The state of a project through the write flow: `Agent/projects/<project>/_harness/{plan,progress,features}.md`.

An agent that works in several sessions keeps here what the next one must know. Progress has two triggers: the end of a
phase and an explicit save; a session that ends without either leaves a line of its own, so that a crash in the middle
of the work does not lose where it stood. Adding a line or setting a feature reads the note under the vault's lock, so
that two agents never overwrite each other; a plan is replaced only by who names the version that they have read.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.flows.conversations import may_learn_from
from commonplace.flows.notes.move import move_note
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    check_version,
    commit_message,
    parse_existing,
    read_existing,
    refuse_too_large,
)
from commonplace.flows.read import is_hidden, list_notes, locate, read_note, stat_or_none
from commonplace.flows.stores import Session
from commonplace.model import Actor, Changed, Note, Terms, Thread
from commonplace.model.layout import PROJECTS
from commonplace.model.moment import moment_text
from commonplace.model.note_words import plain_words
from commonplace.model.project_state import Feature, ProgressEntry, ProjectState
from commonplace.model.text import fold_name
from commonplace.notes import parse
from commonplace.notes.frontmatter_edit import merge_note
from commonplace.notes.harness_notes import parse_features, parse_progress, with_feature, with_progress
from commonplace.notes.note_text import split_note
from commonplace.notes.yaml_emit import emit_yaml
from commonplace.vault.base import Blob

_PLAN, _PROGRESS, _FEATURES = "plan", "progress", "features"
_HARNESS: Final = "_harness"
_LONGEST_LINE: Final = 1000  # characters of a line of progress, a feature's name or its remark
_LONGEST_QUOTE: Final = 200  # characters of each message that the line of a session's end quotes
SESSION: Final = "session"
"""The phase of the line that a session leaves which ended without one."""
JOB: Final = Actor("job", "progress")
"""Who writes the line of a session that ended without one."""

NewContent = Callable[[Blob | None], bytes]
"""The new content of a note, given the file as it is; None if there is none."""


def read_project_state(project: str, session: Session) -> ProjectState:
    """The plan, the progress and the features of a project; empty if there are none. Raises VaultUnavailable.

    A program does not see a note that its owner hides.
    """
    folder = _folder(project, session)
    notes = {name: _note(f"{folder}/{name}.md", session) for name in (_PLAN, _PROGRESS, _FEATURES)}
    hidden = [name for name, note in notes.items() if note and _is_hidden(note, session)]
    shown = {name: note for name, note in notes.items() if note and name not in hidden}
    plan = shown.get(_PLAN)
    return ProjectState(
        project=project,
        folder=folder,
        plan=plan.body.strip() if plan else "",
        plan_version=plan.version if plan else "",
        progress=parse_progress(shown[_PROGRESS].body) if _PROGRESS in shown else (),
        features=parse_features(shown[_FEATURES].body) if _FEATURES in shown else (),
        hidden=tuple(f"{folder}/{name}.md" for name in hidden),
    )


def write_plan(
    project: str, text: str, session: Session, *, expected: str | None = None, dry_run: bool = False
) -> Changed:
    """Write the plan of a project, or replace it. Raises Conflict unless `expected` is the version that is there.

    Raises UsageError for an empty plan, and Refused as every write does.
    """
    if not text.strip():
        raise UsageError("the plan is empty", hint="Give its text.")
    path = _path(project, _PLAN, session)
    terms = Terms(expected=expected, dry_run=dry_run)
    content = text if split_note(text.encode()).head else f"{_head(project)}{text.strip()}\n"

    def new_content(there: Blob | None) -> bytes:
        after = merge_note(there.content if there else None, content.encode(), path=path)
        if there and after != there.content:
            _require_version(path, there, terms)
        return after

    return _write(path, new_content, session, terms)


def _require_version(path: str, there: Blob, terms: Terms) -> None:
    """Raise Conflict unless the caller has read the plan that they replace."""
    if terms.expected is None:
        raise Conflict(
            f"{path} exists already",
            path=path,
            found=there.version,
            hint="Read the plan first, and give its version with the new one.",
        )
    check_version(path, there, terms)


def add_progress(
    project: str,
    text: str,
    session: Session,
    *,
    phase: str = "",
    ends_phase: bool = False,
    dry_run: bool = False,
) -> Changed:
    """Add a line of progress; saying the same twice in a row adds one line. Raises UsageError, and as every write."""
    line = ProgressEntry(session.now[:10], session.now[11:16], _line(text, "progress"), _phase(phase), ends_phase)
    path = _path(project, _PROGRESS, session)
    if not dry_run:
        _make_room(path, session)
    return _edit(path, project, lambda old: with_progress(old, line), session, dry_run=dry_run)


def _make_room(path: str, session: Session) -> None:
    """Put a long note of progress aside under the day until which it goes: a note has a largest size."""
    stat = stat_or_none(path, session.stores.vault)
    if stat is None or stat.size * 2 < session.stores.safety.max_note_bytes:
        return
    with suppress(NotFound, Conflict):  # another agent has put it aside at the same moment
        move_note(path, f"{path.removesuffix('.md')}-until-{session.now[:10]}.md", session, Terms())


def set_feature(project: str, feature: Feature, session: Session, *, dry_run: bool = False) -> Changed:
    """Add a feature or set its status. Raises UsageError for one without a name, and as every write."""
    remark = _line(feature.remark, "remark") if feature.remark.strip() else ""
    clean = replace(feature, name=_line(feature.name, "feature"), remark=remark.replace("(", "[").replace(")", "]"))
    path = _path(project, _FEATURES, session)
    return _edit(path, project, lambda old: with_feature(old, clean), session, dry_run=dry_run)


def note_session_end(thread: Thread, session: Session) -> Changed | None:
    """Add a line of progress for a session that has ended, unless somebody added one while it went on.

    Only a project with a plan, progress or features gets one: there an agent wants to know where the work stood. None
    if nothing is written. Raises as every write does.
    """
    if not thread.project or thread.kind != "chat" or not may_learn_from(thread, session.stores):
        return None
    state = read_project_state(thread.project, session.as_actor(JOB))
    last, begun = state.progress[-1] if state.progress else None, moment_text(thread.started)
    if state.is_empty or (last and f"{last.day}T{last.time}" >= begun[:16]):
        return None
    said = _last_words(thread, session)
    return add_progress(thread.project, said, session.as_actor(JOB), phase=SESSION, ends_phase=True) if said else None


def _last_words(thread: Thread, session: Session) -> str:
    """The last request and the last answer of a session, quoted, without secrets; empty if it has neither.

    The block id at the end names the conversation: the line goes when that is erased.
    """
    from commonplace.screening.secrets import redact  # its expressions are compiled at first use

    messages = session.stores.history.messages(thread.id, first=max(1, thread.count - 11))
    parts = []
    for role, name in (("user", "last request"), ("assistant", "last answer")):
        text = next((each.text for each in reversed(messages) if each.role == role and each.text.strip()), "")
        (clean,) = redact([" ".join(text[: 4 * _LONGEST_QUOTE].split())])
        if words := plain_words(clean, most=_LONGEST_QUOTE):
            parts.append(f'{name}: "{words}"')
    return f"{thread.interface} ended; {'; '.join(parts)} ^{thread.id}" if parts else ""


# ---------------------------------------------------------------- notes and their paths


def _folder(project: str, session: Session) -> str:
    """The folder of a project's state; one that differs only in case from the name is the same project's.

    Raises UsageError for a name that cannot name a folder.
    """
    name = project.strip(" .-")
    if not name:
        raise UsageError(f"{project!r} cannot name a folder", hint="Give the project a name with letters or digits.")
    stores = session.stores
    if stat_or_none(f"{PROJECTS}/{name}/{_HARNESS}/{_PLAN}.md", stores.vault) is None:
        try:
            stats = list_notes(PROJECTS, stores.vault, skip=stores.ignored)
        except NotFound:
            stats = ()
        others = {stat.path.split("/")[2] for stat in stats if stat.path.count("/") > 2}
        name = next((each for each in sorted(others) if fold_name(each) == fold_name(name)), name)
    return f"{PROJECTS}/{name}/{_HARNESS}"


def _path(project: str, name: str, session: Session) -> str:
    return f"{_folder(project, session)}/{name}.md"


def _note(path: str, session: Session) -> Note | None:
    stores = session.stores
    if stat_or_none(path, stores.vault) is None:  # NotFound would search all notes for a similar name
        return None
    try:
        return read_note(path, stores.vault, skip=stores.ignored)
    except (NotFound, Refused):
        return None


def _is_hidden(note: Note, session: Session) -> bool:
    return not session.sees_sensitive and is_hidden(note, session.stores)


def _edit(path: str, project: str, edit: Callable[[str], str], session: Session, *, dry_run: bool) -> Changed:
    """Change the text of a note, which is made first if there is none."""

    def new_content(there: Blob | None) -> bytes:
        title = path.rpartition("/")[2].removesuffix(".md").capitalize()
        old = there.content.decode("utf-8", "surrogateescape") if there else f"{_head(project)}# {title}\n"
        return edit(old).encode("utf-8", "surrogateescape")

    return _write(path, new_content, session, Terms(dry_run=dry_run))


def _write(path: str, new_content: NewContent, session: Session, terms: Terms) -> Changed:
    """Make the change in one commit. Raises Refused, Conflict and VaultUnavailable."""
    at = locate(path, session.stores.vault)
    terms = replace(terms, message=commit_message(session.stores, verb="write", path=at.path))
    permit = Permit(session, terms, "write", at.path)
    permit.ask()

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read_existing(at, read)
        permit.ask(there=parse_existing(there))
        content = new_content(there)
        refuse_too_large(content, at.path, session.stores.safety)
        permit.ask(there=parse_existing(there), incoming=parse(content, path=at.path, mtime=0.0))
        return (Edit(at, there.content if there else None, content),)

    (edit,), result = change(plan, [permit], path=at.path)
    return change_result(edit, permit, result)


def _head(project: str) -> str:
    return f"---\n{emit_yaml('project', project)}---\n"


def _line(text: str, what: str) -> str:
    """The text on one line. Raises UsageError if it is empty or too long."""
    line = " ".join(text.split())
    if not line or len(line) > _LONGEST_LINE:
        said = "is empty" if not line else f"has {len(line)} characters"
        raise UsageError(f"the {what} {said}", hint=f"Give one line of at most {_LONGEST_LINE} characters.")
    return line


def _phase(name: str) -> str:
    """The name of a phase in one word."""
    return "-".join("".join(each if each.isalnum() or each in "-_." else " " for each in name.casefold()).split())[:40]
