"""Files that hold secrets are recognised by their name or their text."""

import pytest

from commonplace.screening.secrets import is_secret_file

KEY = b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAA\n"


@pytest.mark.parametrize(
    "name",
    ["id_rsa", "ID_ED25519", "id_rsa.old", "server.pem", "Passwords.kdbx", ".env", ".env.local", "prod.env",
     "credentials", "credentials.json", "client_secret_12.json", "passwords.csv", ".netrc", "vpn.ovpn", "token",
     "creds.json", "keys/Token.txt", "secrets/api.txt", "deploy/secrets/prod/api", "github.token", "api_key.txt"],
)  # fmt: skip
def test_a_name_can_be_enough(name: str) -> None:
    """Whatever its case and its content."""
    assert is_secret_file(name, b"")


@pytest.mark.parametrize(
    "content",
    [
        KEY,
        b"text\n" * 80_000 + KEY,
        b"aws = AKIAQ3EGRT5VPNWX7TZK\n",
        b'{"a": "' + b"b " * 3000 + b'", "aws": "AKIAQ3EGRT5VPNWX7TZK"}',
        b"remote https://ada:hunter2x9@example.org\n",
    ],
)
def test_so_can_the_text(content: bytes) -> None:
    """A private key, a token of a known format, an address with a password."""
    assert is_secret_file("notes.txt", content)


@pytest.mark.parametrize(
    ("name", "content"),
    [("id_rsa.pub", b"ssh-rsa AAAA ada@host"), ("talk.key", b"PK\x03\x04\0\0"), ("photo.jpg", b"\xff\xd8\xff\xe0\0"),
     ("list.csv", b"name,age\nAda,36\n"), ("keys.txt", b"The piano has 88 keys.\n"), ("token.png", b"\x89PNG\0"),
     ("secrets/garden.jpg", b"\xff\xd8\0"), ("Tokens of love/poem.txt", b"A rose.\n"), ("", b"A rose.\n")],
)  # fmt: skip
def test_other_files_are_none(name: str, content: bytes) -> None:
    """A public key, a presentation, a picture, a table."""
    assert not is_secret_file(name, content)
