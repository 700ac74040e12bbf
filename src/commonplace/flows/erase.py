"""Erasing: the note and what history.db says of it, for good; and the truth about what git still holds."""

from commonplace.errors import NotFound, Refused
from commonplace.flows.read import locate
from commonplace.flows.write import Desk, Edit, Permit, Reader, change, check_version, with_history
from commonplace.model import Erased, Terms


def erase_note(path: str, desk: Desk, terms: Terms) -> Erased:
    """Remove the note and every row about it. It cannot be undone. Raises as `delete_note` does."""
    at = locate(path, desk.vault)
    if desk.actor.kind != "person":
        raise Refused(f"only a person may erase: {at.path}", path=at.path, hint="Delete it instead: git keeps it.")
    permit = Permit(desk, terms, "erase", at.path)
    permit.ask()
    held, remotes = with_history(desk.vault).held_by(at)
    if not held and not desk.vault.exists(at):
        raise NotFound(f"no such note: {at.path}", path=at.path, hint="`commonplace note list` shows every note.")

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(at)
        check_version(at.path, there, terms)
        return (Edit(at, there.content, None),)

    commit = change(plan, [permit], path=at.path)[1].commit if desk.vault.exists(at) else None
    desk.history.forget_path(at.path)
    held, remotes = with_history(desk.vault).held_by(at)
    return Erased(at.path, commit, held, remotes)
