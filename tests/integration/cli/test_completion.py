"""What the shell offers when a person presses Tab; nothing of it opens a vault."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.hosts.own_settings import save_setting
from commonplace.hosts.registry import HOSTS
from commonplace.settings.registered_vaults import register_vault
from tests.command_line import run_commonplace


def offered(line: str) -> list[str]:
    """What bash offers for the last word of a command line, which may be empty."""
    words = f"commonplace {line}"
    place = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_COMMONPLACE_COMPLETE": "complete_bash"}
    done = run_commonplace(env={**os.environ, **place})

    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("sea", ["search"]),
        ("settings se", ["set"]),
        ("settings set safety.auto", ["safety.autonomy"]),
        ("settings set safety.autonomy ", ["low", "medium", "high"]),
        ("settings set context.recall ", ["true", "false"]),
        ("settings set retrieval.without halves,na", ["halves,names"]),
        ("settings set user ", []),
        ("settings unset embedding.prov", ["embedding.provider"]),
        ("settings --json set embedding.variant ", ["int8", "fp32"]),
        ("save x --kind pref", ["preference"]),
        ("fact add a b c --fact id", ["identity"]),
        ("search x --mode w", ["words"]),
        ("search x --by d", ["document"]),
        ("search x --source ", ["vault", "chat", "task", "correction", "isolated"]),
        ("recall x --kind pref", ["preference"]),
        ("context x --phase pl", ["plan"]),
        ("conversation add --trust to", ["told"]),
        ("model use gte", ["gte-small"]),
        ("hook pre", ["pre-compact"]),
        ("token create x --scope wr", ["write"]),
    ],
)
def test_closed_values_are_offered(line: str, values: list[str]) -> None:
    """Names of commands, keys and values of settings, kinds, modes, sources, phases, models."""
    assert offered(line) == values


def test_hosts_and_the_ways_to_install_in_them_are_offered() -> None:
    """For `install` and `uninstall`."""
    assert offered("install ") == offered("uninstall ") == [*HOSTS]
    assert offered("install claude-code --transport ") == ["stdio", "http"]
    assert offered("install claude-code --scope ") == ["user", "project"]


def test_what_the_person_named_is_offered(tmp_path: Path) -> None:
    """The registered vaults, whether or not their folders are there, and kinds of the person's own."""
    (tmp_path / "garden").mkdir()
    entry = register_vault(tmp_path / "garden")
    (tmp_path / "garden").rmdir()
    save_setting("facts.kinds", ("recipe",))

    assert offered("--vault ") == [str(entry.root)]
    assert offered("save x --kind rec") == ["recipe"]


def test_damaged_settings_offer_less_and_say_nothing(home: Path) -> None:
    """A message in the middle of a line that is being typed would be in the way."""
    (home / "config/commonplace").mkdir(parents=True)
    (home / "config/commonplace/settings.toml").write_text("[")
    (home / "config/commonplace/vaults.json").write_text("[")

    assert offered("--vault ") == []
    assert "preference" in offered("save x --kind ")


def test_the_names_of_commands_are_offered_without_loading_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the table."""
    monkeypatch.delitem(sys.modules, "commonplace.cli.review", raising=False)

    assert offered("re") == ["recall", "review", "resume", "rebuild"]
    assert "commonplace.cli.review" not in sys.modules


def test_bash_completes_with_what_it_is_told_to_install(home: Path) -> None:
    """The shell is recognised, its own file loads the script, and the script asks this program."""
    program = f"{sys.executable} -m commonplace"
    lines = (
        f"{program} --install-completion > /dev/null",
        'source "$HOME/.bashrc"',
        "COMP_WORDS=(commonplace settings set safety.autonomy m) COMP_CWORD=4",
        f'commonplace() {{ :; }}; env() {{ command env "${{@:1:3}}" {program}; }}',
        "_commonplace_completion commonplace",
        'echo "${COMPREPLY[@]}"',
        f"{program} --show-completion",
    )
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=240, check=True)

    first, _, script = done.stdout.partition("\n")
    assert first == "medium"
    assert script.strip() == (home / ".bash_completions/commonplace.sh").read_text().strip()
