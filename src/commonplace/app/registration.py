"""Vaults on this machine: making and adopting one, recognising one that was moved, moving and removing it.

A failed or interrupted `init` leaves nothing: the repository is complete before the vault gets it, the entry in the
list of vaults comes last, and what was done before is undone.
"""

import errno
import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import platformdirs

from commonplace.app.vaults import (
    author_of,
    create_folder,
    data_folder,
    data_folder_named,
    folder_numbers,
    holds_vault,
    is_same_folder,
    open_postgresql,
    removed_vault,
    repository_of,
    user_data_folder,
)
from commonplace.errors import NotFound, Refused, UsageError, VaultUnavailable
from commonplace.policy.new_vault import (
    checked_folders,
    doubts_about,
    is_hidden_in_home,
    propose_folders,
    refusal_reason,
)
from commonplace.policy.options import SafetyOptions
from commonplace.screening.secrets import is_secret_file
from commonplace.settings.database_vaults import folder_for, tenant_in
from commonplace.settings.load import LoadedSettings, load_settings
from commonplace.settings.registered_vaults import (
    RegisteredVault,
    RegisteredVaults,
    change_registry,
    register_vault,
    registered_vaults,
    registry_file,
)
from commonplace.settings.schema import Settings
from commonplace.vault.folder import VaultLock
from commonplace.vault.git.baseline import (
    LARGE_FILE_BYTES,
    Baseline,
    is_note,
    plan_baseline,
    prepared_repository,
)
from commonplace.vault.git.location import covers, find
from commonplace.vault.git.run import Git
from commonplace.vault.syscalls import defer_interrupts, translate_os_errors

GitState = Literal["created", "adopted", "none"]
FoldersFrom = Literal["options", "settings", "layout"]

_ALLOWLIST: Final = "safety.path_allowlist"
_NOTHING: Final = Baseline((), 0, 0, (), ())


@dataclass(frozen=True, slots=True)
class InitPlan:
    """What `init` would do with a folder.

    `git` says whether it gets a repository, whose first commit is `baseline`, keeps the one it has, or needs none.
    `outer` is the repository around the folder, if there is one. `doubts` are reasons why it looks like no vault;
    `is_replaced` is one more: another vault was registered here. Agents may write to `folders`, which come from the
    call, from the person's settings or from the vault's layout. `moved_from` is where this vault was before it moved.
    """

    root: Path
    settings: Settings
    name: str
    data: Path
    git: GitState
    outer: Path | None
    baseline: Baseline
    doubts: tuple[str, ...]
    is_replaced: bool
    folders: tuple[str, ...]
    folders_from: FoldersFrom
    is_registered: bool
    moved_from: Path | None

    @property
    def size_limit(self) -> int:
        """The bytes over which the first commit leaves a file out that is not a note."""
        return LARGE_FILE_BYTES

    @property
    def sets_folders(self) -> bool:
        """True if the folders must be kept in the person's settings: they are not set there, nor the default ones."""
        is_default = self.folders_from == "layout" and self.folders == SafetyOptions().path_allowlist
        return self.folders_from != "settings" and not is_default

    def with_folders(self, folders: Sequence[str]) -> "InitPlan":
        """The plan with these folders instead. Raises UsageError for one that is not inside the vault."""
        chosen = checked_folders(folders)
        return self if chosen == self.folders else replace(self, folders=chosen, folders_from="options")


@dataclass(frozen=True, slots=True)
class Initialised:
    """A vault that is ready: what was done, and the folder of the default vault."""

    plan: InitPlan
    default: Path | None

    @property
    def is_default(self) -> bool:
        """True if commands that name no vault use this one."""
        return self.default == self.plan.root.resolve()


def plan_init(folder: Path, *, flags: Mapping[str, object], folders: Sequence[str] | None = None) -> InitPlan:
    """What `init` would do; changes nothing.

    Raises Refused for a folder that can never be a vault, UsageError, VaultUnavailable.
    """
    root = folder_for(str(folder)) or folder.expanduser().absolute()
    if not tenant_in(root):
        refuse_folder(root)
    registered = registered_vaults()
    entry = registered.find(root)
    moved = _moved_vault(registered, root)
    earlier = moved or (None if entry else removed_vault(registered, root))
    loaded = load_settings(flags={**flags, "vault.root": str(earlier.root if earlier else root)})
    settings = replace(loaded.settings, vault=replace(loaded.settings.vault, root=root))
    if tenant_in(root):
        open_postgresql(settings, root).head()  # raises if the database cannot be used
    name = earlier.name if earlier else registered.name_for(root)
    git = _git_state(root, settings)
    baseline = plan_baseline(root, is_secret=is_secret_file) if git == "created" and root.is_dir() else _NOTHING
    allowed, origin = _folders(root, loaded, folders)
    return InitPlan(
        root=root,
        settings=settings,
        name=name,
        data=data_folder_named(settings, name, root=root),
        git=git,
        outer=_outer_repository(root) if git != "none" else None,
        baseline=baseline,
        doubts=_doubts(root, baseline, is_new=git == "created"),
        is_replaced=entry is not None and not holds_vault(entry),
        folders=allowed,
        folders_from=origin,
        is_registered=entry is not None,
        moved_from=earlier.root if earlier and earlier.root != root.resolve() else None,
    )


def carry_out_init(plan: InitPlan, *, then: Callable[[], None]) -> Initialised:
    """Do what the plan says; `then` runs last, when the vault is registered. On any failure nothing is left.

    Raises VaultUnavailable, and what `then` raises.
    """
    with ExitStack() as undo:
        _make_folder(plan.root, undo)
        with VaultLock(plan.root).hold(wait=plan.settings.vault.lock_wait_seconds), _repository(plan) as publish:
            with defer_interrupts():  # a few milliseconds
                publish(undo)
                _make_folder(plan.data, undo)
                registered = _register(plan, undo)
                then()
            undo.pop_all()
    return Initialised(plan, registered.default)


def refuse_folder(root: Path) -> None:
    """Raise Refused for a folder that can never be a vault, UsageError for what is no folder."""
    real = root.resolve()
    reason = refusal_reason(_home_path(real) or str(real), _homes()) or _own_reason(real) or _hidden_reason(real)
    if reason:
        hint = "Keep your notes in a folder of their own, such as ~/Notes, and name that one."
        raise Refused(f"the folder {reason}: it cannot be a vault", path=str(root), hint=hint)
    if root.exists() and not root.is_dir():
        raise UsageError("not a folder", path=str(root), hint="Name a folder.")


def recognise_vault(root: Path) -> Path | None:
    """Where the vault in this folder was registered, if it is gone from there; the list names this folder from now on.

    None if this is no such vault. Vaults that are where the list says cost no call of git.
    """
    moved = _moved_vault(registered_vaults(), root)
    if moved:
        _point(moved, root)
    return moved.root if moved else None


def _moved_vault(registered: RegisteredVaults, root: Path) -> RegisteredVault | None:
    """The vault that is gone from its folder and is in this one now; None if there is none."""
    if registered.find(root):
        return None
    gone = [entry for entry in registered.entries if entry.repository and not holds_vault(entry)]
    repository = repository_of(root) if gone else ""
    matches = [entry for entry in gone if entry.repository == repository]
    return matches[0] if len(matches) == 1 else None


def move_vault(named: str, target: Path, *, flags: Mapping[str, object]) -> tuple[RegisteredVault, bool]:
    """Let a registered vault be in another folder, with its history and index; its new entry, and whether it was moved.

    If it is still where it was, its folder is moved there. Raises NotFound, Refused, UsageError, VaultUnavailable.
    """
    registered = registered_vaults()
    entry, root = registered.select(named), target.expanduser().absolute()
    refuse_folder(root)
    if tenant_in(entry.root):
        hint = f"Write its notes into a folder: `commonplace vault export {shlex.quote(str(root))}`."
        raise UsageError("a vault in a database has no folder that could be moved", path=named, hint=hint)
    if registered.find(root):
        raise UsageError("another vault is registered there", path=str(root), hint="Choose another folder.")
    settings = load_settings(flags={**flags, "vault.root": str(entry.root)}).settings
    data_folder_named(settings, entry.name, root=root)
    is_there = holds_vault(entry)
    if is_there:
        _move_folder(entry, root)
    else:
        _refuse_other_vault(entry, root)
    return _point(entry, root), is_there


def remove_vault(entry: RegisteredVault, *, keeps_data: bool) -> RegisteredVaults:
    """Take a vault off the list; its notes stay. With `keeps_data` a later `init` finds its history again."""

    def drop(present: RegisteredVaults) -> RegisteredVaults:
        entries = tuple(each for each in present.entries if each.name != entry.name)
        default = present.default if present.default != entry.root else next((e.root for e in entries), None)
        removed = tuple(each for each in present.removed if each.name != entry.name)
        return RegisteredVaults(entries, default, (*removed, entry) if keeps_data else removed)

    return change_registry(drop)


def use_vault(entry: RegisteredVault) -> None:
    """Make a vault the default one."""
    change_registry(lambda present: replace(present, default=entry.root))


def data_of(entry: RegisteredVault, flags: Mapping[str, object]) -> Path:
    """The data folder of a registered vault, by the settings for it."""
    settings = load_settings(flags={**flags, "vault.root": str(entry.root)}).settings
    return data_folder(settings, entry.root)


def _homes() -> frozenset[str]:
    """The home folders of this user: by the environment and by the system's list of users."""
    homes = {str(Path.home().resolve())}
    with suppress(KeyError, ImportError):  # a user without an entry, a system without the list
        import pwd

        homes.add(str(Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()))
    return frozenset(homes)


def _home_path(real: Path) -> str:
    """The home, or a folder above it, that this folder is under another spelling; empty if it is none of them."""
    above = {each for home in map(Path, _homes()) for each in (home, *home.parents)}
    with suppress(OSError):
        return next((str(each) for each in above if os.path.samefile(each, real)), "")
    return ""


def _own_reason(real: Path) -> str:
    """Why a folder that belongs to Commonplace is no vault."""
    config, state = platformdirs.user_config_path("commonplace"), platformdirs.user_state_path("commonplace")
    own = (user_data_folder(), config, state)
    return "holds Commonplace's own files" if any(real.is_relative_to(each.resolve()) for each in own) else ""


def _hidden_reason(real: Path) -> str:
    """Why a hidden folder of the home is no vault: programs keep their files there, and it has no note."""
    if not is_hidden_in_home(str(real), _homes()):
        return ""
    has_note = any(is_note(name) for _, _, names in os.walk(real) for name in names)
    return "" if has_note else "is hidden in your home, as programs keep their own files, and has no note"


def _git_state(root: Path, settings: Settings) -> GitState:
    backend = settings.vault.backend
    if backend == "in-memory":
        hint = "Choose another with vault.backend in your settings."
        raise UsageError("the backend in-memory keeps no vault on this machine", hint=hint)
    if backend != "obsidian-vault":
        return "none"
    return "adopted" if root.is_dir() and covers(Git(root.resolve())) else "created"


def _folders(root: Path, loaded: LoadedSettings, named: Sequence[str] | None) -> tuple[tuple[str, ...], FoldersFrom]:
    """The folders that agents may write to, and what they come from."""
    if named is not None:
        return checked_folders(named), "options"
    if _ALLOWLIST in loaded.origins:
        return loaded.settings.safety.path_allowlist, "settings"
    if not root.is_dir():
        return propose_folders([]), "layout"
    with translate_os_errors(str(root), doing="list"), os.scandir(root) as entries:
        return propose_folders([entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]), "layout"


def _outer_repository(root: Path) -> Path | None:
    """The root of the repository that the folder is in without being its root; None if there is none."""
    folder = next(each for each in (root.resolve(), *root.resolve().parents) if each.is_dir())
    with suppress(VaultUnavailable):  # no repository, or none with a working tree
        top = find(Git(folder)).top
        return top if top != root.resolve() else None
    return None


def _doubts(root: Path, baseline: Baseline, *, is_new: bool) -> tuple[str, ...]:
    """Why the folder looks like no vault. One that has a repository already was somebody's choice."""
    if tenant_in(root):
        return ()
    real = str(root.resolve())
    hidden = ("it is in a hidden folder of your home",) if is_hidden_in_home(real, _homes()) else ()
    if not is_new or not root.is_dir():
        return hidden
    with translate_os_errors(str(root), doing="list"):
        names = os.listdir(root)
    left_out = sum(each.files for each in baseline.left_out if each.reason not in ("hidden", "dependencies"))
    files = sum(not path.rpartition("/")[2].startswith(".") for path in baseline.files) + left_out
    return (*hidden, *doubts_about(real, _homes(), names=names, notes=baseline.notes, files=files, size=baseline.size))


@contextmanager
def _repository(plan: InitPlan) -> Iterator[Callable[[ExitStack], None]]:
    """The new repository if the plan asks for one. What comes back gives it to the vault, and can be undone."""
    if plan.git != "created" or covers(Git(plan.root.resolve())):  # another process may have been faster
        yield lambda undo: None
        return
    with prepared_repository(plan.root, plan.baseline, author=author_of(plan.settings.vault)) as publish:

        def publish_undoably(undo: ExitStack) -> None:
            publish()
            undo.callback(shutil.rmtree, plan.root / ".git", ignore_errors=True)

        yield publish_undoably


def _make_folder(folder: Path, undo: ExitStack) -> None:
    """Create the folder and those above it that are missing; undoing removes them while they are empty."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        undo.callback(_remove_empty, each)
    create_folder(folder)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _register(plan: InitPlan, undo: ExitStack) -> RegisteredVaults:
    """Put the vault on the list; undoing leaves it there only as it was before."""
    _make_folder(registry_file().parent, undo)
    before = registered_vaults()
    moved = before.find(plan.moved_from) if plan.moved_from else None
    if moved:
        _point(moved, plan.root)
        undo.callback(_take_back, plan, before)
    repository = repository_of(plan.root) if plan.git != "none" else ""
    folder = folder_numbers(plan.root)
    register_vault(plan.root, name=plan.name, repository=repository, folder=folder, data=plan.data)
    if not moved:
        undo.callback(_take_back, plan, before)
    return registered_vaults()


def _take_back(plan: InitPlan, before: RegisteredVaults) -> None:
    """Let the list say of this vault what it said before; what it says of others stays."""

    def back(present: RegisteredVaults) -> RegisteredVaults:
        was = next((each for each in before.entries if each.name == plan.name), None)
        kept = (was if each.name == plan.name else each for each in present.entries)
        entries = tuple(each for each in kept if each)
        is_default = present.default == plan.root.resolve()
        default = before.default or next((each.root for each in entries), None) if is_default else present.default
        removed = [each for each in present.removed if each.name != plan.name]
        return RegisteredVaults(entries, default, (*removed, *(e for e in before.removed if e.name == plan.name)))

    change_registry(back)


def _point(entry: RegisteredVault, root: Path) -> RegisteredVault:
    """Let the entry of that name have another folder; the new entry."""
    real = root.resolve()
    moved = replace(entry, root=real, repository=repository_of(real) or entry.repository, folder=folder_numbers(real))

    def point(present: RegisteredVaults) -> RegisteredVaults:
        entries = tuple(moved if each.name == entry.name else each for each in present.entries)
        return replace(present, entries=entries, default=real if present.default == entry.root else present.default)

    change_registry(point)
    return moved


def _move_folder(entry: RegisteredVault, root: Path) -> None:
    """Move the vault's folder while nobody writes to it."""
    if os.path.lexists(root):
        hint = "Name a folder that does not exist yet, or move the notes yourself first."
        raise Refused("both folders exist", path=str(root), hint=hint)
    if root.resolve().is_relative_to(entry.root):
        raise UsageError("a folder cannot be moved into itself", path=str(root), hint="Choose another folder.")
    with VaultLock(entry.root).hold(wait=10.0):
        try:
            os.rename(entry.root, root)
        except OSError as error:
            is_far = error.errno == errno.EXDEV
            message = "it is on another disk" if is_far else error.strerror
            command = f"mv {shlex.quote(str(entry.root))} {shlex.quote(str(root))}"
            hint = f"Move it yourself, with `{command}` or the file manager, and run this command again."
            raise VaultUnavailable(f"the folder could not be moved: {message}", path=str(root), hint=hint) from error


def _refuse_other_vault(entry: RegisteredVault, root: Path) -> None:
    """Return if the vault is in this folder now: it is the same folder, or has the same git history.

    A vault that is a part of a repository may have another place in it. Raises NotFound, Refused.
    """
    if not root.is_dir():
        message = f"neither {entry.root} nor {root} is that vault's folder"
        raise NotFound(message, path=str(root), hint="Name the folder in which the vault is now.")
    (first, _, place), (known, _, known_place) = repository_of(root).partition(":"), entry.repository.partition(":")
    is_same = first == known and bool(place) == bool(known_place)
    if entry.repository and not is_same and not is_same_folder(entry, root):
        raise Refused(
            f"the folder is not the vault that was in {entry.root}: its git history is different",
            path=str(root),
            hint="Name the folder in which that vault is now, or register this one with `commonplace init`.",
        )
