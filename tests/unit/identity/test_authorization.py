"""What an OAuth client may ask for: redirect URIs, PKCE, scopes and the resource."""

import pytest

from commonplace.errors import UsageError
from commonplace.identity.authorization import (
    OAuthError,
    check_redirects,
    check_request,
    client_name,
    is_valid_redirect,
    redirect_fits,
    redirect_host,
    redirect_source,
    requested_scopes,
    verifier_fits,
    with_parameters,
)
from commonplace.identity.people import Person, VaultMember, allowed_scopes, choose_vault

RESOURCE = "https://memory.example.org/mcp"
# The example of RFC 7636, appendix B.
VERIFIER, CHALLENGE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
REQUEST = {
    "response_type": "code",
    "client_id": "c",
    "redirect_uri": "http://127.0.0.1:1/cb",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}


@pytest.mark.parametrize(
    ("uri", "valid"),
    [
        ("https://claude.ai/api/mcp/auth_callback", True),
        ("https://[2001:db8::1]/callback", True),
        ("http://127.0.0.1:33418/callback", True),
        ("http://localhost/callback?x=1", True),
        ("http://[::1]:9/callback", True),
        ("cursor://anysphere.cursor-retrieval/oauth/callback", True),
        ("com.example.app:/callback", True),
        ("http://example.org/callback", False),
        ("http://127.0.0.1.evil.example/callback", False),
        ("https://user@example.org/", False),
        ("https:///callback", False),
        ("https://example.org/#fragment", False),
        ("https://example.org/a b", False),
        ("https://example.org/\nx", False),
        ("https://example.org\\@evil.example/", False),
        ("https://exämple.org/", False),
        ("https://example.org:99999/", False),
        ("https://example.org;script-src/", False),
        ("https://example.org,example.net/", False),
        ("https://*/", False),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("//example.org/", False),
        ("", False),
    ],
)
def test_a_redirect_leads_to_https_to_this_machine_or_to_an_app(uri: str, valid: bool) -> None:
    """Nothing that a browser would run, no plain http elsewhere, and nothing that two parsers read differently."""
    assert is_valid_redirect(uri) == valid


@pytest.mark.parametrize(
    ("uri", "fits"),
    [
        ("http://127.0.0.1:1/cb", True),
        ("http://127.0.0.1:2/cb", True),
        ("http://127.0.0.1/cb", True),
        ("http://localhost:1/cb", False),
        ("http://127.0.0.1:1/cb/", False),
        ("http://127.0.0.1:1/cb?x=1", False),
        ("https://app.example/cb", True),
        ("https://app.example:8443/cb", False),
        ("https://app.example/cb?x=1", False),
        ("https://APP.example/cb", False),
    ],
)
def test_a_redirect_is_the_registered_one_but_for_the_port_of_the_loopback(uri: str, fits: bool) -> None:
    """Elsewhere every character counts."""
    assert redirect_fits(uri, ["http://127.0.0.1:1/cb", "https://app.example/cb"]) == fits


@pytest.mark.parametrize("values", [None, [], "https://a.example/", [7], ["https://a.example/"] * 11])
def test_a_registration_has_one_to_ten_redirects(values: object) -> None:
    """Anything else is refused."""
    with pytest.raises(UsageError):
        check_redirects(values)


def test_pkce_is_that_of_the_specification() -> None:
    """The verifier of the RFC's example fits its challenge, and no other one does."""
    assert verifier_fits(VERIFIER, CHALLENGE)
    assert not verifier_fits(VERIFIER[:-1] + "A", CHALLENGE)
    assert not verifier_fits(CHALLENGE, CHALLENGE)
    assert not verifier_fits("short", CHALLENGE)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": VERIFIER + "x"}, "invalid_request"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"resource": "https://memory.example.org/mcp/other"}, "invalid_target"),
        ({"resource": "https://memory.example.org.evil.example/mcp"}, "invalid_target"),
    ],
)
def test_a_wrong_request_has_the_error_of_the_specification(changed: dict[str, str], code: str) -> None:
    """The client is told what was wrong by the code that OAuth has for it."""
    with pytest.raises(OAuthError) as caught:
        check_request({**REQUEST, **changed}, resource=RESOURCE)

    assert caught.value.code == code


@pytest.mark.parametrize("resource", [RESOURCE, RESOURCE + "/", "HTTPS://Memory.example.org/mcp", ""])
def test_the_resource_is_this_server_in_any_spelling(resource: str) -> None:
    """A slash at the end and the case of the host do not count; older clients name none."""
    assert check_request({**REQUEST, "resource": resource}, resource=RESOURCE).resource == RESOURCE


@pytest.mark.parametrize(
    ("text", "scopes"), [("", ("read", "write")), ("read", ("read",)), ("write", ("read", "write"))]
)
def test_writing_includes_reading(text: str, scopes: tuple[str, ...]) -> None:
    """A client that names no scope asks for both."""
    assert requested_scopes(text) == scopes


def test_an_answer_keeps_the_query_of_the_redirect_and_escapes_its_values() -> None:
    """Values cannot add parameters or a fragment."""
    address = with_parameters("https://a.example/cb?x=1", state="a&code=evil#f", code="c", error="")

    assert address == "https://a.example/cb?x=1&state=a%26code%3Devil%23f&code=c"


def test_a_person_reads_where_the_answer_goes() -> None:
    """A host, this computer, or an app; and the policy of the page allows just that."""
    uris = ("https://a.example:8443/cb", "http://127.0.0.1:5/cb", "cursor://x/y")

    assert [redirect_host(each) for each in uris] == [
        "a.example",
        "a program on your own computer",
        "the app for cursor: links",
    ]
    assert [redirect_source(each) for each in uris] == ["https://a.example:8443", "http://127.0.0.1:5", "cursor:"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Claude\u202e Code\n\x1b[31m", "Claude Code [31m"),
        ("x" * 200, "x" * 60),
        (7, "unnamed program"),
        (" ", "unnamed program"),
    ],
)
def test_the_name_of_a_client_is_one_short_printable_line(name: object, shown: str) -> None:
    """It is shown to the person who decides."""
    assert client_name(name) == shown


@pytest.mark.parametrize(
    ("role", "vault_role", "asked", "allowed"),
    [
        ("member", "owner", ["admin"], {"read", "write", "admin"}),
        ("member", "owner", ["write"], {"read", "write"}),
        ("member", "writer", ["admin"], {"read", "write"}),
        ("owner", "reader", ["admin"], {"read"}),
        ("reader", "owner", ["write"], {"read"}),
        ("member", "owner", [], set()),
    ],
)
def test_a_credential_opens_the_least_of_what_token_vault_and_person_allow(
    role: str, vault_role: str, asked: list[str], allowed: set[str]
) -> None:
    """Running the server gives no right in a vault of somebody else."""
    person = Person("ada", "Ada", role)  # type: ignore[arg-type]

    assert allowed_scopes(person, vault_role, asked) == allowed  # type: ignore[arg-type]


def test_a_vault_is_chosen_among_the_persons_own() -> None:
    """By its path or its folder's name; a name that two vaults have chooses none."""
    own = [VaultMember("ada", path, "owner") for path in ("/v/ada", "/v/garden", "/w/garden")]

    assert [getattr(choose_vault(own, name), "vault", None) for name in ("", "ada", "/w/garden", "garden", "ben")] == [
        "/v/ada",
        "/v/ada",
        "/w/garden",
        None,
        None,
    ]
    assert choose_vault([], "") is None
