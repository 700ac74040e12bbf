"""Entries and facts by HTTP."""

from typing import Any

from starlette.testclient import TestClient

from commonplace.memory import Memory


def test_an_entry_is_saved_shown_evolved_confirmed_and_forgotten(client: TestClient) -> None:
    """Each verb has a route, and the chain shows every version."""
    saved = _done(client, "/entries", text="Prefers concise pull requests.", kind="preference", topics=["coding"])
    evolved = _done(client, f"/entries/{saved['id']}/evolve", text="Prefers long pull requests.", reason="said so")
    confirmed = client.post(f"/entries/{evolved['id'][-6:]}/confirm").json()["remembered"]
    forgotten = _done(client, f"/entries/{evolved['id']}/forget", reason="never true")
    chain = client.get(f"/entries/{saved['id']}").json()

    assert [each["action"] for each in (saved, evolved, confirmed, forgotten)] == [
        "insert",
        "supersede",
        "confirm",
        "forget",
    ]
    assert [each["id"] for each in chain["versions"]] == [saved["id"], evolved["id"]]
    assert chain["versions"][-1]["state"] == "deleted"
    assert chain["edges"] == [{"source": evolved["id"], "bond": "update", "target": saved["id"]}]


def test_what_a_program_saves_has_its_origins(client: TestClient, memory: Memory) -> None:
    """The entry names the caller and the conversation, and has the trust `said`."""
    saved = _done(client, "/entries", text="Drinks green tea.", session_id="s-1")
    fact = memory.entries.show(saved["id"]).fact

    assert (fact.origins.interface, fact.origins.conversation, fact.origins.trust) == ("tester", "s-1", "said")


def test_what_an_entry_is_about_and_when_it_matters_has_fields_a_route_and_a_filter(client: TestClient) -> None:
    """For entries and triples; null leaves a field as it is, and a new version keeps what is not said anew."""
    saved = _done(client, "/entries", text="Cannot eat shellfish.", kind="fact", about="food allergies")
    described = _done(client, f"/entries/{saved['id'][-6:]}/describe", when="restaurants, menus")
    evolved = _done(
        client, f"/entries/{saved['id']}/evolve", text="Cannot eat crabs.", reason="r", when="menus, prawns"
    )
    triple = _done(client, "/facts", subject="Ivo", predicate="likes", object="tea", when="visits of Ivo")
    found = [client.get("/facts", params={"about": words}).json()["facts"] for words in ("ALLERG", "visits", "xyz")]

    assert (saved["fact"]["about"], saved["fact"]["when"]) == ("food allergies", "")
    assert (described["action"], described["id"], described["changed"]) == ("describe", saved["id"], True)
    assert (described["fact"]["about"], described["fact"]["when"]) == ("food allergies", "restaurants, menus")
    assert (evolved["fact"]["about"], evolved["fact"]["when"]) == ("food allergies", "menus, prawns")
    assert [[each["id"] for each in facts] for facts in found] == [[evolved["id"]], [triple["id"]], []]


def test_a_description_may_be_tried_and_is_refused_where_it_does_not_fit(client: TestClient, memory: Memory) -> None:
    """Too long, nothing at all, an unknown entry, and what the person said of it; a dry run writes nothing."""
    mine = memory.entries.save("Rows on the lake.", kind="fact", about="her sports").fact
    route = f"/entries/{mine.id}/describe"
    tried = _done(client, route, when="boats, summer evenings", dry_run=True)
    answers = [
        client.post(to, json=body)
        for to, body in (
            (route, {"when": "boats " * 30}),
            (route, {}),
            ("/entries/ffffff/describe", {"when": "boats"}),
            (route, {"about": "rowing"}),
            (route, {"about": ""}),
        )
    ]

    assert "+when: boats, summer evenings" in tried["difference"]
    assert [each.status_code for each in answers] == [400, 400, 404, 403, 403]
    assert "`when` has 179 characters; it may have 120" in answers[0].json()["error"]["message"]
    assert (memory.entries.show(mine.id).fact.about, memory.entries.show(mine.id).fact.when) == ("her sports", "")


def test_a_dry_run_changes_nothing(client: TestClient, memory: Memory) -> None:
    """The response has the difference, and no note is written."""
    before = memory.notes.list()
    saved = _done(client, "/entries", text="Sails on Sundays.", dry_run=True)

    assert "Sails on Sundays." in saved["difference"]
    assert memory.notes.list() == before


def test_a_fact_holds_until_it_is_ended(client: TestClient) -> None:
    """Added, listed as of a day, ended, and shown on the timeline."""
    added = _done(client, "/facts", subject="Mira", predicate="works_at", object="Acme", valid_from="2026-03-01")
    _done(client, f"/facts/{added['id']}/end", at="2026-06-01")
    then = client.get("/facts", params={"entity": "Mira", "as_of": "2026-05-01"}).json()
    now = client.get("/facts", params={"entity": "Mira"}).json()
    timeline = client.get("/timeline", params={"entity": "Mira"}).json()

    assert [each["object"] for each in then["facts"]] == ["Acme"]
    assert now == {"ok": True, "count": 0, "facts": []}
    assert [(each["what"], each["at"][:10]) for each in timeline["timeline"]] == [
        ("began", "2026-03-01"),
        ("ended", "2026-06-01"),
    ]


def test_refusals_have_the_status_of_their_reason(client: TestClient) -> None:
    """404 for an unknown id, 403 with the reason for a secret, 400 for an invalid day."""
    missing = client.get("/entries/ffffff")
    secret = client.post("/entries", json={"text": "The key is AKIAIOSFODNN7EXAMPLQ, keep it."})
    day = client.post("/facts", json={"subject": "a", "predicate": "b", "object": "c", "valid_from": "someday"})

    assert (missing.status_code, missing.json()["error"]["reason"]) == (404, "missing")
    assert (secret.status_code, secret.json()["error"]["reason"]) == (403, "secret")
    assert (day.status_code, day.json()["error"]["reason"]) == (400, "usage")


def _done(client: TestClient, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    remembered: dict[str, Any] = answer.json()["remembered"]
    return remembered


def test_a_project_is_given_by_name(client: TestClient) -> None:
    """For entries, triples and conversations; and each of their lists can be limited to one project."""
    entry = _done(client, "/entries", text="The hull is painted in spring.", kind="workflow", project="boat")
    triple = _done(client, "/facts", subject="Argo", predicate="has_colour", object="blue", project="boat")
    turns = [{"role": "user", "content": "Which paint?"}]
    client.post("/conversations", json={"messages": turns, "session_id": "b-1", "project": "boat"})
    facts = client.get("/facts", params={"project": "boat"}).json()["facts"]
    threads = client.get("/conversations", params={"project": "boat"}).json()["conversations"]

    assert {each["id"] for each in facts} == {entry["id"], triple["id"]}
    assert [(each["source_id"], each["project"]) for each in threads] == [("b-1", "boat")]


def test_what_is_near_an_entry_is_in_the_response_and_settled_by_a_route(client: TestClient, memory: Memory) -> None:
    """One change, which undo takes back; what only the person may end waits, and the response names it."""
    old = _done(client, "/entries", text="The dentist in Elm street is Dr. Brand.", kind="fact")
    told = memory.entries.save("The dentist in Elm street is open on Mondays.", kind="fact").fact
    new = _done(client, "/entries", text="The dentist in Elm street is Dr. Okafor.", kind="fact")
    settled = _done(client, f"/entries/{new['id'][-6:]}/settle", replaces=[old["id"], told.id], reason="took over")
    again = client.post(f"/entries/{new['id']}/settle", json={"replaces": [old["id"]]})
    nothing = client.post(f"/entries/{new['id']}/settle", json={})

    assert {each["id"] for each in new["neighbours"]} >= {old["id"], told.id}
    assert [each["id"] for each in settled["ended"]] == [old["id"]]
    assert [each["id"] for each in settled["waiting"]] == [told.id]
    assert (settled["reason"], settled["fact"]["supersedes"]) == ("took over", old["id"])
    assert (again.status_code, nothing.status_code) == (409, 400)


def test_a_verdict_may_come_with_an_entry_or_a_triple(client: TestClient) -> None:
    """By ids that the program knows; of several things in one text each is named, unless it is to be whole."""
    old = _done(client, "/entries", text="Paints with oil.", kind="preference")
    new = _done(client, "/entries", text="Paints with oil and with chalk.", covers=[old["id"]])
    while_ = _done(client, "/entries", text="Paints with ink.", replaces=[new["id"]], until="2999-01-01")
    first = _done(client, "/facts", subject="Nils", predicate="works_at", object="Acme")
    second = _done(client, "/facts", subject="Nils", predicate="works_at", object="Beta", both=[first["id"]])
    parts = client.post("/entries", json={"text": "Ada paints.\nBo sings.", "kind": "fact"})
    whole = _done(client, "/entries", text="Ada paints.\nBo sings.", kind="fact", whole=True)

    assert ([each["id"] for each in new["ended"]], new["fact"]["kind"]) == ([old["id"]], "preference")
    assert (while_["ended"], while_["fact"]["valid_until"][:10]) == ([], "2999-01-01")
    assert (second["ended"], second["fact"]["bonds"]) == ([], [{"bond": "both", "target": first["id"]}])
    assert (parts.status_code, parts.json()["error"]["message"]) == (
        400,
        "this text says 2 things: (1) Ada paints.; (2) Bo sings.",
    )
    assert whole["action"] == "insert"
