"""Which vault a client asks the daemon for: as it was told, else as its environment says; the current folder never."""

import os

_VARIABLES = ("COMMONPLACE_VAULT", "MEMORY_VAULT_PATH")  # the first that is set counts


def vault_header(named: str = "") -> dict[str, str]:
    """The header that asks for this vault; none for the daemon's default one."""
    asked = named or next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), "")
    if not asked:
        return {}
    from urllib.parse import quote

    # The daemon, which is elsewhere, must understand the path, and a header takes no letter beyond ASCII.
    return {"Commonplace-Vault": quote(os.fsencode(os.path.abspath(os.path.expanduser(asked))))}
