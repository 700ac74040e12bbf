"""What lets the system start the daemon: the text of a systemd unit and of a launchd agent."""

import plistlib
import shlex
from pathlib import Path

from commonplace.daemon.service.units import LABEL, launchd_agent, service_file, systemd_unit

HOME = Path("/home/ada")
PROGRAM = ('/opt/my tools/py"thon\\3', "-m", "commonplace", "100%", "$HOME")


def words_of(line: str) -> list[str]:
    """A line of a systemd unit as systemd reads it: quotes and backslashes as in a shell, then `%%` and `$$`."""
    return [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line)]


def test_systemd_reads_back_the_program_with_blanks_quotes_and_signs() -> None:
    """A path with a blank, a quote, a backslash, a per cent or a dollar sign stays what it is."""
    (line,) = [line for line in systemd_unit(PROGRAM, {}).splitlines() if line.startswith("ExecStart=")]

    assert tuple(words_of(line.removeprefix("ExecStart="))) == PROGRAM


def test_systemd_reads_back_the_variables() -> None:
    """Each is one quoted assignment; a dollar sign means nothing there."""
    text = systemd_unit(PROGRAM, {"COMMONPLACE_DATA": '/my "data"/50%/$x'})
    (line,) = [line for line in text.splitlines() if line.startswith("Environment=")]

    assert line == 'Environment="COMMONPLACE_DATA=/my \\"data\\"/50%%/$x"'


def test_a_line_break_in_a_path_adds_no_line_to_the_unit() -> None:
    """Nobody slips a setting into the unit by the name of a folder."""
    text = systemd_unit(("/a\nExecStartPre=/bin/evil",), {"COMMONPLACE_DATA": "/b\nUser=root"})

    assert "\nExecStartPre" not in text
    assert "\nUser" not in text


def test_launchd_reads_back_the_program_and_the_variables() -> None:
    """The agent is a property list: what goes in comes out."""
    read = plistlib.loads(launchd_agent(PROGRAM, {"COMMONPLACE_DATA": "/a <b> & c"}).encode())

    assert (read["Label"], tuple(read["ProgramArguments"])) == (LABEL, PROGRAM)
    assert read["EnvironmentVariables"] == {"COMMONPLACE_DATA": "/a <b> & c"}
    assert read["RunAtLoad"] is True


def test_each_system_gets_its_own_file() -> None:
    """systemd's user units, or the agents of launchd; XDG_CONFIG_HOME counts."""
    linux = service_file("linux", home=HOME, program=PROGRAM, environ={}, user=501)
    moved = service_file("linux", home=HOME, program=PROGRAM, environ={"XDG_CONFIG_HOME": "/cfg"}, user=501)
    mac = service_file("darwin", home=HOME, program=PROGRAM, environ={}, user=501)

    assert linux.path == HOME / ".config/systemd/user/commonplace.service"
    assert moved.path == Path("/cfg/systemd/user/commonplace.service")
    assert mac.path == HOME / f"Library/LaunchAgents/{LABEL}.plist"
    assert linux.start[-1] == ("systemctl", "--user", "enable", "--now", "commonplace.service")
    assert mac.start == (("launchctl", "bootstrap", "gui/501", str(mac.path)),)


def test_no_secret_of_the_shell_gets_into_the_file() -> None:
    """Only variables that say where things are; not the vault that the shell happened to name."""
    environ = {"COMMONPLACE_TOKEN": "cpl_x", "OPENAI_API_KEY": "sk-x", "COMMONPLACE_VAULT": "/v", "PATH": "/bin"}
    text = service_file("linux", home=HOME, program=("commonplace",), environ=environ, user=501).text

    assert "cpl_x" not in text
    assert "sk-x" not in text
    assert "COMMONPLACE_VAULT" not in text
    assert 'Environment="PATH=/bin"' in text
