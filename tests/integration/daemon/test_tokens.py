"""The tokens in their file."""

import fcntl
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.daemon.tokens import Tokens, is_own_program
from commonplace.errors import CommonplaceError, NotFound, UsageError, VaultUnavailable
from commonplace.identity.devices import Token

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the tokens are kept; nothing is there yet."""
    return tmp_path / "daemon" / "tokens.json"


def made(path: Path, client: str = "claude-code") -> tuple[Token, str]:
    """A token for that client."""
    return Tokens(path).create(client, scopes=["write", "read"], vault="", now=NOW)


def test_a_new_token_is_found_by_its_secret_alone(path: Path) -> None:
    """It has its client, its scopes in order, and when it was made."""
    token, secret = made(path)
    found = Tokens(path).find(secret)

    assert found == token
    assert (token.client, token.scopes, token.created) == ("claude-code", ("read", "write"), "2026-03-01T09:12:44Z")
    assert (token.last_used, token.revoked, token.vault) == ("", "", "")
    assert secret.startswith("cpl_")
    assert len(secret) == 4 + 43


@pytest.mark.parametrize("guess", ["", "cpl_", "cpl_wrong", "\udcff", "ü"])
def test_no_other_secret_finds_it(path: Path, guess: str) -> None:
    """Nor does the token's id, its hash, or the secret with something more."""
    token, secret = made(path)
    tokens = Tokens(path)

    assert all(tokens.find(each) is None for each in (guess, token.id, token.hash, secret + "x", secret[:-1]))


def test_the_secret_is_kept_nowhere(path: Path) -> None:
    """The file has its hash, is its owner's alone, and so is the folder; a token that is shown has no hash either."""
    token, secret = made(path)

    assert secret not in path.read_text()
    assert token.hash in path.read_text()
    assert token.hash not in repr(token)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert sorted(each.name for each in path.parent.iterdir()) == ["tokens.json", "tokens.lock"]


def test_a_revoked_token_counts_no_more_and_stays_listed(path: Path) -> None:
    """By its id, once: a second time changes nothing."""
    token, secret = made(path)
    other, other_secret = made(path)
    tokens = Tokens(path)
    before = tokens.find(secret)
    (revoked,) = tokens.revoke(token.id, now=NOW)
    again = tokens.revoke(token.id, now=NOW + timedelta(days=1))

    assert before == token
    assert tokens.find(secret) is None
    assert tokens.find(other_secret) == other
    assert revoked.revoked == "2026-03-01T09:12:44Z"
    assert again == (revoked,)
    assert tokens.list() == (revoked, other)


def test_all_tokens_of_a_client_are_revoked_by_its_name(path: Path) -> None:
    """Those of another client stay."""
    secrets = [made(path, name)[1] for name in ("a", "a", "b")]
    tokens = Tokens(path)

    assert len(tokens.revoke("a", now=NOW)) == 2
    assert [tokens.find(secret) is not None for secret in secrets] == [False, False, True]


def test_what_is_not_there_cannot_be_revoked(path: Path) -> None:
    """The hint says where to look, and nothing is written."""
    with pytest.raises(NotFound, match="no token nobody"):
        Tokens(path).revoke("nobody", now=NOW)

    assert not path.exists()


def test_an_open_list_sees_what_other_programs_change(path: Path) -> None:
    """A new token, a revoked one, and a file that was taken away, each at the next look."""
    tokens = Tokens(path)
    seen = [len(tokens.list())]
    token, secret = made(path)
    seen.append(tokens.find(secret) is not None)
    Tokens(path).revoke(token.id, now=NOW)
    seen.append(tokens.find(secret) is not None)
    path.unlink()
    seen.append(len(tokens.list()))

    assert seen == [0, True, False, 0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 2, "tokens": []}',
        '{"version": 1}',
        '{"version": 1, "tokens": [{}]}',
        '{"version": 1, "tokens": [7]}',
        '{"version": 1, "tokens": null}',
        "[" * 100_000,
        "\x00\xff",
    ],
)
def test_a_damaged_file_lets_nobody_in(path: Path, text: str) -> None:
    """It is an error with a hint, for every question; and no change is made on top of it."""
    _, secret = made(path)
    tokens = Tokens(path)
    path.write_text(text, encoding="latin-1")
    for ask in (
        lambda: tokens.find(secret),
        tokens.list,
        lambda: tokens.create("x", scopes=["admin"], vault="", now=NOW),
    ):
        with pytest.raises(VaultUnavailable, match="list of tokens cannot be read") as caught:
            ask()

        assert (caught.value.reason, caught.value.path) == ("damaged", str(path))
        assert caught.value.hint
    assert path.read_text(encoding="latin-1") == text


@pytest.mark.parametrize(
    ("field", "value"), [("scopes", ["root"]), ("scopes", "admin"), ("hash", ""), ("hash", "ü"), ("revoked", None)]
)
def test_a_token_of_another_form_is_damage(path: Path, field: str, value: object) -> None:
    """A scope that there is not, a hash that is none, a null for a text."""
    _, secret = made(path)
    listed = json.loads(path.read_text())
    listed["tokens"][0][field] = value
    path.write_text(json.dumps(listed))

    with pytest.raises(VaultUnavailable):
        Tokens(path).find(secret)


def test_a_file_that_others_may_write_is_not_believed(path: Path) -> None:
    """Whoever can write it could let himself in."""
    _, secret = made(path)
    path.chmod(0o620)

    with pytest.raises(VaultUnavailable, match="other users may write it"):
        Tokens(path).find(secret)


def test_a_use_is_in_mind_at_once_and_in_the_file_when_uses_are_written(path: Path) -> None:
    """A request only remembers it; whoever has it in mind lists it."""
    token, _ = made(path)
    tokens = Tokens(path)

    def on_disk() -> str:
        return Tokens(path).list()[0].last_used

    tokens.touch(token, now=NOW)
    first = (on_disk(), tokens.list()[0].last_used)
    said = tokens.write_uses()
    second = on_disk()
    tokens.touch(token, now=NOW + timedelta(seconds=70))
    tokens.close()

    assert first == ("", "2026-03-01T09:12:44Z")
    assert (said, second) == ("1 tokens were used", "2026-03-01T09:12:44Z")
    assert on_disk() == "2026-03-01T09:13:54Z"


def test_a_program_that_never_ends_its_change_holds_up_no_request(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding and remembering need no lock; writing gives up after its turn did not come."""
    monkeypatch.setattr("commonplace.daemon.service.state_files._LOCK_SECONDS", 0.05)
    token, secret = made(path)
    tokens = Tokens(path)
    with path.with_suffix(".lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        found = tokens.find(secret)
        tokens.touch(token, now=NOW)
        with pytest.raises(VaultUnavailable) as caught:
            tokens.write_uses()

    assert found == token
    assert caught.value.reason == "locked"
    assert tokens.list()[0].last_used == "2026-03-01T09:12:44Z"


def test_writing_the_last_use_does_not_bring_a_revoked_token_back(path: Path) -> None:
    """The file is read again, under the lock, before it is written."""
    token, secret = made(path)
    tokens = Tokens(path)
    tokens.touch(token, now=NOW)
    Tokens(path).revoke(token.id, now=NOW)
    tokens.close()

    assert Tokens(path).find(secret) is None


def test_a_use_that_cannot_be_written_turns_nobody_away(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told as an event."""
    token, _ = made(path)
    tokens = Tokens(path)
    tokens.touch(token, now=NOW)
    path.write_text("{")
    tokens.close()

    assert "token_uses_not_written" in capsys.readouterr().err


@pytest.mark.parametrize("client", ["", " ", " a", "a" * 65, "a\nb", "ü", "a/b", "a;b"])
def test_a_client_has_a_plain_name(path: Path, client: str) -> None:
    """1 to 64 letters, digits, spaces, dots, underscores and dashes."""
    with pytest.raises(UsageError):
        Tokens(path).create(client, scopes=["read"], vault="", now=NOW)

    assert not path.exists()


def test_a_token_without_a_scope_is_not_made(path: Path) -> None:
    """It could do nothing."""
    with pytest.raises(CommonplaceError):
        Tokens(path).create("x", scopes=[], vault="", now=NOW)


def test_changes_of_many_programs_are_all_kept(path: Path) -> None:
    """Four processes that make ten tokens each make forty."""
    program = (
        "import sys, datetime, pathlib; from commonplace.daemon.tokens import Tokens\n"
        "for _ in range(10): Tokens(pathlib.Path(sys.argv[1])).create("
        "'x', scopes=['read'], vault='', now=datetime.datetime.now(datetime.UTC))"
    )
    programs = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(4)]
    codes = [each.wait(60) for each in programs]

    assert codes == [0] * 4
    assert len({token.id for token in Tokens(path).list()}) == 40


TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20B9 00000000:0000 0A 00000000:00000000 00:00000000 00000000  {own}        0 11 1
   1: 0100007F:C001 0100007F:20B9 01 00000000:00000000 00:00000000 00000000  {own}        0 12 1
   2: 0100007F:C002 0100007F:20B9 01 00000000:00000000 00:00000000 00000000 65534        0 13 1
   3: 0100007F:C003 0100007F:20B9 01 00000000:00000000 00:00000000 00000000     0        0 14 1
   4: 0100007F:C004 0100007F:20B9 04 00000000:00000000 00:00000000 00000000     0        0 0 1
   5: 0100007F:C002 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  {own}        0 15 1
"""


@pytest.mark.skipif(sys.byteorder != "little", reason="the table shows addresses in the order of the machine")
@pytest.mark.parametrize(
    ("port", "own"), [(0xC001, True), (0xC002, False), (0xC003, True), (0xC004, False), (1, False)]
)
def test_whose_program_is_at_the_other_end_is_read_from_the_system(tmp_path: Path, port: int, own: bool) -> None:
    """This user's and root's count; not another user's, one that has closed its end, or one that is not there."""
    table = tmp_path / "tcp"
    table.write_text(TABLE.format(own=os.geteuid()))

    assert is_own_program(("127.0.0.1", port), port=8377, table=table) is own


def test_where_the_system_does_not_tell_whose_a_connection_is_a_token_is_enough(tmp_path: Path) -> None:
    """As on macOS."""
    assert is_own_program(("127.0.0.1", 50_000), port=8377, table=tmp_path / "none")
