"""A repository of our own making: created when the vault has none, with a baseline of what is there."""

from typing import Final

from commonplace.vault.git.committing import Author
from commonplace.vault.git.history import KIND
from commonplace.vault.git.knowledge import Knowledge, listed
from commonplace.vault.git.place import find
from commonplace.vault.git.program import Git, version
from commonplace.vault.trouble import disk_trouble

ATTRIBUTES: Final = "*.md -text\n"
"""Notes are kept byte for byte, whatever line endings they have and whatever is configured for other repositories."""

_INTO_ONE_PACK: Final = ("core.bigFileThreshold=1",)  # seven times as fast as one object file a note, at 10,000 notes
_FIRST_WITH_PACKING: Final = (2, 37)
_LIMIT_S: Final = 3600.0  # a vault can hold many pictures
EXCLUDED: Final = ".commonplace-*.tmp\n.commonplace-*.part\n"
"""Half-made files: a program that adds everything must not commit what a killed writer left."""


def found(git: Git, *, author: Author) -> None:
    """Make a repository at the folder, and a commit of every file in it that is not ignored."""
    named = git.ask("config", "--get", "init.defaultBranch").ok
    git.tell("init", "--quiet", *([] if named else ["--initial-branch=main"]))
    for name, value in (("user.name", author.name), ("user.email", author.email), ("core.autocrlf", "false")):
        git.tell("config", "--local", name, value)
    place = find(git)
    info = place.common_dir / "info"
    with disk_trouble(str(info / "attributes"), doing="write"):
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(ATTRIBUTES)
        with (info / "exclude").open("a") as exclude:
            exclude.write(EXCLUDED)
    _stage_all(git, Knowledge(git, place))
    _commit_baseline(git, author=author)


def _stage_all(git: Git, knowledge: Knowledge) -> None:
    """Stage what is there; not other repositories, half-made files, and what an external filter wants to see first."""
    there = git.tell("ls-files", "-z", "--others", "--exclude-standard").fields
    files = [path for path in there if not path.endswith("/")]
    if files:
        about = knowledge.attributes(files)
        packing = _INTO_ONE_PACK if version() >= _FIRST_WITH_PACKING else ()
        plain = [path for path in files if about[path].driver is None]
        git.tell("update-index", "-z", "--add", "--stdin", given=listed(plain), settings=packing, limit=_LIMIT_S)


def _commit_baseline(git: Git, *, author: Author) -> None:
    switches = ("--quiet", "--allow-empty", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "--file=-")
    identity = [
        f"{role}.{field}"
        for role in ("user", "author", "committer")
        for field in (f"name={author.name}", f"email={author.email}")
    ]
    message = f"commonplace: baseline of what was there\n\n{KIND}: baseline\n"
    git.tell("commit", *switches, given=message.encode(), settings=identity)
