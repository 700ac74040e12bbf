"""How the index finds the note that a link means, by looking only at notes that share a name with it."""

from collections.abc import Mapping, Sequence

from commonplace.model import Link
from commonplace.notes.names import Names, key_of


class NoteLinker:
    """Resolves links as the whole vault would, among the few notes that have one of the link's names."""

    def names_of(self, path: str, aliases: Sequence[str]) -> frozenset[str]:
        """The names under which a link may mean the note: that of its file, without `.md`, and its aliases."""
        return frozenset((_stem(path), *map(key_of, aliases)))

    def names_in(self, link: Link) -> frozenset[str]:
        """The names that this link may mean; none for a link within its own note."""
        if not link.target:
            return frozenset()
        return frozenset((_stem(link.target), key_of(link.target.strip())))

    def resolve(self, link: Link, *, source: str, among: Mapping[str, tuple[str, ...]]) -> str | None:
        """The path that the link in the note `source` means, among these paths and the aliases of each."""
        return Names.of(among, among).resolve(link, source=source)


def _stem(path: str) -> str:
    """The comparing key of a path's last part; without `.md`, however often, so that `a.md` and `a.md.md` meet."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    name = key_of(parts[-1]) if parts else ""
    while name.endswith(".md"):
        name = name.removesuffix(".md")
    return name
