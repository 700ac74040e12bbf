"""The public verbs, one small module per noun. `Memory` is the thin object that holds them."""

from types import TracebackType

from commonplace.memory.notes import Notes


class Memory:
    """One vault, opened: what every door and every program speaks to. Its verbs may be called from several threads."""

    def __init__(self, *, notes: Notes) -> None:
        self.notes = notes

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is held open between two calls yet, so there is nothing to close."""


__all__ = ["Memory", "Notes"]
