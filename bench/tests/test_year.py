"""Some weeks of the simulated year, in short: `bench/year.py` lives all of it."""

from pathlib import Path

import pytest
from bench.year import live_year


@pytest.mark.timeout(240)
def test_some_weeks_with_a_model_stays_true_and_can_be_taken_back(tmp_path: Path) -> None:
    """Every attribute has its value and no old one, no note of the person changes, all commands of the digest work,
    and a rebuilt index answers the same."""
    result = live_year(tmp_path, days=18, checkpoints=1, questions=20, has_model=True)

    assert result.broken == []
    assert result.is_equal
    assert result.commands
    assert result.checkpoints[-1].known == result.checkpoints[-1].attributes > 30
    assert result.recall["day 18"]["in_context"] > 0.9
