"""Names of people, things and places, brought to one spelling so that they compare."""

import re
from typing import Final
from unicodedata import normalize

ME: Final = "me"
"""The entity that everybody calls by another name: the user."""

_OWN_NAMES: Final = frozenset({"i", "me", "myself"})
_LINK: Final = re.compile(r"!?\[\[([^\[\]]*)\]\]")
_AROUND: Final = " \t\r\n\"'`*_\u2018\u2019\u201c\u201d\u00ab\u00bb\u201e"
_AFTER: Final = _AROUND + ".,;:!?"


def entity_key(name: str, *, user: str = ME) -> str:
    """The name as it compares: the same for all spellings of one name, `me` for the user; empty for no name."""
    bare = unlinked(normalize("NFC", name)).strip()
    if bare.endswith(".md") or _is_path(bare):
        bare = _without_folders(bare)
    bare = bare.lstrip(_AROUND).rstrip(_AFTER) or bare
    key = normalize("NFC", " ".join(bare.split()).casefold())
    is_user = key in _OWN_NAMES or (key and key == normalize("NFC", user.strip().casefold()))
    return ME if is_user else key


def unlinked(text: str) -> str:
    """The text with the name of its note in place of every wikilink: no brackets, folders, heading or shown words."""
    return _LINK.sub(lambda link: _without_folders(link[1].partition("|")[0].partition("#")[0].strip()), text)


def _is_path(name: str) -> bool:
    # Only folders that begin as those of a vault do, so that TCP/IP, 24/7 and client/server stay whole.
    *folders, last = name.split("/")
    return bool(folders and last) and all(each[:1].isupper() and not each.isupper() for each in folders)


def _without_folders(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")
