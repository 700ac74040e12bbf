"""Move a note: the file gets another path, and the links to it are rewritten, in one commit."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from posixpath import basename

from commonplace.errors import NotFound, Refused
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    check_version,
    move_trailers,
    read_existing,
)
from commonplace.flows.read import NOTE_ENDING, locate
from commonplace.flows.stores import Session
from commonplace.model import Changed, Note, Terms
from commonplace.model.text import fold_name
from commonplace.notes import LinkResolver, parse
from commonplace.notes.link_resolver import NoteMove, rewrite_links
from commonplace.policy.write_policy import Decision
from commonplace.vault.base import Locator
from commonplace.vault.contract_errors import already_exists


def move_note(path: str, to: str, session: Session, terms: Terms, *, proposal: str = "") -> Changed:
    """Move the note to another path and rewrite the links to it. Raises as `write_note` does, and NotFound.

    `proposal` is the path of the proposal that the move carries out, which goes in the same commit.
    """
    source, target = locate(path, session.stores.vault), locate(to, session.stores.vault)
    permit = Permit(session, terms, "move", source.path)
    permit.ask_about_existing(source.path)
    permit.ask(target.path, moved_from=source.path)
    _refuse_same_name(source, target)
    move = _Move(source, target, permit)
    staged = locate(proposal, session.stores.vault) if proposal else None
    permits = [permit, *([Permit(session, terms, "delete", staged.path)] if staged else [])]

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(source)
        check_version(source.path, there, terms)
        note = parse(there.content, path=source.path, mtime=there.stat.mtime)
        permit.ask(there=note)
        _refuse_other_place(permit.ask(target.path, there=note, moved_from=source.path), target)
        if read_existing(target, read):
            raise already_exists(target.path)
        removal = (Edit(staged, read(staged).content, None),) if staged else ()
        return (*move.edits(there.content, note, read), *removal)

    trailers = move_trailers((source.path, target.path))
    edits, result = change(plan, permits, path=target.path, trailers=trailers)
    moved = change_result(edits[0], permit, result, more=edits[1:])
    return replace(moved, asked=target.path, repointed=tuple(move.repointed), left=tuple(move.left))


def _refuse_same_name(source: Locator, target: Locator) -> None:
    """Many disks treat two names that differ only in case as one file; no single step is safe on all of them."""
    if source.path != target.path and fold_name(source.path) == fold_name(target.path):
        raise Refused(
            f"{source.path} and {target.path} are the same name on many file systems",
            path=target.path,
            hint="Rename it in two steps, through another name.",
        )


def _refuse_other_place(decision: Decision, target: Locator) -> None:
    """A note is moved to the requested path or not at all: a move must not gain trust."""
    if decision.path != target.path:
        raise Refused(
            f"an agent may not move this note to {target.path}",
            path=target.path,
            hint="Write it there instead: it waits for the person's approval (`commonplace review`).",
        )


@dataclass(slots=True)
class _Move:
    """One move, and the notes whose links were rewritten or left alone."""

    source: Locator
    target: Locator
    permit: Permit
    repointed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def edits(self, content: bytes, note: Note, read: Reader) -> tuple[Edit, ...]:
        """The edits of the moved note, with its relative links adjusted, and of every note that links to it."""
        stores = self.permit.session.stores
        files = [stat.path for stat in stores.vault.list(skip=stores.ignored).files]
        move = self._move(files, note)
        edits = [Edit(self.source, content, self._own_content(note, move) or content, moved_to=self.target)]
        for other in self._linking_notes(files, read):
            rewritten = rewrite_links(other, move)
            if rewritten:
                edits += self._relink(other, rewritten.content, read)
        return tuple(edits)

    def _move(self, files: list[str], note: Note) -> NoteMove:
        source, target = self.source.path, self.target.path
        then = [target if path == source else path for path in files]
        before, after = LinkResolver.of(files, {source: note.aliases}), LinkResolver.of(then, {target: note.aliases})
        return NoteMove(source, target, before, after)

    def _own_content(self, note: Note, move: NoteMove) -> bytes | None:
        """The moved note's new bytes if its own links must change, else None."""
        rewritten = rewrite_links(note, move)
        if rewritten and rewritten.content is None:
            self.left.append(self.target.path)
        return rewritten.content if rewritten else None

    def _linking_notes(self, files: list[str], read: Reader) -> Iterator[Note]:
        """The notes whose text contains one of the two names, and which may link to either path."""
        names = [basename(path).removesuffix(NOTE_ENDING) for path in (self.source.path, self.target.path)]
        # accents have two encodings, and quotes are doubled in YAML
        anywhere = not all(name.isascii() and "'" not in name for name in names)
        for path in files:
            if not path.lower().endswith(NOTE_ENDING) or path == self.source.path:
                continue
            try:
                blob = read(self.permit.session.stores.vault.resolve(path))
            except (NotFound, Refused):
                continue
            low = blob.content.lower()
            if anywhere or b"%" in low or b"\\" in low or any(name.lower().encode() in low for name in names):
                yield parse(blob.content, path=path, mtime=blob.stat.mtime)

    def _relink(self, note: Note, content: bytes | None, read: Reader) -> list[Edit]:
        """The edit of a linking note, if its links can be rewritten safely and policy allows it."""
        if content is None or not self.permit.allows_relinking(note):
            self.left.append(note.path)
            return []
        at = self.permit.session.stores.vault.resolve(note.path)
        self.repointed.append(note.path)
        return [Edit(at, read(at).content, content)]
