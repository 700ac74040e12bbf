"""A SQLite file of ours: readers side by side, one writer at a time, and a file that is replaced is opened anew."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import apsw
import pytest

from commonplace.database import Database, Wording
from commonplace.errors import IndexDamaged, VaultUnavailable

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
    replace_with(file, other)

    assert words(database) == ["new"]
    say(database, "more")
    assert words(opened(other)) == ["new", "more"]


class Swapping(tuple[str, ...]):
    """Steps; who first counts them finds that the file was replaced at that moment."""

    file: Path
    other: Path

    def __len__(self) -> int:
        if not self.file.is_symlink():
            replace_with(self.file, self.other)
        return super().__len__()


def replace_with(file: Path, other: Path) -> None:
    """Let the name of the file mean the other one."""
    link = file.with_name("link")
    link.symlink_to(other)
    link.replace(file)


def test_a_file_that_is_replaced_while_it_is_opened_is_opened_anew(tmp_path: Path) -> None:
    """What is written is in the file that counts, whenever the other process put it there."""
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


@pytest.mark.parametrize("use", [Database.reading, Database.changing])
def test_an_error_of_the_user_is_not_one_of_the_file(
    tmp_path: Path, use: Callable[[Database], AbstractContextManager[apsw.Connection]]
) -> None:
    """Only what is raised while the file is opened is about it; SQLite's errors are, wherever they come from."""
    database = opened(tmp_path / "a.db")

    with pytest.raises(FileNotFoundError), use(database):
        raise FileNotFoundError("a note")
    with pytest.raises(IndexDamaged), use(database) as connection:
        connection.execute("SELECT * FROM nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(VaultUnavailable, match=r"the list b\.db cannot be opened"), use(opened(tmp_path / "file/b.db")):
        pass


def test_what_is_deleted_is_gone_from_the_file_after_scrubbing(tmp_path: Path) -> None:
    """From its free pages and from its log."""
    database = opened(tmp_path / "a.db")
    say(database, "what-nobody-should-find")
    with database.changing() as connection:
        connection.execute("DELETE FROM said")
    database.scrub()

    assert b"nobody" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())
