"""What the real programs make of our entries: tools that are there once, need no question, or are ignored."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any, Final

import pytest

from tests.daemons import command
from tests.hosts.anthropic_endpoint import ScriptedAnthropic
from tests.hosts.claude_code import run_claude
from tests.hosts.codex import run_codex, settle
from tests.hosts.endpoint import Call, Say, ScriptedModel, Turn
from tests.hosts.openai_endpoint import ScriptedOpenAI
from tests.hosts.person import WHO, Person, robin
from tests.hosts.programs import REPOSITORY, run

pytestmark = pytest.mark.needs("node")

SEARCH: Final = Call("memory_search", {"query": "which board do the sensors use?"})
FOUND: Final = "40 days on one charge"
TRIES: Final = 3
EVENTS: Final = {"PreCompact": "pre_compact", "SessionStart": "session_start", "SessionEnd": "session_end"} | {
    "UserPromptSubmit": "user_prompt_submit",
    "Stop": "stop",
}


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    """Robin, who has a daemon."""
    with robin(tmp_path_factory.mktemp("robin")) as person:
        yield person


@pytest.fixture
def plugin(person: Person) -> Iterator[None]:
    """The plugin, installed in Claude Code as a person does it, and removed again."""
    _claude(person, "marketplace", "add", str(REPOSITORY))
    _claude(person, "install", "commonplace@commonplace")
    yield
    _claude(person, "uninstall", "commonplace@commonplace")


def _claude(person: Person, *words: str) -> None:
    ran = run("claude", "plugin", *words, environ=person.environ, folder=person.project)
    assert ran.code == 0, ran.said + ran.errors


def ask_claude(person: Person, *words: str, script: list[Turn]) -> ScriptedModel:
    """The model of a session in which it does what the script says."""
    with ScriptedAnthropic(script) as model:
        ran = run_claude(
            "Good morning.", *words, model=model, environ=person.environ, project=person.project, plugins=()
        )
    assert ran.code == 0, ran.errors
    return model


def found_by_doctor(person: Person, host: str) -> list[str]:
    """What doctor says of that host that is wrong; how quick the hooks were says more about the machine."""
    with chdir(person.project):
        told = command(person.environ, "doctor", "--json")
    findings: list[dict[str, Any]] = json.loads(told.stdout)["findings"]
    wrong = [each["said"] for each in findings if each["what"].startswith(host) and not each["ok"]]
    return [each for each in wrong if not each.startswith("recall was late")]


@pytest.mark.parametrize("scope", ["user", "project"])
def test_with_plugin_and_install_claude_code_shows_its_model_every_tool_once(
    scope: str, person: Person, plugin: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person's own entry serves, or the plugin, and doctor finds nothing wrong with that."""
    monkeypatch.chdir(person.project)
    person.run("install", "claude-code", "--scope", scope, "--yes")
    (person.project / ".claude").mkdir(exist_ok=True)
    (person.project / ".claude" / "settings.local.json").write_text('{"enableAllProjectMcpServers": true}')
    model = ask_claude(person, "--allowedTools", "mcp__*", script=[SEARCH, SEARCH, Say("Good.")])
    wrong = found_by_doctor(person, "claude-code")
    person.run("uninstall", "claude-code")
    assert isinstance(model, ScriptedAnthropic)
    names = model.full_names_in(model.turns[-1])
    ours = [name.rpartition("__")[2] for name in names]

    assert "memory_search" in ours
    assert sorted(ours) == sorted({*ours})
    assert {name.rpartition("__")[0] for name in names} == {
        "mcp__commonplace" if scope == "user" else "mcp__plugin_commonplace_commonplace"
    }
    assert wrong == []


def test_claude_code_need_not_ask_for_a_tool_that_only_reads(person: Person) -> None:
    """Where nobody can be asked it refuses a call, unless the person has agreed to it with the install."""
    answers = []
    for option in ("--ask-before-reading", "--allow-reading"):
        person.run("install", "claude-code", "--yes", "--no-hooks", option)
        model = ask_claude(person, script=[SEARCH, Say("Good.")])
        answers.append(FOUND in model.turns[-1].text)
    person.run("uninstall", "claude-code")

    assert answers == [False, True]


def test_a_comment_makes_claude_code_ignore_its_settings_and_doctor_says_so(person: Person) -> None:
    """With them our hooks: nothing of memory is in the prompt."""
    person.run("install", "claude-code", "--yes")
    file = person.home / ".claude" / "settings.json"
    plain = file.read_text()
    file.write_text(f"// mine\n{plain}")
    ignored = ask_claude(person, script=[Say("Good.")])
    wrong = found_by_doctor(person, "claude-code")
    file.write_text(plain)
    heard = False
    for _ in range(TRIES):  # other tests may keep the machine busy, and then a hook gives up
        heard = heard or WHO in ask_claude(person, script=[Say("Good.")]).turns[-1].text
    person.run("uninstall", "claude-code")

    assert WHO not in ignored.turns[-1].text
    assert wrong == ["Claude Code ignores this file: line 1 has a comment"]
    assert heard


def test_codex_runs_no_hook_that_is_not_trusted_and_doctor_says_so(person: Person) -> None:
    """Its settings say which are; by what it writes there we know."""
    with ScriptedOpenAI([Say("Good.")] * (1 + TRIES)) as model:
        settings = settle(person.home, model)
        person.run("install", "codex", "--yes")
        _run_codex(person)
        wrong, silent = found_by_doctor(person, "codex"), model.turns[-1].text
        settings.write_text(settings.read_text() + _trust(person.home / ".codex" / "hooks.json"))
        trusted, heard = found_by_doctor(person, "codex"), False
        for _ in range(TRIES):
            _run_codex(person)
            heard = heard or WHO in model.turns[-1].text
        person.run("uninstall", "codex")

    assert WHO not in silent
    assert wrong == ["Codex does not run our hooks yet: 5 of 5 are not trusted"]
    assert trusted == []
    assert heard


def _run_codex(person: Person) -> None:
    ran = run_codex("Good morning.", environ=person.environ, project=person.project, trusts_all=False)
    assert ran.code == 0, ran.errors


def _trust(hooks: Path) -> str:
    """What Codex writes into its settings when a person trusts the hooks of that file."""
    tables = []
    for event, (group,) in json.loads(hooks.read_text())["hooks"].items():
        (hook,) = group["hooks"]
        known = {"event_name": EVENTS[event], "hooks": [{"async": False, **hook}]}
        digest = hashlib.sha256(json.dumps(known, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        tables.append(f'\n[hooks.state."{hooks}:{EVENTS[event]}:0:0"]\ntrusted_hash = "sha256:{digest}"\n')
    return "".join(tables)
