"""The files in deploy/: what they set exists, what they run can be run, and what they make our programs accept."""

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
import yaml

from commonplace import open_memory
from commonplace.settings.schema import OPTIONS
from tests import daemons
from tests.command_line import run_commonplace
from tests.daemons import free_port
from tests.polling import wait_for
from tests.postgresql import TestServer

ROOT: Final = Path(__file__).parents[3]
DEPLOY: Final = ROOT / "deploy"
CONTAINER: Final = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
COMPOSE: Final[dict[str, Any]] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def setting_names(names: list[str]) -> set[str]:
    """The settings that variables of ours stand for."""
    ours = [name.removeprefix("COMMONPLACE_") for name in names if name.startswith("COMMONPLACE_")]
    return {name.lower().replace("__", ".") for name in ours}


def test_every_variable_of_the_container_and_of_compose_is_a_setting() -> None:
    """A variable with a typing error would be without effect."""
    in_compose = setting_names([*COMPOSE["services"]["daemon"]["environment"]])
    in_container = setting_names(re.findall(r"\b(COMMONPLACE_\w+)=", CONTAINER))

    assert {"identity.backend", "history.backend", "index.backend", "postgresql.url"} <= in_compose
    assert in_compose | in_container <= {*OPTIONS}


def test_everything_that_compose_asks_for_is_in_the_example() -> None:
    """A person who fills in the example has named everything."""
    asked = {*re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text())}
    given = {line.partition("=")[0] for line in (DEPLOY / "example.env").read_text().splitlines() if "=" in line}

    assert asked == given


def test_a_proxy_on_the_machine_of_the_containers_is_trusted_by_the_example() -> None:
    """It comes from the gateway of the network, whose address must not change: no other machine may connect."""
    (network,) = COMPOSE["networks"]["default"]["ipam"]["config"]
    (trusted,) = re.findall("^TRUSTED_PROXIES=(.*)$", (DEPLOY / "example.env").read_text(), re.MULTILINE)

    assert trusted == network["gateway"]
    assert ip_address(trusted) in ip_network(network["subnet"])


def test_the_container_has_what_it_copies_and_installs() -> None:
    """The paths exist, and so do the extras of the package."""
    copied = [word for line in re.findall(r"^COPY (.*)$", CONTAINER, re.MULTILINE) for word in line.split()[:-1]]
    extras = re.findall(r'/build\[([\w,]+)\]"', CONTAINER)[0].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    assert all((ROOT / path).exists() for path in copied)
    assert {*extras} <= {*known}


def test_the_commands_of_the_container_can_be_parsed() -> None:
    """The program that it runs knows the options; the health check is valid Python for the port that is open."""
    (words,) = [json.loads(line) for line in re.findall(r"^CMD (\[.*\])$", CONTAINER, re.MULTILINE)]
    (check,) = [json.loads(line) for line in re.findall(r"^HEALTHCHECK .* CMD (\[.*\])$", CONTAINER, re.MULTILINE)]
    (port,) = re.findall(r"^EXPOSE (\d+)$", CONTAINER, re.MULTILINE)

    assert words[0] == "commonplace"
    assert run_commonplace(*words[1:], "--help").returncode == 0
    compile(check[2], "health check", "exec")
    assert f"127.0.0.1:{port}/" in check[2]
    assert int(port) == OPTIONS["serve.port"].default


def container_variables(volume: Path, filled: Mapping[str, str]) -> dict[str, str]:
    """The variables of the daemon of compose, with its volume in that folder and the example filled in."""
    (line,) = re.findall(r"^ENV (.*)$", CONTAINER, re.MULTILINE)
    in_container = dict(word.split("=", 1) for word in line.replace("/data", str(volume)).split())
    in_compose = {
        name: re.sub(r"\$\{(\w+)[^}]*\}", lambda found: filled[found[1]], value)
        for name, value in COMPOSE["services"]["daemon"]["environment"].items()
    }
    return {"PATH": os.environ["PATH"], **in_container, **in_compose}


@pytest.mark.needs("postgres")
@pytest.mark.requirement("X-23")
def test_what_the_container_runs_serves_a_team_is_healthy_and_stops_in_time(tmp_path: Path) -> None:
    """The container's command with the variables of container and compose, its health check and its signal.

    Only the address of the database and the port differ: both are names inside of compose.
    """
    server = TestServer(Path(tempfile.mkdtemp(prefix="commonplace-pg-")))
    (words,) = [json.loads(line) for line in re.findall(r"^CMD (\[.*\])$", CONTAINER, re.MULTILINE)]
    (check,) = [json.loads(line) for line in re.findall(r"^HEALTHCHECK .* CMD (\[.*\])$", CONTAINER, re.MULTILINE)]
    port, grace = free_port(), float(COMPOSE["services"]["daemon"]["stop_grace_period"].removesuffix("s"))
    example = (line.partition("=") for line in (DEPLOY / "example.env").read_text().splitlines() if "=" in line)
    filled = {name: value or "secret" for name, _, value in example}
    environ = container_variables(tmp_path, filled) | {"COMMONPLACE_SERVE__PORT": str(port)}
    try:
        environ["COMMONPLACE_POSTGRESQL__URL"] = server.start()
        with (tmp_path / "errors").open("wb") as errors:
            daemon = subprocess.Popen(
                [sys.executable, "-m", *words], env=environ, stdin=subprocess.DEVNULL, stderr=errors
            )
        try:
            healthy = [sys.executable, *check[1:2], check[2].replace(":8377/", f":{port}/")]
            wait_for(lambda: not subprocess.run(healthy, check=False, capture_output=True).returncode)
            done(environ, "init", "postgresql:team")
            done(environ, "person", "add", "ada", "--role", "owner", "--vault", "postgresql:team")
            token = done(environ, "token", "create", "laptop", "--person", "ada")["secret"]
            found = by_proxy(port, "/api/v1/notes", filled, Authorization=f"Bearer {token}")
            wait_for(lambda: by_proxy(port, "/ready", filled) == 200)
        finally:
            daemon.terminate()
            code = daemon.wait(grace)
    finally:
        server.remove()

    assert (found, code) == (200, 0), (tmp_path / "errors").read_text()


def done(environ: Mapping[str, str], *words: str) -> dict[str, Any]:
    """What a command in the container answers, as `docker compose exec daemon commonplace ...` runs it."""
    result = daemons.program(environ, *words, "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    return dict(json.loads(result.stdout))


def by_proxy(port: int, path: str, filled: Mapping[str, str], **headers: str) -> int:
    """The status of a request that the reverse proxy on this machine passes on."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        host = filled["PUBLIC_URL"].removeprefix("https://")
        connection.request("GET", path, headers={"Host": host, "X-Forwarded-For": "192.0.2.7", **headers})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.needs("postgres")
def test_the_script_makes_a_role_and_a_database_that_our_programs_accept(tmp_path: Path) -> None:
    """The role has a password, sees no row past row-level security, and needs no further right."""
    server = TestServer(Path(tempfile.mkdtemp(prefix="commonplace-pg-")))
    server.start(role="somebody")
    password = 'it\'s "quoted" $HOME; \\'
    environ = {
        "PATH": f"{Path(server.program('psql')).parent}:{os.environ['PATH']}",
        "PGHOST": str(server.folder),
        "COMMONPLACE_PASSWORD": password,
    }
    try:
        made = subprocess.run(
            ["sh", str(DEPLOY / "database.sh")], env=environ, capture_output=True, text=True, check=False
        )
        url = server.url("commonplace", "commonplace")
        settings = {"postgresql.url": url, "postgresql.partitions": 2, "embedding.provider": "hashing"}
        backends = {f"{block}.backend": "postgresql" for block in ("index", "history", "identity")}
        with open_memory("postgresql:team", settings={**settings, **backends}) as memory:
            notes = memory.index.stats().documents
        with psycopg.connect(server.url("postgres", "commonplace")) as connection:
            row = connection.execute(
                "SELECT rolsuper, rolbypassrls, rolpassword LIKE 'SCRAM-SHA-256%' FROM pg_authid"
                " WHERE rolname = 'commonplace'"
            ).fetchone()
    finally:
        server.remove()

    assert made.returncode == 0, made.stderr
    assert row == (False, False, True)
    assert notes.get("vault", 0) == 0
