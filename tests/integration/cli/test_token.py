"""`commonplace token`, without a daemon."""

import json
from pathlib import Path
from typing import Any

import pytest

from commonplace.__main__ import run_command
from commonplace.client.paths import daemon_files
from commonplace.daemon.tokens import Tokens
from commonplace.settings.registered_vaults import register_vault


class Said:
    """Runs the command in this process and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.code, self.out, self.err = 0, "", ""

    def run(self, *words: str) -> "Said":
        self.code = run_command(["token", *words])
        self.out, self.err = self._capsys.readouterr()
        return self

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").out)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    return Said(capsys)


def test_a_new_token_is_printed_alone_so_that_it_can_be_piped(said: Said) -> None:
    """What else there is to say goes to standard error; it may read and write."""
    said.run("create", "claude-code")
    found = Tokens(daemon_files().tokens).find(said.out.rstrip("\n"))

    assert found is not None
    assert (found.client, found.scopes, found.vault) == ("claude-code", ("read", "write"), "")
    assert said.err == f"token {found.id} for claude-code may read, write; it will not be shown again\n"


def test_scopes_and_a_vault_may_be_named(said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vault by its path, by one that is relative, or by its folder's name; it is kept as its real path."""
    vault = tmp_path / "Notes"
    vault.mkdir()
    register_vault(vault)
    monkeypatch.chdir(tmp_path)
    made = [
        said.json("create", "x", "--scope", "admin", "--scope", "read", "--vault", named)
        for named in (str(vault), "./Notes", "Notes")
    ]

    assert [each["scopes"] for each in made] == [["read", "admin"]] * 3
    assert [each["vault"] for each in made] == [str(vault)] * 3


def test_the_list_shows_everything_but_the_token(said: Said) -> None:
    """For people and as JSON; revoked ones say so."""
    secrets = [said.json("create", name)["secret"] for name in ("a", "b")]
    revoked = said.run("revoke", "b").out
    shown, listed = said.run("list").out, said.json("list")
    hashes = [token.hash for token in Tokens(daemon_files().tokens).list()]

    assert revoked.startswith("revoked: ")
    assert (listed["count"], [each["client"] for each in listed["tokens"]]) == (2, ["a", "b"])
    assert [each["revoked"] is None for each in listed["tokens"]] == [True, False]
    assert ["valid" in line for line in shown.splitlines()] == [True, False]
    assert not any(word in shown + str(listed) for word in (*secrets, *hashes))


def test_an_empty_list_says_what_to_do(said: Said) -> None:
    """On standard error, since the answer is empty."""
    said.run("list")

    assert (said.code, said.out) == (0, "")
    assert "commonplace token create CLIENT" in said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("create", "x", "--scope", "root"), "no such scope: 'root'"),
        (("create", "x" * 65), "is not a valid client name"),
        (("create", "x", "--vault", "/etc"), "no vault is registered as '/etc'"),
        (("revoke", "nobody"), "no token nobody"),
    ],
)
def test_what_cannot_be_made_or_found_is_told(said: Said, words: tuple[str, ...], message: str) -> None:
    """With exit code 2 and a hint, and no token is made."""
    said.run(*words)

    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert len(said.err.splitlines()) == 2
    assert not daemon_files().tokens.exists()


def test_a_damaged_list_is_told_with_its_place(said: Said) -> None:
    """As trouble of the disk, with exit code 5."""
    said.run("create", "x")
    daemon_files().tokens.write_text("{")
    error = said.json("list")["error"]

    assert (said.code, error["reason"], error["path"]) == (5, "damaged", str(daemon_files().tokens))
