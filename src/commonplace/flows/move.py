"""Moving a note: the file gets another path, and the links to it follow, in one commit."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from posixpath import basename

from commonplace.errors import NotFound, Refused
from commonplace.flows.read import NOTE_ENDING, locate
from commonplace.flows.write import Desk, Edit, Permit, Reader, change, changed, check_version, existing
from commonplace.model import Changed, Note, Terms
from commonplace.notes import Names, parse
from commonplace.notes.relink import Journey, relinked
from commonplace.policy.writing import Decision
from commonplace.vault.base import Locator, Revision
from commonplace.vault.paths import name_key
from commonplace.vault.rules import taken

MOVED_FROM = "Commonplace-From"
MOVED_TO = "Commonplace-To"


def move_note(path: str, to: str, desk: Desk, terms: Terms) -> Changed:
    """Give the note another path; links that led to it lead to it still. Raises as `write_note` does, and NotFound."""
    source, target = locate(path, desk.vault), locate(to, desk.vault)
    permit = Permit(desk, terms, "move", source.path)
    permit.ask()
    permit.ask(target.path, moved_from=source.path)
    _refuse_same_name(source, target)
    move = _Move(source, target, permit)

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(source)
        check_version(source.path, there, terms)
        permit.ask(there=there)
        _refuse_other_place(permit.ask(target.path, there=there, moved_from=source.path), target)
        if existing(target, read):
            raise taken(target.path)
        return move.edits(there.content, read)

    trailers = {MOVED_FROM: source.path, MOVED_TO: target.path}
    edits, made = change(plan, [permit], path=target.path, trailers=trailers)
    moved = changed(edits[0], permit, made, more=edits[1:])
    return replace(moved, asked=target.path, repointed=tuple(move.repointed), left=tuple(move.left))


def moved_since(when: datetime, revisions: Iterable[Revision]) -> Mapping[str, str]:
    """Where the notes that these commits, newest first, moved after that moment are now, by the path they had then."""
    names: dict[str, str] = {}
    for revision in revisions:
        source, target = revision.trailers.get(MOVED_FROM), revision.trailers.get(MOVED_TO)
        if source and target and revision.when > when:
            names[source] = names.get(target, target)
    return names


def _refuse_same_name(source: Locator, target: Locator) -> None:
    """Many disks take two names that differ only in case for one file, so that no one step is safe on all of them."""
    if source.path != target.path and name_key(source.path) == name_key(target.path):
        raise Refused(
            f"{source.path} and {target.path} are one name on many disks",
            path=target.path,
            hint="Rename it in two steps, through another name.",
        )


def _refuse_other_place(decision: Decision, target: Locator) -> None:
    """A note is moved where it was asked to, or not at all: a move is not the way to gain trust."""
    if decision.path != target.path:
        raise Refused(
            f"an agent may not move this note to {target.path}", path=target.path, hint="Write it there: it is staged."
        )


@dataclass(slots=True)
class _Move:
    """One move, and which notes' links followed it."""

    source: Locator
    target: Locator
    permit: Permit
    repointed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def edits(self, content: bytes, read: Reader) -> tuple[Edit, ...]:
        """The moved note, its own links adjusted to the new folder, and every note whose links must follow."""
        files = [stat.path for stat in self.permit.desk.vault.list(skip=self.permit.desk.ignored).files]
        note = parse(content, path=self.source.path, mtime=0.0)
        journey = self._journey(files, note)
        edits = [Edit(self.source, content, self._own(note, journey) or content, moved_to=self.target)]
        for other in self._linking(files, read):
            rewritten = relinked(other, journey)
            if rewritten:
                edits += self._follow(other, rewritten.content, read)
        return tuple(edits)

    def _journey(self, files: list[str], note: Note) -> Journey:
        source, target = self.source.path, self.target.path
        then = [target if path == source else path for path in files]
        before, after = Names.of(files, {source: note.aliases}), Names.of(then, {target: note.aliases})
        return Journey(source, target, before, after)

    def _own(self, note: Note, journey: Journey) -> bytes | None:
        """What the moved note is to say where its own links must change; None where its bytes stay as they are."""
        rewritten = relinked(note, journey)
        if rewritten and rewritten.content is None:
            self.left.append(self.target.path)
        return rewritten.content if rewritten else None

    def _linking(self, files: list[str], read: Reader) -> Iterator[Note]:
        """The notes that may hold a link to either path: their text has its name in it."""
        names = [basename(path).removesuffix(NOTE_ENDING) for path in (self.source.path, self.target.path)]
        # accents can be composed in several ways, and quotes are doubled in YAML
        anywhere = not all(name.isascii() and "'" not in name for name in names)
        for path in files:
            if not path.lower().endswith(NOTE_ENDING) or path == self.source.path:
                continue
            try:
                blob = read(self.permit.desk.vault.resolve(path))
            except (NotFound, Refused):
                continue
            low = blob.content.lower()
            if anywhere or b"%" in low or b"\\" in low or any(name.lower().encode() in low for name in names):
                yield parse(blob.content, path=path, mtime=blob.stat.mtime)

    def _follow(self, note: Note, content: bytes | None, read: Reader) -> list[Edit]:
        """The edit of a linking note, if it can be rewritten soundly and policy lets this actor do so."""
        if content is None or not self.permit.allows(note):
            self.left.append(note.path)
            return []
        at = self.permit.desk.vault.resolve(note.path)
        self.repointed.append(note.path)
        return [Edit(at, read(at).content, content)]
