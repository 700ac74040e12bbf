"""What lies in files, byte for byte: for tests that look for what must not be there."""

from pathlib import Path


def raw_bytes(folder: Path) -> bytes:
    """The bytes of every file in the folder and below it."""
    return b"".join(each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file())
