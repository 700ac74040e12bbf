"""A SQLite file of ours: concurrent readers, one writer at a time, and a replaced file is opened again."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import apsw
import pytest

from commonplace.database import Database, ErrorWording
from commonplace.errors import IndexDamaged, VaultUnavailable

STEPS = ("CREATE TABLE said (word TEXT) STRICT",)
WORDING = ErrorWording(label="list", damaged=IndexDamaged, mend="Delete {name}.", too_new="Upgrade.")


def opened(file: Path) -> Database:
    return Database(file, migrations=STEPS, wording=WORDING, wait=5)


def say(database: Database, word: str) -> None:
    with database.write_transaction() as connection:
        connection.execute("INSERT INTO said VALUES (?)", (word,))


def words(database: Database) -> list[object]:
    with database.read_transaction() as connection:
        return [word for (word,) in connection.execute("SELECT word FROM said")]


def test_readers_do_not_wait_for_each_other_nor_for_the_writer(tmp_path: Path) -> None:
    """Three nested reads inside a write, each at its own moment."""
    database = opened(tmp_path / "a.db")
    say(database, "one")

    with database.write_transaction() as writer, database.read_transaction() as first:
        writer.execute("INSERT INTO said VALUES ('two')")
        assert first.execute("SELECT count(*) FROM said").get == 1
        assert words(database) == ["one"]
    assert words(database) == ["one", "two"]


def test_writers_of_one_process_take_turns(tmp_path: Path) -> None:
    """Nothing is lost, and no thread gets a locked error."""
    database = opened(tmp_path / "a.db")
    threads = [threading.Thread(target=say, args=(database, str(number))) for number in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(words(database)) == 16


def test_a_failed_write_is_rolled_back(tmp_path: Path) -> None:
    """All of it, and the next one works."""
    database = opened(tmp_path / "a.db")

    with pytest.raises(KeyError), database.write_transaction() as connection:
        raise KeyError(connection.execute("INSERT INTO said VALUES ('lost')"))
    say(database, "kept")
    assert words(database) == ["kept"]


def test_a_replaced_file_is_opened_again(tmp_path: Path) -> None:
    """Nobody goes on writing to a file that no longer has a name."""
    file, other = tmp_path / "a.db", tmp_path / "b.db"
    database, new = opened(file), opened(other)
    say(database, "old")
    say(new, "new")
    new.close()
    replace_with(file, other)

    assert words(database) == ["new"]
    say(database, "more")
    assert words(opened(other)) == ["new", "more"]


class Swapping(tuple[str, ...]):
    """Migrations; the first call of len() replaces the file at that moment."""

    file: Path
    other: Path

    def __len__(self) -> int:
        if not self.file.is_symlink():
            replace_with(self.file, self.other)
        return super().__len__()


def replace_with(file: Path, other: Path) -> None:
    """Point the name of the file to the other one."""
    link = file.with_name("link")
    link.symlink_to(other)
    link.replace(file)


def test_a_file_replaced_while_it_is_opened_is_opened_again(tmp_path: Path) -> None:
    """A write goes to the current file, whenever the other process put it there."""
    file, other = tmp_path / "a.db", tmp_path / "b.db"
    for each, word in ((opened(file), "old"), (opened(other), "new")):
        say(each, word)
        each.close()
    steps = Swapping(STEPS)
    steps.file, steps.other = file, other
    database = Database(file, migrations=steps, wording=WORDING, wait=5)
    say(database, "more")

    assert file.is_symlink()
    assert words(database) == words(opened(other)) == ["new", "more"]


@pytest.mark.parametrize("use", [Database.read_transaction, Database.write_transaction])
def test_an_error_in_the_block_is_not_an_error_of_the_file(
    tmp_path: Path, use: Callable[[Database], AbstractContextManager[apsw.Connection]]
) -> None:
    """An OSError is about the file only while it is opened; SQLite's errors always are."""
    database = opened(tmp_path / "a.db")

    with pytest.raises(FileNotFoundError), use(database):
        raise FileNotFoundError("a note")
    with pytest.raises(IndexDamaged), use(database) as connection:
        connection.execute("SELECT * FROM nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(VaultUnavailable, match=r"the list b\.db cannot be opened"), use(opened(tmp_path / "file/b.db")):
        pass


def test_deleted_data_is_gone_from_the_file_after_vacuum(tmp_path: Path) -> None:
    """From free pages and from the log."""
    database = opened(tmp_path / "a.db")
    say(database, "what-nobody-should-find")
    with database.write_transaction() as connection:
        connection.execute("DELETE FROM said")
    database.vacuum()

    assert b"nobody" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())


def test_free_pages_are_returned_to_the_disk_without_waiting_for_a_reader(tmp_path: Path) -> None:
    """Also those of a file that was made before; a reader goes on, and the next call does the rest."""
    older = tmp_path / "older.db"
    with closing(apsw.Connection(str(older))) as connection:
        connection.execute(f"PRAGMA journal_mode = WAL; {STEPS[0]}; PRAGMA user_version = 1")
    for database in (opened(tmp_path / "new.db"), opened(older)):
        with database.write_transaction() as connection:
            connection.executemany("INSERT INTO said VALUES (?)", ((str(n) * 900,) for n in range(500)))
        database.shrink()
        before = database.size()
        with database.read_transaction() as reader:
            assert reader.execute("SELECT count(*) FROM said").get == 500
            with database.write_transaction() as connection:
                connection.execute("DELETE FROM said WHERE rowid > 5")
            database.shrink()
            assert reader.execute("SELECT count(*) FROM said").get == 500
        database.shrink()
        assert before > 500_000
        assert database.size() < 50_000
        assert len(words(database)) == 5
