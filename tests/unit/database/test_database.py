"""A SQLite file of ours: readers side by side, one writer at a time, and a file that is replaced is opened anew."""

import threading
from pathlib import Path

import pytest

from commonplace.database import Database, Wording
from commonplace.errors import IndexDamaged

STEPS = ("CREATE TABLE said (word TEXT) STRICT",)
WORDING = Wording(label="list", damaged=IndexDamaged, mend="Delete {name}.", too_new="Upgrade.")


def opened(file: Path) -> Database:
    return Database(file, migrations=STEPS, wording=WORDING, wait=5)


def say(database: Database, word: str) -> None:
    with database.changing() as connection:
        connection.execute("INSERT INTO said VALUES (?)", (word,))


def words(database: Database) -> list[object]:
    with database.reading() as connection:
        return [word for (word,) in connection.execute("SELECT word FROM said")]


def test_readers_do_not_wait_for_each_other_nor_for_the_writer(tmp_path: Path) -> None:
    """Three looks within one another and within a change, each at its own moment."""
    database = opened(tmp_path / "a.db")
    say(database, "one")

    with database.changing() as writer, database.reading() as first:
        writer.execute("INSERT INTO said VALUES ('two')")
        assert first.execute("SELECT count(*) FROM said").get == 1
        assert words(database) == ["one"]
    assert words(database) == ["one", "two"]


def test_writers_of_one_process_take_turns(tmp_path: Path) -> None:
    """Nothing is lost, and no thread is told that the file is locked."""
    database = opened(tmp_path / "a.db")
    threads = [threading.Thread(target=say, args=(database, str(number))) for number in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(words(database)) == 16


def test_a_change_that_fails_is_taken_back(tmp_path: Path) -> None:
    """All of it, and the next one is none the worse."""
    database = opened(tmp_path / "a.db")

    with pytest.raises(KeyError), database.changing() as connection:
        raise KeyError(connection.execute("INSERT INTO said VALUES ('lost')"))
    say(database, "kept")
    assert words(database) == ["kept"]


def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path) -> None:
    """No one goes on writing into a file that has no name any more."""
    file, other = tmp_path / "a.db", tmp_path / "b.db"
    database, new = opened(file), opened(other)
    say(database, "old")
    say(new, "new")
    new.close()
    link = tmp_path / "link"
    link.symlink_to(other)
    link.replace(file)

    assert words(database) == ["new"]
    say(database, "more")
    assert words(opened(other)) == ["new", "more"]


def test_what_is_deleted_is_gone_from_the_file_after_scrubbing(tmp_path: Path) -> None:
    """From its free pages and from its log."""
    database = opened(tmp_path / "a.db")
    say(database, "what-nobody-should-find")
    with database.changing() as connection:
        connection.execute("DELETE FROM said")
    database.scrub()

    assert b"nobody" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())
