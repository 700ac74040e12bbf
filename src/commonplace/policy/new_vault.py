"""Which folders may become a vault, which only if a person confirms it, and where agents may write in a new one."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from commonplace.errors import UsageError
from commonplace.model.layout import folded_parts, is_inbox
from commonplace.model.text import fold_name
from commonplace.policy.options import SafetyOptions

_SYSTEM_TREES: Final = (
    *("/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr"),
    *("/var/cache", "/var/lib", "/var/log", "/var/mail", "/var/run", "/var/spool"),
    *("/Applications", "/Library", "/System", "/cores", "/private/etc"),  # macOS
)
"""Folders of the system. Neither they nor anything below them is a vault."""

_SHARED_FOLDERS: Final = (
    *("/dev", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/run/media", "/srv", "/var"),
    *("/tmp", "/var/tmp"),  # noqa: S108 (refused, never used)
    *("/Network", "/Users", "/Volumes", "/private", "/private/tmp", "/private/var", "/private/var/tmp"),  # macOS
)
"""Folders that belong to everyone or hold the homes and disks of people. A folder below them may be a vault."""

_HOME_TREES: Final = frozenset(
    {
        *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".mozilla", ".thunderbird"),
        *("snap", ".config", ".local", ".cache", ".var", ".npm", ".cargo", ".rustup", ".trash"),
        *(".agents", ".claude", ".codeium", ".codex", ".copilot", ".cursor", ".gemini", ".opencode", ".vscode", ".zed"),
    }
)
"""Folders in a home that programs keep their own files or keys in: also those of the hosts we install into."""

_HOME_SHELVES: Final = frozenset(
    {
        *("documents", "desktop", "downloads", "pictures", "music", "movies", "videos", "public", "templates"),
        *("dropbox", "onedrive", "google drive", "nextcloud", "library", "applications", "appdata"),
        *("dokumente", "schreibtisch", "bilder", "musik", "escritorio", "documentos", "bureau"),
    }
)
"""Folders in a home that hold everything a person has. Their subfolders are vaults, they themselves seldom."""

_SOURCE_TREE_FILES: Final = frozenset(
    {
        *("package.json", "pyproject.toml", "setup.py", "requirements.txt", "cargo.toml", "go.mod", "pom.xml"),
        *("build.gradle", "build.gradle.kts", "cmakelists.txt", "makefile", "composer.json", "gemfile", "mix.exs"),
        *("dockerfile", "docker-compose.yml", "tsconfig.json", "meson.build", "configure.ac"),
    }
)
_NOTE_APPS: Final = frozenset({".obsidian", ".logseq", ".foam", "logseq"})
"""Folders in which a note-taking program keeps its settings: a sign of a vault."""

_MANY_FILES: Final = 200  # from here on the share of notes says something
_LEAST_SHARE: Final = 0.02  # of notes among the files; gardens with many pictures have a tenth
_MANY_BYTES: Final = 1_000_000_000  # a first commit of this size is seldom meant


def refusal_reason(folder: str, homes: Collection[str]) -> str:
    """Why this folder can never be a vault, as the end of "the folder ..."; empty if it can. All paths are resolved."""
    if folder == "/":
        return "is the root of the file system"
    for home in homes:
        if _is_within(home, folder):
            return "is your home folder" if folder == home else "holds your home folder"
    for home in homes:
        if _is_within(folder, home) and home != "/":
            first = folder[len(home) + 1 :].partition("/")[0]
            return "is where programs keep your keys and their own files" if first.lower() in _HOME_TREES else ""
    if _in_system(folder):
        return "belongs to the system"
    return "is shared by everyone on this machine" if folder in _SHARED_FOLDERS else ""


def is_hidden_in_home(folder: str, homes: Collection[str]) -> bool:
    """True if the folder is, or is in, a folder of the home whose name begins with a dot. All paths are resolved."""
    return any(home != "/" and folder.startswith(f"{home}/.") for home in homes)


def doubts_about(
    folder: str, homes: Collection[str], *, names: Collection[str], notes: int, files: int, size: int
) -> tuple[str, ...]:
    """Why the folder looks like no vault, each as a clause; empty for one that may well be a vault.

    `names` are those of its files and folders. The first commit would hold `files` files of `size` bytes together.
    """
    folded = {name.lower() for name in names}
    if folded & _NOTE_APPS:
        return _size_doubt(size)
    doubts = []
    parent, _, name = folder.rpartition("/")
    if parent in homes and name.lower() in _HOME_SHELVES:
        doubts.append(f"{name} usually holds more than notes: a folder in it makes a better vault")
    if signs := sorted(name for name in names if name.lower() in _SOURCE_TREE_FILES):
        doubts.append(f"it looks like the source of a program ({', '.join(signs[:3])})")
    if notes == 0 and files:
        doubts.append(f"none of its {files:,} files is a note" if files > 1 else "its only file is no note")
    elif files > _MANY_FILES and notes < _LEAST_SHARE * files:
        doubts.append(f"only {notes:,} of its {files:,} files are notes")
    return (*doubts, *_size_doubt(size))


def _size_doubt(size: int) -> tuple[str, ...]:
    return (f"the first commit would hold {size / 1e9:.1f} GB",) if size > _MANY_BYTES else ()


def _in_system(folder: str) -> bool:
    return any(_is_within(folder, tree) for tree in _SYSTEM_TREES)


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


_KNOWN_FOLDERS: Final = frozenset(
    {
        *("inbox", "capture", "captures", "fleeting", "fleetingnotes", "scratch", "scratchpad", "quicknotes"),
        *("daily", "dailies", "dailynote", "dailynotes", "day", "days", "diary", "journal", "journals", "log"),
        *("periodic", "periodicnotes", "tagebuch", "meeting", "meetings", "meetingnotes", "minutes", "calls"),
        *("people", "person", "persons", "personen", "contacts", "crm", "team", "colleagues", "eingang"),
        *("project", "projects", "projekte", "reflection", "reflections", "commitments", "tasks", "todo", "todos"),
        *("review", "reviews", "weekly", "weeklyreview", "weeklyreviews", "monthly", "retrospectives"),
    }
)
"""What people call folders like those in which agents may write by default; folded, without blanks and signs."""

_PREFIX: Final = re.compile(r"^[\W\d_]+(?=\w)")
_SIGNS: Final = re.compile(r"[\W_]+")


def propose_folders(names: Iterable[str]) -> tuple[str, ...]:
    """The top-level folders that agents should write to in a vault with these, spelled as they are there.

    Numbers and signs before a name do not count. The default folders for a vault that has no folder of its own; `Inbox`
    is added where none serves as one, so that an agent always has a place to write.
    """
    visible = [name for name in names if not name.startswith((".", "_")) and name.lower() not in ("agent", "templates")]
    if not visible:
        return SafetyOptions().path_allowlist
    known = [name for name in visible if _SIGNS.sub("", _PREFIX.sub("", fold_name(name))) in _KNOWN_FOLDERS]
    inbox = () if any(is_inbox(name) for name in known) else ("Inbox",)
    return (*inbox, *sorted(known, key=lambda name: (not is_inbox(name), fold_name(name))))


def checked_folders(folders: Sequence[str]) -> tuple[str, ...]:
    """These folders, each once, without slashes at the ends. Raises UsageError for one that is not inside the vault."""
    clean = []
    for folder in folders:
        parts = folded_parts(folder)
        if not parts or any(name.startswith(".") for name in parts) or not folder.isprintable():
            raise UsageError(
                f"{folder!r} is not a folder inside the vault",
                hint="Name folders relative to the vault, such as `Inbox,Journal` or `Areas/Work`.",
            )
        clean.append(folder.strip().strip("/"))
    if not clean:
        raise UsageError("no folder was named", hint="Name at least one, such as `Inbox`.")
    return tuple(dict.fromkeys(clean))
