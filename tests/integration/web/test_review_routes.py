"""Review by HTTP: for the person, and for nobody else."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace.memory import Memory
from commonplace.model import Actor
from tests.integration.web.conftest import ClientFor


def staged(memory: Memory, text: str, *, old: str) -> tuple[str, str]:
    """The id of what the person said, and of what a program has read and wants to put in its place."""
    mine = memory.entries.save(old, kind="preference").fact.id
    agent = memory.acting(Actor("agent", "tester"))
    waits = agent.entries.evolve(mine, text, reason="said so", trust="read")
    assert waits.staged
    return mine, waits.fact.id


def test_every_fact_in_a_review_has_the_link_that_opens_its_note(client: TestClient, memory: Memory) -> None:
    """What waits, what it speaks against, what was approved and what ended."""
    _, new = staged(memory, "Reads novels in Spanish.", old="Reads novels in French.")
    (listed,) = client.get("/review").json()["waiting"]
    shown = client.get(f"/review/{new}").json()["waiting"]
    approved = _done(client, "/review/approve", ids=[new])
    chain = client.get(f"/entries/{new}").json()
    found = client.get("/facts").json()["facts"]
    facts = [listed["fact"], *shown["against"], approved["fact"], *approved["ended"], *chain["versions"], *found]

    assert [each["link"] for each in facts] == [memory.notes.link(each["path"]) for each in facts]
    assert all(each["link"].startswith("obsidian://open?vault=") for each in facts)


def test_what_waits_is_listed_shown_approved_and_rejected(client: TestClient, memory: Memory) -> None:
    """With the reason and what it speaks against; the approved entry replaces it, as the person's word."""
    old, new = staged(memory, "Sails in the evening.", old="Sails before breakfast.")
    _, other = staged(memory, "Rows on Sundays.", old="Rows on Saturdays.")
    listed = client.get("/review").json()
    shown = client.get(f"/review/{new[-6:]}").json()["waiting"]
    approved = _done(client, "/review/approve", ids=[new])
    rejected = _done(client, "/review/reject", ids=[other], reason="never true")

    assert [each["id"] for each in listed["waiting"]] == [new, other]
    assert listed["count"] == sum(len(listed[each]) for each in ("waiting", "endings", "groups", "proposals", "notes"))
    assert shown["reason"] == "What was read waits for the person's approval."
    assert [each["text"] for each in shown["against"]] == ["Sails before breakfast."]
    assert (approved["action"], [each["id"] for each in approved["ended"]]) == ("approve", [old])
    assert (approved["fact"]["source"]["trust"], approved["fact"]["place"]) == ("told", "")
    assert (rejected["action"], rejected["fact"]["status"], rejected["fact"]["reason"]) == (
        "reject",
        "deleted",
        "never true",
    )
    assert client.get("/review").json()["waiting"] == []


def test_an_edit_is_approved_in_other_words(client: TestClient, memory: Memory) -> None:
    """A dry run shows the difference only."""
    _, new = staged(memory, "Paints with oil.", old="Paints with chalk.")
    dry = _done(client, f"/review/{new}/edit", text="Paints with oil in winter.", dry_run=True)
    edited = _done(client, f"/review/{new}/edit", text="Paints with oil in winter.")

    assert "Paints with oil in winter." in dry["difference"]
    assert (edited["action"], edited["fact"]["text"]) == ("edit", "Paints with oil in winter.")


@pytest.mark.requirement("X-01")
def test_a_token_of_an_agent_is_refused_with_a_clear_message(client_for: ClientFor, memory: Memory) -> None:
    """For each route; a token that may read and write is an agent's."""
    agent = client_for("read", "write")
    _, new = staged(memory, "Cooks with gas.", old="Cooks with wood.")
    answers = [
        agent.get("/review"),
        agent.get(f"/review/{new}"),
        agent.post("/review/approve", json={"all": True}),
        agent.post("/review/reject", json={"ids": [new]}),
        agent.post(f"/review/{new}/edit", json={"text": "Cooks."}),
        agent.get("/review/ended"),
        agent.post("/review/ended", json={"ids": [new]}),
        agent.post("/review/groups/g-000000", json={"verdict": "both"}),
    ]
    refusal = answers[0].json()["error"]
    _done(client_for("admin"), "/review/reject", ids=[new])

    assert {answer.status_code for answer in answers} == {403}
    assert refusal["message"] == "tester acts as an agent, and only the person may do this"
    assert "commonplace review" in refusal["hint"]


def test_an_ending_is_allowed_or_both_hold(client: TestClient, memory: Memory) -> None:
    """Each with speaker and day."""
    mine = [memory.entries.save(text).fact.id for text in ("Rides a red bicycle.", "Keeps two hens in the yard.")]
    new = [
        client.post(f"/entries/{id}/evolve", json={"text": text, "reason": "said so"}).json()["remembered"]["id"]
        for id, text in zip(mine, ("Rides a blue bicycle.", "Keeps three hens in the yard."), strict=True)
    ]
    listed = client.get("/review").json()
    ended, kept = (
        _done(client, f"/review/{verb}", ids=[id]) for verb, id in zip(("approve", "reject"), new, strict=True)
    )

    assert [each["id"] for each in listed["endings"]] == new
    assert [each["against"][0]["speaker"] for each in listed["endings"]] == ["the person", "the person"]
    assert (ended["action"], [each["id"] for each in ended["ended"]]) == ("approve", [mine[0]])
    assert (kept["action"], kept["fact"]["bonds"]) == ("both", [{"bond": "both", "target": mine[1]}])
    assert client.get("/review").json()["endings"] == []


def test_a_group_is_decided_by_its_id(client: TestClient, memory: Memory) -> None:
    """A group that is decided is none any more; a verdict that does not exist is refused."""
    older = memory.entries.save("Elmwood library closes at six.").fact.id
    newer = memory.entries.save("Elmwood library closes at nine.").fact.id
    groups = client.get("/review").json()["groups"]
    group = next(each for each in groups if newer in [entry["id"] for entry in each["entries"]])
    wrong = client.post(f"/review/groups/{group['id']}", json={"verdict": "maybe"})
    done = _done(client, f"/review/groups/{group['id']}", verdict="replaces")
    again = client.post(f"/review/groups/{group['id']}", json={"verdict": "both"})

    assert [each["id"] for each in group["entries"]] == [newer, older]
    assert (done["action"], done["id"], [each["id"] for each in done["ended"]]) == ("replace", newer, [older])
    assert (wrong.status_code, again.status_code) == (422, 409)


@pytest.mark.parametrize("agree", [False, True])
def test_what_an_old_rule_ended_comes_back_or_stays_ended(client: TestClient, memory: Memory, agree: bool) -> None:
    """It is listed until one of the two is said."""
    who = "Nora" if agree else "Ada"
    old = memory.entries.save(f"{who} is allergic to penicillin.").fact.id
    memory.entries.evolve(old, f"{who} stopped smoking.", reason="It says that this has changed.")
    listed = [each for each in client.get("/review/ended").json()["ended"] if each["id"] == old]
    done = _done(client, "/review/ended", ids=[old], agree=agree)

    assert [each["reason"] for each in listed] == ["It says that this has changed."]
    assert (done["action"], done["fact"]["status"]) == (("agree", "superseded") if agree else ("back", "active"))
    assert old not in [each["id"] for each in client.get("/review/ended").json()["ended"]]


def test_errors_have_the_status_of_their_reason(client: TestClient) -> None:
    """404 for an unknown id, 400 for no entry at all."""
    assert client.get("/review/ffffff").status_code == 404
    assert client.post("/review/approve", json={}).status_code == 400


def _done(client: TestClient, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    (reviewed,) = answer.json()["reviewed"]
    return dict(reviewed)
