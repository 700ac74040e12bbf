"""The configuration that git sees: ours, with what an allowlist takes from the repository and the person.

A repository can come from anyone, with a configuration that names programs: filters, hooks, an fsmonitor. Git has no
switch to ignore that file, but it reads it in the common directory only. So our calls get a common directory of their
own, a view: links to the repository's objects, references and logs, beside a configuration file that we wrote. Nothing
else that the repository, the person or the system configures exists for them. Views are kept in the user's state
folder and named by their content. One is never changed or removed, because git may be using it; a configuration whose
allowed part changes leads to another.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.run import Git
from commonplace.vault.syscalls import ChangeStamp, change_stamp, translate_os_errors

ALLOWED_KEYS: Final = frozenset(
    {
        "core.repositoryformatversion",
        "core.sharedrepository",
        "core.logallrefupdates",
        "core.filesreflocktimeout",
        "core.packedrefstimeout",
        "core.usereplacerefs",
        "core.filemode",
        "core.symlinks",
        "core.ignorecase",
        "core.precomposeunicode",
        "core.protecthfs",
        "core.protectntfs",
        "core.trustctime",
        "core.checkstat",
        "core.autocrlf",
        "core.eol",
        "core.excludesfile",
        "core.attributesfile",
        "core.sparsecheckout",
        "core.sparsecheckoutcone",
        "core.splitindex",
        "core.untrackedcache",
        "core.preloadindex",
        "core.commitgraph",
        "core.multipackindex",
        "core.compression",
        "core.loosecompression",
        "core.bigfilethreshold",
        "core.packedgitlimit",
        "core.packedgitwindowsize",
        "core.deltabasecachelimit",
        "core.fsyncmethod",
        "core.fscache",
        "core.longpaths",
        "index.version",
        "index.sparse",
        "index.threads",
        "index.skiphash",
        "pack.compression",
        "pack.depth",
        "pack.window",
        "pack.windowmemory",
        "pack.threads",
        "pack.packsizelimit",
        "pack.deltacachesize",
        "gc.auto",
        "gc.autopacklimit",
        "gc.bigpackthreshold",
        "gc.cruftpacks",
        "gc.maxcruftsize",
        "gc.packrefs",
        "gc.pruneexpire",
        "gc.reflogexpire",
        "gc.reflogexpireunreachable",
        "gc.*.reflogexpire",
        "gc.*.reflogexpireunreachable",
        "maintenance.strategy",
        "maintenance.*.enabled",
        "maintenance.*.auto",
        "remote.*.promisor",
        "remote.*.partialclonefilter",
        "user.name",
        "user.email",
        "committer.name",
        "committer.email",
    }
)
"""The keys that count, `*` for any subsection: how files and objects are stored, what is kept, and names as data.

No value of theirs is run, in any git up to 2.55 (docs/decisions/0026). Of `extensions`, all count but the one that
brings in another file: git refuses a repository whose extension it does not know.
"""

_EXTENSIONS: Final = "extensions."
_REFERENCES: Final = "extensions.refstorage"
_REFERENCE_FORMATS: Final = ("files", "reftable")
_WORKTREE_FILE: Final = "extensions.worktreeconfig"  # its values are read with the others; the file must not count
_OURS: Final = (
    ("gc.worktreepruneexpire", "never"),  # relative paths of linked working trees do not lead anywhere from a view
    ("splitindex.maxpercentchange", "100"),  # no new shared index: it would be written into a view
)
_PATHS: Final = {"core.excludesfile": "ignore", "core.attributesfile": "attributes"}
"""The keys whose values are files, each with its default name in the person's git folder."""

_LINKED: Final = (
    *("objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees", "modules", "rr-cache"),
    *("HEAD", "index", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"),
)
"""What a view has of the repository, whether it exists yet or not: git keeps every object that one of them names."""

_MADE_BY_GIT: Final = ("logs", "info")  # folders that git creates when it first needs them, but not through a link
_CONFIGURING_VARIABLES: Final = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
_REPLACED_VARIABLES: Final = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME"})


@dataclass(frozen=True, slots=True)
class _Setting:
    """One line of a configuration: its key, its value (None for a bare key, which means true) and its file."""

    key: str
    value: str | None
    file: str

    @property
    def pattern(self) -> str:
        """The key with its subsection, if it has one, replaced by `*`."""
        section, _, rest = self.key.partition(".")
        _, dot, name = rest.rpartition(".")
        return f"{section}.*.{name}" if dot else self.key

    @property
    def counts(self) -> bool:
        """True if the allowlist takes it."""
        return self.pattern in ALLOWED_KEYS or (self.key.startswith(_EXTENSIONS) and self.key != _WORKTREE_FILE)


@dataclass(frozen=True, slots=True)
class _View:
    """A view, whether references are in a reftable, and the stamps of the files it was made from."""

    folder: Path
    has_reftable: bool
    stamps: Mapping[str, ChangeStamp]

    @property
    def is_current(self) -> bool:
        """True if the view is there and none of its files has changed."""
        return (self.folder / "config").exists() and all(
            change_stamp(file) == stamp for file, stamp in self.stamps.items()
        )


class Isolation:
    """Gives git the view of one repository, and makes another when the configuration changes."""

    def __init__(self, git: Git, *, top: Path, git_dir: Path, common_dir: Path) -> None:
        self._top = top
        self._git_dir = git_dir
        self._common_dir = common_dir
        self._views = git.git_dir.parent / "views" if git.git_dir else views_folder()
        self._view: _View | None = None

    def variables(self, inherited: Mapping[str, str], *, writes: bool = False) -> dict[str, str]:
        """The environment of a call: the inherited variables, without another way to a configuration, and the view's.

        For a call that writes, the folders are made that git does not make through a link. Raises VaultUnavailable when
        the configuration cannot be read or the view not be made.
        """
        if self._view is None or not self._view.is_current:
            with translate_os_errors(str(self._views), doing="prepare git's configuration in"):
                self._view = self._recorded() or self._made()
        view = self._view
        for name in _MADE_BY_GIT if writes else ():
            with suppress(OSError):  # then git says what is wrong
                (self._common_dir / name).mkdir(exist_ok=True)
        kept = {name: value for name, value in inherited.items() if name not in _REPLACED_VARIABLES}
        shared = {"HOME": str(view.folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_WORK_TREE": str(self._top)}
        if view.has_reftable and self._git_dir == self._common_dir:
            # with two folders git would lock the one table file twice: for the branch, and for HEAD
            return kept | shared | {"GIT_DIR": str(view.folder)}
        return kept | shared | {"GIT_DIR": str(self._git_dir), "GIT_COMMON_DIR": str(view.folder)}

    @property
    def _key(self) -> str:
        variables = [os.environ.get(name, "") for name in _CONFIGURING_VARIABLES]
        return _digest([str(self._git_dir), str(self._common_dir), *variables])

    def _recorded(self) -> _View | None:
        """The view that an earlier process made, if it is current."""
        try:
            record = json.loads((self._views / f"{self._key}.json").read_bytes())
            stamps = {file: tuple(stamp) for file, stamp in record["stamps"].items()}
            view = _View(self._views / record["view"], bool(record["reftable"]), stamps)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return view if view.is_current else None

    def _made(self) -> _View:
        before = self._stamps(_default_files(self._git_dir, self._common_dir))
        settings = _read_settings(self._top, self._git_dir)
        stamps = self._stamps(_files_of(settings)) | before  # a file that changes meanwhile has its old stamp
        text = configuration_text(settings)
        folder = self._views / f"{self._key}-{_digest([text])}"
        references = [each.value or "" for each in settings if each.key == _REFERENCES]
        if any(each not in _REFERENCE_FORMATS for each in references):
            raise _references_elsewhere(self._common_dir, references[-1])
        has_reftable = "reftable" in references
        if not (folder / "config").exists():
            self._views.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_folder(folder, self._common_dir, text, has_reftable=has_reftable)
        view = _View(folder, has_reftable, stamps)
        record = {"view": folder.name, "reftable": view.has_reftable, "stamps": stamps}
        _replace(self._views / f"{self._key}.json", json.dumps(record))
        return view

    def _stamps(self, files: Sequence[str]) -> dict[str, ChangeStamp]:
        return {file: change_stamp(file) for file in files}


def _references_elsewhere(common_dir: Path, value: str) -> VaultUnavailable:
    return VaultUnavailable(
        f"the vault's repository keeps its branches in another place, which is not supported: {value}",
        path=str(common_dir / "config"),
        hint="Move them into the repository: set extensions.refStorage to 'files' as 'git refs migrate' describes.",
    )


def views_folder() -> Path:
    """The folder in the user's state directory that holds the views."""
    from platformdirs import user_state_path

    return user_state_path("commonplace") / "git"


def configuration_text(settings: Sequence[_Setting]) -> str:
    """The configuration file of a view: what counts of these settings, and our own."""
    chosen = [(each.key, _plain_path(each.key, each.value)) for each in settings if each.counts]
    named = {key for key, _ in chosen}
    chosen += [(key, str(_person_folder() / name)) for key, name in _PATHS.items() if key not in named]
    return "".join(_lines_of(key, value) for key, value in (*chosen, *_OURS))


def _lines_of(key: str, value: str | None) -> str:
    section, _, rest = key.partition(".")
    subsection, dot, name = rest.rpartition(".")
    title = f'[{section} "{_escape(subsection)}"]' if dot else f"[{section}]"
    if value is None:
        return f"{title}\n\t{name}\n"
    escaped = _escape(value).replace("\n", "\\n").replace("\t", "\\t").replace("\b", "\\b")
    return f'{title}\n\t{name} = "{escaped}"\n'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _plain_path(key: str, value: str | None) -> str | None:
    """The value; of a file's key with the home folder in full, because our calls have another home."""
    return os.path.expanduser(value) if key in _PATHS and value else value


def _read_settings(top: Path, git_dir: Path) -> list[_Setting]:
    """Every setting of the system, the person and the repository, with included files, in the order they count."""
    git = Git(top, git_dir=git_dir)
    fields = iter(git.run("config", "--list", "-z", "--show-origin").fields)
    settings = []
    for origin, setting in zip(fields, fields, strict=True):
        key, newline, value = setting.partition("\n")
        settings.append(_Setting(key, value if newline else None, origin.removeprefix("file:")))
    return [each for each in settings if each.file != "command line:"]


def _files_of(settings: Sequence[_Setting]) -> list[str]:
    """The files that the settings come from, and those that they include, whether they exist or not."""
    included = [
        os.path.join(os.path.dirname(each.file), os.path.expanduser(each.value))
        for each in settings
        if each.value and each.pattern in ("include.path", "includeif.*.path")
    ]
    return list(dict.fromkeys([*(each.file for each in settings), *included]))


def _default_files(own: Path, shared: Path) -> list[str]:
    """The files that can configure this repository, and HEAD: a file can be included on one branch only."""
    person = [
        os.environ.get("GIT_CONFIG_GLOBAL") or os.path.expanduser("~/.gitconfig"),
        str(_person_folder() / "config"),
    ]
    system = os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig"
    return [str(file) for file in (shared / "config", own / "config.worktree", own / "HEAD", *person, system)]


def _person_folder() -> Path:
    """Git's folder in the person's configuration."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "git")


def _make_folder(folder: Path, common_dir: Path, text: str, *, has_reftable: bool) -> None:
    """Make the view under a temporary name and rename it; one that another process made first is as good."""
    making = folder.with_name(f"{folder.name}.{os.getpid()}-{os.urandom(4).hex()}")
    making.mkdir(mode=0o700)
    for name in _LINKED:
        (making / name).symlink_to(common_dir / name)
    if has_reftable:  # then the view is git's whole directory, whose HEAD must not be a link
        (making / "HEAD").unlink()
        (making / "HEAD").write_bytes((common_dir / "HEAD").read_bytes())
    (making / "config").write_bytes(os.fsencode(text))
    try:
        making.rename(folder)
    except OSError:
        shutil.rmtree(making)
        if not (folder / "config").exists():
            raise


def _replace(file: Path, text: str) -> None:
    unfinished = file.with_name(f"{file.name}.{os.getpid()}-{os.urandom(4).hex()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]
