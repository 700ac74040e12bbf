"""The guard of tests/unit/conftest.py catches a unit test that is not pure."""

from pathlib import Path

import pytest

GUARD = Path(__file__).parents[1] / "unit/conftest.py"
IMPURE = """
import apsw, os, pathlib, socket, sqlite3, subprocess, threading
def test_disk(tmp_path): pass
def test_file(): pathlib.Path("x").write_text("x")
def test_folder(): pathlib.Path("y").mkdir()
def test_thread(): threading.Thread(target=print).start()
def test_process(): subprocess.run(["true"])
def test_fork(): os.fork() or os._exit(0)
def test_socket(): socket.socket().bind(("127.0.0.1", 0))
def test_database(): sqlite3.connect(":memory:")
def test_index(): apsw.Connection(":memory:")
def test_swallowed():
    try:
        subprocess.run(["true"])
    except Exception:
        pass
"""
PURE = "import pathlib\ndef test_reading(): assert pathlib.Path(__file__).read_text()\n"


def test_a_unit_test_that_is_not_pure_fails(pytester: pytest.Pytester) -> None:
    """Each of these does one thing that no unit test may do; reading a file is allowed."""
    pytester.makeconftest(GUARD.read_text())
    pytester.makepyfile(test_impure=IMPURE, test_pure=PURE)
    run = pytester.runpytest_subprocess("-q", "-p", "no:schemathesis", "-p", "no:xdist")

    run.assert_outcomes(passed=1, failed=IMPURE.count("def ") - 1, errors=1)
    run.stdout.fnmatch_lines(["*move it to tests/integration*"])
