"""What a program may be called when it speaks to the daemon. Without patterns: a hook has no time to load any."""

LONGEST = 64
_SIGNS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._-")


def is_client_name(name: str) -> bool:
    """Whether a program may be called so: 1 to 64 letters, digits, blanks, dots, underscores and dashes."""
    return 0 < len(name) <= LONGEST and _SIGNS.issuperset(name) and name == name.strip()


def as_client_name(name: str) -> str:
    """The name with a dash for every other character, and no longer than it may be."""
    return "".join(sign if sign in _SIGNS else "-" for sign in name)[:LONGEST].strip()
