"""Rules of listing: which files, in which order, and what is left out."""

from commonplace.errors import NotFound
from commonplace.testing.contract import Check, MustRaise, Store, checks, filled, require
from commonplace.vault.base import StorageBackend

_PATHS = ("b.md", "a.md", "Folder/two.md", "Folder/deep/three.md", "Folder.md", "Folder and more/four.md")
_FILES = dict.fromkeys(_PATHS, b"text\n")


def _paths(backend: StorageBackend, folder: str = "", *, recursive: bool = True) -> list[str]:
    return [stat.path for stat in backend.list(folder, recursive=recursive).files]


def check_a_listing_has_every_file_in_order(store: Store) -> None:
    """A listing has every file of the store once, in the order of their paths."""
    found = _paths(filled(store, _FILES))
    require(sorted(found) == sorted(_PATHS), f"the listing has {found}, the store {sorted(_PATHS)}")
    require(found == sorted(found), f"the listing is not in order: {found}")


def check_a_listing_can_stay_in_one_folder(store: Store) -> None:
    """Without `recursive`, a listing has the files of one folder and none below it."""
    backend = filled(store, _FILES)
    for folder, expected in (("", ["Folder.md", "a.md", "b.md"]), ("Folder", ["Folder/two.md"])):
        found = _paths(backend, folder, recursive=False)
        require(found == expected, f"the listing of '{folder}' alone is {found}, not {expected}")


def check_a_listing_can_start_in_a_folder(store: Store) -> None:
    """A listing of a folder has what is below it, with whole paths, and nothing of folders that begin alike."""
    found = _paths(filled(store, _FILES), "Folder")
    require(found == ["Folder/deep/three.md", "Folder/two.md"], f"the listing of 'Folder' is {found}")


def check_skip_leaves_out_files_and_whole_folders(store: Store) -> None:
    """`skip` leaves out the files it names; a folder, asked for with a slash at the end, is left out whole."""
    backend = filled(store, _FILES)
    found = [stat.path for stat in backend.list(skip=lambda path: path in ("a.md", "Folder/deep/")).files]
    require("a.md" not in found, "a file that skip names is listed")
    require("Folder/deep/three.md" not in found, "a file is listed whose folder skip names")
    require(len(found) == len(_PATHS) - 2, f"skip left out more than it named: {found}")


def check_an_empty_store_lists_nothing(store: Store) -> None:
    """The root of an empty store is a folder with no files."""
    require(store.open().list().files == (), "the listing of an empty store is not empty")


def check_a_missing_folder_is_not_found(store: Store) -> None:
    """A folder that is not there is NotFound, not an empty listing; and so is a file where a folder is asked for."""
    backend = filled(store, _FILES)
    for folder in ("missing", "Folder/missing", "a.md"):
        with MustRaise(NotFound, when=f"when '{folder}', which is no folder, is listed"):
            backend.list(folder)


LISTING: tuple[Check, ...] = checks(
    check_a_listing_has_every_file_in_order,
    check_a_listing_can_stay_in_one_folder,
    check_a_listing_can_start_in_a_folder,
    check_skip_leaves_out_files_and_whole_folders,
    check_an_empty_store_lists_nothing,
    check_a_missing_folder_is_not_found,
)
