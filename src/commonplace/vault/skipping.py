"""What `skip` leaves out of a store: the paths it names, and all below the folders it names."""

from collections.abc import Callable

from commonplace.vault.base import Skip


def skipping(skip: Skip | None, *, below: str = "") -> Callable[[str], bool]:
    """Says of a file's path whether `skip` names it or a folder on the way to it; each folder is asked for once.

    `below` is a folder with a slash at its end that is not asked for itself, nor those above it.
    """
    if skip is None:
        return lambda path: False
    names = skip
    folders: dict[str, bool] = {}

    def leaves_out_folder(folder: str) -> bool:
        if not folder.startswith(below) or folder == below or not folder:
            return False
        if folder not in folders:
            folders[folder] = leaves_out_folder(_above(folder)) or names(folder)
        return folders[folder]

    return lambda path: leaves_out_folder(_above(path)) or names(path)


def _above(path: str) -> str:
    """The folder that holds the path, with a slash at its end; "" for the root."""
    folder, slash, _ = path.rstrip("/").rpartition("/")
    return folder + slash
