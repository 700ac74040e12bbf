"""Tests that run a benchmark in short, on vaults and sets of known figures: `make bench-tests`, not `make test`."""

from tests.conftest import _a_home_of_its_own, home, pytest_runtest_setup
from tests.integration.conftest import patient_recall

__all__ = ["_a_home_of_its_own", "home", "patient_recall", "pytest_runtest_setup"]
