"""Which vaults there are: those that `init` has registered, read again whenever the list or the settings change."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from commonplace.errors import CommonplaceError, NotFound, UsageError
from commonplace.settings import Registered, load_settings, person_file, registered, registry_file

_WHERE_IT_STARTED: Final = ("COMMONPLACE_VAULT", "COMMONPLACE_VAULT__ROOT", "MEMORY_VAULT_PATH")
"""What the shell said that happened to start the daemon: it says nothing about the programs that call it."""
_Stamp = tuple[int, int, int] | None
_HINT: Final = "Run `commonplace init FOLDER` once."


class Registry:
    """The registered vaults, as they are now."""

    def __init__(self, flags: Mapping[str, object]) -> None:
        self._flags = {key: value for key, value in flags.items() if key != "vault.root"}
        self._stamp: tuple[_Stamp, _Stamp] | None = None
        self._known = Registered()

    @property
    def vaults(self) -> tuple[Path, ...]:
        """Their folders, the default one first. Raises UsageError when the list cannot be read."""
        known = self._current()
        return tuple(dict.fromkeys([*([known.default] if known.default else []), *known.vaults]))

    @property
    def default(self) -> Path | None:
        """The one that is meant when none is named: by the person's settings, else the first that was registered."""
        return self._current().default

    def meant(self, named: str) -> Path:
        """The registered vault of that path or folder name; the default one for "". Raises NotFound, UsageError."""
        if not named:
            if default := self.default:
                return default
            raise NotFound("no vault is registered", hint=_HINT)
        found = self._of_path(named) or self._of_name(named)
        if not found:
            raise NotFound(f"no vault is registered as {named!r}", path=named, hint=_HINT)
        if len(found) > 1:
            listed = ", ".join(map(str, found))
            raise UsageError(f"several vaults are called {named!r}", hint=f"Name one by its path: {listed}.")
        return found[0]

    def _of_path(self, named: str) -> list[Path]:
        path = Path(os.path.expanduser(named))
        if not path.is_absolute() or "\0" in named:
            return []
        real = path.resolve()
        return [vault for vault in self.vaults if vault in (path, real)]

    def _of_name(self, named: str) -> list[Path]:
        return [vault for vault in self.vaults if vault.name == named]

    def _current(self) -> Registered:
        stamp = _stamp_of(registry_file()), _stamp_of(person_file())
        if stamp != self._stamp:
            self._known, self._stamp = self._read(), stamp
        return self._known

    def _read(self) -> Registered:
        """The list, with the default that the person's own settings name, if they name one that is registered."""
        known = registered()
        environ = {name: value for name, value in os.environ.items() if name not in _WHERE_IT_STARTED}
        try:
            named = load_settings(flags=self._flags, environ=environ).settings.vault.root
        except CommonplaceError:
            return known  # whoever opens a vault with these settings is told what is wrong with them
        default = named.resolve() if named else None
        return Registered(known.vaults, default if default in known.vaults else known.default)


def _stamp_of(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
