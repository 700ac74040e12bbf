"""A derived file in a folder: put in its place in one step, and kept out of git where there is one."""

from typing import TYPE_CHECKING

from commonplace.errors import NotFound
from commonplace.vault.batch import make_all, plan_all
from commonplace.vault.changes import Write
from commonplace.vault.derived import not_ours
from commonplace.vault.files import read_file
from commonplace.vault.tree import Tree
from commonplace.vault.trouble import disk_trouble
from commonplace.vault.undisturbed import undisturbed

if TYPE_CHECKING:  # a folder without git does not load it
    from commonplace.vault.git import Repository


def put_derived(tree: Tree, path: str, content: bytes) -> None:
    """Let the file say this, unless it does. The caller holds the lock. Raises as a write does."""
    steps = plan_all(tree, [Write(path, content, None)])
    with undisturbed():
        make_all(tree, steps)


def put_beside_git(tree: Tree, git: "Repository", path: str, *, content: bytes) -> None:
    """The same where git must not take the file. The line that keeps it out is also what says that we made it.

    Raises Refused when git holds the file, or when a person may have written it.
    """
    found, is_ours = _content(tree, path), git.is_kept_out(path)
    if is_ours and found == content:
        return
    if not is_ours:
        git.refuse_held(path)
        if found not in (None, content):
            raise not_ours(path)
    git.keep_out(path)
    put_derived(tree, path, content)


def _content(tree: Tree, path: str) -> bytes | None:
    try:
        with disk_trouble(path, doing="read"), tree.place(path) as place:
            return read_file(place).blob.content
    except NotFound:
        return None
