"""Finding secrets from several threads."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from commonplace.screening.secrets import find_secrets

EXAMPLES = Path(__file__).parents[2] / "gate_examples/blind.jsonl"


def test_many_threads_find_the_same() -> None:
    """The search keeps no state but its compiled expressions: threads that search the same texts find the same."""
    texts = [json.loads(line)["text"] for line in EXAMPLES.read_text().splitlines()]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(find_secrets, texts * 2))

    assert together == [find_secrets(text) for text in texts] * 2
