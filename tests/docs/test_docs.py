"""The docs cannot lie: their commands run, their output is the real one, their links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

from tools import docs as generated

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
EVERY_PAGE = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
MARK = "=====next====="


def fenced(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def in_a_shell(script: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )


def commands_with_output(page: Path) -> list[tuple[str, str]]:
    """Each `$ command` of a page's console blocks with the output shown below it."""
    shown: list[tuple[str, str]] = []
    for line in "".join(fenced(page, "console")).splitlines():
        if line.startswith("$ "):
            shown.append((line[2:], ""))
        else:
            shown[-1] = (shown[-1][0], f"{shown[-1][1]}{line}\n")
    return shown


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_run_and_print_what_it_shows(page: Path) -> None:
    """All of a page's commands, in one shell; where output is shown, it is the output."""
    steps = commands_with_output(page)
    run = in_a_shell(f"\necho {MARK}\n".join(command for command, _ in steps))

    assert run.returncode == 0, run.stderr
    printed = re.split(rf"{MARK}\n", run.stdout)
    whole = page.name == "README.md"
    assert [
        (c, text) for (c, shown), text in zip(steps, printed, strict=True) if (shown or whole) and shown != text
    ] == []


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(page: Path) -> None:
    """As a program, on the sample vault."""
    in_a_shell("commonplace demo --into ~/sample-vault")
    for program in fenced(page, "python"):
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

        assert (run.returncode, run.stdout != "") == (0, True), run.stderr


def test_the_two_commands_of_the_readme_are_targets_of_make() -> None:
    """`make demo` and `make test` are what CI and newcomers type."""
    for target in re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE):
        assert in_a_shell(f"make -C {quote(str(ROOT))} -n {target}").returncode == 0


@pytest.mark.parametrize("path", sorted(generated.pages()))
def test_a_generated_page_is_up_to_date(path: str) -> None:
    """Every command, setting and error is documented, because its page is made from the program."""
    assert (ROOT / path).read_text() == generated.pages()[path], "run `make docs`"


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    """Relative links to files and folders of the project."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", text)

    assert [target for target in targets if not (page.parent / target).exists()] == []
