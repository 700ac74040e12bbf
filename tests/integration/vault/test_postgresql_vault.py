"""A vault in PostgreSQL: what the contract does not ask of every backend."""

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from commonplace.errors import Conflict, Refused, UsageError, VaultUnavailable
from commonplace.model.progress import ignore_progress
from commonplace.vault.base import Label, TransactionResult, version_of
from commonplace.vault.git.transfer import ExportedCommit, parse_history
from commonplace.vault.postgresql.store import PostgresqlVault
from tests.gitvault import AUTHOR
from tests.polling import wait_for
from tests.postgresql import database_url, new_tenant, postgresql_server

pytestmark = pytest.mark.needs("postgres")


@pytest.fixture
def vault() -> PostgresqlVault:
    return PostgresqlVault(postgresql_server(), tenant=new_tenant(), author=AUTHOR)


def put(vault: PostgresqlVault, files: dict[str, bytes | None], *, label: Label | None = None) -> str:
    """The commit with these files; None removes one."""
    results = list[TransactionResult]()
    with vault.transaction(label=label, then=results.append) as changes:
        for path, content in files.items():
            if content is None:
                changes.delete(vault.resolve(path))
            else:
                changes.write(vault.resolve(path), content)
    return results[-1].commit or ""


def rows(vault: PostgresqlVault, table: str) -> list[tuple[object, ...]]:
    """Every row of the vault in that table."""
    with vault._database.read_transaction() as connection:
        return connection.execute(f"SELECT * FROM {table}".encode()).fetchall()


WRITE = """
import sys
from commonplace.database.postgresql import PostgresqlServer
from commonplace.errors import Conflict
from commonplace.vault.base import version_of
from commonplace.vault.git.commit import Author
from commonplace.vault.postgresql.store import PostgresqlVault
url, tenant, name = sys.argv[1:]
server = PostgresqlServer(url, connections=4, partitions=2, wait=10)
vault = PostgresqlVault(server, tenant=tenant, author=Author("Commonplace", "commonplace@localhost"))
at, made = vault.resolve("note.md"), 0
while made < 10:
    seen = vault.read(at).content
    try:
        with vault.transaction() as changes:
            changes.write(at, seen + name.encode(), expected=version_of(seen))
        made += 1
    except Conflict:
        continue
"""


@pytest.mark.requirement("I-44")
def test_two_processes_that_write_one_note_lose_no_update(vault: PostgresqlVault) -> None:
    """A write that was based on an older version is a conflict, whichever machine made the newer one."""
    put(vault, {"note.md": b""})
    command = [sys.executable, "-c", WRITE, database_url(), vault._tenant]
    writing = [subprocess.Popen([*command, name]) for name in ("a", "b")]

    assert [process.wait(timeout=240) for process in writing] == [0, 0]
    content = vault.read(vault.resolve("note.md")).content
    assert (content.count(b"a"), content.count(b"b")) == (10, 10)
    assert len(vault.revisions(vault.resolve("note.md"))) == 21


def test_a_vault_sees_nothing_of_another(vault: PostgresqlVault) -> None:
    """Notes, commits and contents belong to one tenant."""
    other = PostgresqlVault(postgresql_server(), tenant=new_tenant(), author=AUTHOR)
    commit = put(vault, {"note.md": b"mine"})

    assert (other.list().files, other.head(), other.revisions()) == ((), None, ())
    assert other.read_at(other.resolve("note.md"), commit) is None
    assert [*other.read_blobs([version_of(b"mine")], largest=100)] == [None]


def test_contents_that_are_the_same_are_stored_once(vault: PostgresqlVault) -> None:
    """A content is a row however many files and commits have it."""
    put(vault, {"a.md": b"same", "b.md": b"same"})
    put(vault, {"c.md": b"same", "d.md": b"other"})

    assert len(rows(vault, "vault_blobs")) == 2


def test_an_erased_note_leaves_no_word_in_any_table(vault: PostgresqlVault) -> None:
    """No content, name or message of it is left; a content that another note has stays."""
    put(vault, {"Secret/affair.md": b"words of mine", "shared.md": b"shared"}, label=Label("write Secret/affair.md"))
    put(vault, {"Secret/affair.md": b"shared"})
    put(vault, {"Secret/affair.md": None}, label=Label("erase Secret/affair.md", (("Commonplace-Kind", "erase"),)))
    vault.erase_history([vault.resolve("Secret/affair.md")])
    tables = ("vault_notes", "vault_blobs", "vault_commits", "vault_changes")
    left = repr([rows(vault, table) for table in tables])

    assert "affair" not in left
    assert "words of mine" not in left
    assert vault.read(vault.resolve("shared.md")).content == b"shared"


def test_an_entry_that_was_moved_and_edited_counts_as_renamed(vault: PostgresqlVault) -> None:
    """A removed and a new file that share enough lines are one file that was renamed, as git sees it."""
    lines = b"".join(b"line %d\n" % number for number in range(10))
    first = put(vault, {"old.md": lines, "other.md": b"something else\n"})
    put(vault, {"old.md": None, "other.md": None, "new.md": lines + b"more\n", "new other.md": b"different\n"})
    (change,) = vault.changes(after=first, until=vault.head() or "")

    assert [(each.source, each.target) for each in change.renames] == [("old.md", "new.md")]
    assert 80 < change.renames[0].likeness < 100


def test_commits_are_named_by_the_beginning_of_their_id_and_by_their_child(vault: PostgresqlVault) -> None:
    """An abbreviated id and `^` name commits, as in git; what names none has no file."""
    first, second = put(vault, {"a.md": b"1"}), put(vault, {"a.md": b"2"})
    at = vault.resolve("a.md")

    assert [vault.read_at(at, name) for name in (second[:10], f"{second}^", f"{second}^^", "ffff0000", "HEAD")] == [
        *(b"2", b"1", None, None, None)
    ]
    assert vault.line_of(second) == (second, first)
    with pytest.raises(VaultUnavailable, match="no such commit"):
        vault.list_at("ffff0000")


def test_the_past_is_listed_by_time(vault: PostgresqlVault) -> None:
    """The commit at a time is the newest until then, and its files are those of that time."""
    first = put(vault, {"a.md": b"1"})
    (revision,) = vault.revisions()

    assert vault.commit_at(datetime.now(UTC) + timedelta(days=1)) == first
    assert vault.commit_at(revision.when - timedelta(seconds=1)) is None
    with pytest.raises(UsageError, match="no time zone"):
        vault.commit_at(datetime(2026, 1, 1))


BRANCHED = b"""reset refs/heads/main
commit refs/heads/main
mark :1
original-oid %(a)s
author A <a@x> 1000 +0100
committer A <a@x> 1000 +0100
data 6
first
M 100644 %(blob)s one.md
M 120000 %(blob)s link.md
M 100644 %(blob)s "quo\\"ted \\303\\274.md"

commit refs/heads/main
mark :2
original-oid %(b)s
author Agent <b@x> 2000 -0330
committer Agent <b@x> 2000 -0330
data 4
side
from :1
M 100644 %(other)s side.md

commit refs/heads/main
mark :3
original-oid %(c)s
author A <a@x> 3000 +0000
committer A <a@x> 3000 +0000
data 4
main
from :1
D one.md

commit refs/heads/main
mark :4
original-oid %(d)s
author A <a@x> 4000 +0000
committer A <a@x> 4000 +0000
data 5
merge
from :3
merge :2
M 100644 %(other)s side.md
""" % {b"a": b"a" * 40, b"b": b"b" * 40, b"c": b"c" * 40, b"d": b"d" * 40, b"blob": b"1" * 40, b"other": b"2" * 40}


def branched(vault: PostgresqlVault) -> list[ExportedCommit]:
    """A history with a merge, stored in the vault."""
    left_out: dict[str, str] = {}
    commits = parse_history(BRANCHED, left_out=left_out)
    contents = {"1" * 40: b"one\r\n", "2" * 40: b"two"}
    vault.import_history(
        commits,
        [("side.md", b"two"), ('quo"ted ü.md', b"one\r\n"), ("new.md", b"edit")],
        read=lambda ids: (contents[each] for each in ids),
        progress=ignore_progress,
    )
    assert left_out == {"link.md": "a link"}
    return commits


def test_a_history_with_merges_is_kept_with_every_author(vault: PostgresqlVault) -> None:
    """A merged commit is in the history as its author made it; on the line it counts from its merge on."""
    branched(vault)
    edit, *line = vault.line_of(vault.head() or "")
    side, since = vault.resolve("side.md"), vault.changes_since("a" * 40)
    authors = {each.revision.author: [*each.revision.paths] for each in since or ()}

    assert line == ["d" * 40, "c" * 40, "a" * 40]
    assert authors == {"Agent": ["side.md"], "A": ["one.md"], "Commonplace": ["new.md"]}
    assert [vault.read_at(side, each * 40) for each in "abcd"] == [None, b"two", None, b"two"]
    assert [vault.read_at(vault.resolve("one.md"), each * 40) for each in "abcd"] == [*[b"one\r\n"] * 2, None, None]
    assert vault.commit_at(datetime.fromtimestamp(3500, UTC)) == "c" * 40
    assert vault.changes_since("b" * 40) is None
    assert vault.revisions(vault.resolve("new.md"))[0].commit == edit


def test_a_history_is_imported_only_into_an_empty_vault(vault: PostgresqlVault) -> None:
    """Nothing that is there is replaced."""
    put(vault, {"a.md": b"1"})
    head = vault.head()

    with pytest.raises(Conflict, match="not empty"):
        vault.import_history([], [("b.md", b"2")], read=lambda ids: iter(()), progress=ignore_progress)
    assert vault.head() == head


def test_a_change_by_another_process_is_heard(vault: PostgresqlVault) -> None:
    """The watcher reports what another connection commits, within moments."""
    stop, heard = threading.Event(), list[str]()
    put(vault, {"note.md": b""})

    def listen() -> None:
        for events in vault.watch(stop=stop, step=0.05):
            heard.extend(f"{event.kind} {event.path}" for event in events)

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        subprocess.run([sys.executable, "-c", WRITE, database_url(), vault._tenant, "a"], check=True, timeout=240)

        wait_for(lambda: "saved note.md" in heard)
    finally:
        stop.set()
        thread.join()


def write_without_a_turn(vault: PostgresqlVault, path: str) -> None:
    """Write a note in a transaction whose connection with the lock is cut."""
    with vault.transaction() as changes, psycopg.connect(database_url(), autocommit=True) as other:
        changes.write(vault.resolve(path), b"2")
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")


def test_a_lost_turn_stops_the_write_that_was_based_on_it(vault: PostgresqlVault) -> None:
    """If the connection with the lock is gone, another may have written: the transaction changes nothing."""
    put(vault, {"note.md": b"1"})

    with pytest.raises(VaultUnavailable):
        write_without_a_turn(vault, "note.md")
    assert vault.read(vault.resolve("note.md")).content == b"1"
    assert put(vault, {"note.md": b"3"})


def test_a_path_that_no_index_row_can_hold_is_refused(vault: PostgresqlVault) -> None:
    """A path may have a thousand bytes; a longer one is refused before anything is written."""
    vault.resolve("/".join(["folder"] * 140))

    with pytest.raises(Refused, match="more than 1000"):
        vault.resolve("/".join(["folder"] * 150))


def test_a_derived_file_becomes_a_note_when_it_is_written_as_one(vault: PostgresqlVault) -> None:
    """What a transaction writes or moves is in the history from then on."""
    at = vault.resolve("Folder/_index.md")
    vault.derive(at, b"derived")
    with vault.transaction() as changes:
        changes.move(at, vault.resolve("kept.md"))

    assert vault.read_at(vault.resolve("kept.md"), vault.head() or "") == b"derived"
    assert [dict(each.paths) for each in vault.revisions()] == [{"kept.md": "added"}]


def test_a_rehearsal_leaves_nothing(vault: PostgresqlVault) -> None:
    """A write on trial makes no file and no commit."""
    put(vault, {"a.md": b"1"})
    head = vault.head()
    vault.rehearse(vault.resolve("Agent/new.md"))

    assert (vault.head(), [each.path for each in vault.list().files]) == (head, ["a.md"])


def test_notes_larger_than_the_limit_are_listed_and_not_read() -> None:
    """The limit on what is read holds for rows as for files."""
    vault = PostgresqlVault(postgresql_server(), tenant=new_tenant(), author=AUTHOR, max_read_bytes=10)
    put(vault, {"large.md": b"x" * 11})

    assert [each.size for each in vault.list().files] == [11]
    with pytest.raises(Refused, match="more than the 10"):
        vault.read(vault.resolve("large.md"))
