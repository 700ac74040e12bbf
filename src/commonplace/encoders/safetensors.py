"""The tensors of a `.safetensors` file: eight bytes of length, a JSON table of names, then the numbers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from commonplace.errors import ProviderFailed

if TYPE_CHECKING:
    import numpy.typing as npt

    Tensors = Mapping[str, npt.NDArray[np.float32]]


def read_tensors(path: Path) -> "Tensors":
    """Every float32 tensor of the file by its name. Raises ProviderFailed when the file is no such file."""
    try:
        raw = path.read_bytes()
        start = 8 + int.from_bytes(raw[:8], "little")
        table = json.loads(raw[8:start])
        return {
            name: _tensor(raw, start, entry)
            for name, entry in table.items()
            if name != "__metadata__" and entry["dtype"] == "F32"
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"the weights in {path} cannot be read"
        raise ProviderFailed(message, path=str(path), hint="Run `commonplace model install` again.") from error


def _tensor(raw: bytes, start: int, entry: Mapping[str, list[int]]) -> "npt.NDArray[np.float32]":
    first, last = entry["data_offsets"]
    return np.frombuffer(raw[start + first : start + last], "<f4").reshape(entry["shape"])
