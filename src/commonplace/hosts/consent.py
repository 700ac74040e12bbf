"""What a person is told when a host is installed."""

import shutil

from commonplace.daemon.single import is_claimed, our_places
from commonplace.hosts.host import PORTABLE, TOKEN_VARIABLE, Asked, Host
from commonplace.settings import registered


def consent_text(host: Host) -> str:
    """What hooks do, what is captured, and how to stop it."""
    return f"""Hooks in {host.title} will do two things:
  Before a prompt   what your vault knows about it is put before it, at most 9,000 characters, and goes with it to
                    the model that {host.title} uses.
  After each turn   the conversation's text, yours and the agent's, is read from {host.title}'s transcript and kept
                    in this machine's history, beside the vault's index. What looks like a secret is left out,
                    as far as our rules know it. It leaves this machine only where your settings name an embedding
                    server elsewhere, or when it is recalled before a later prompt.
  To pause it       commonplace pause, or commonplace pause --project FOLDER; commonplace resume goes on.
  To leave it out   commonplace install {host.name} --no-hooks"""


def notes_for(host: Host, asked: Asked) -> list[str]:
    """What a person should know or do now that the host is installed."""
    notes = [*host.notes(asked)]
    if asked.transport == "http":
        notes.append(
            "Over HTTP no host starts the daemon: `commonplace serve --install-service` lets the system do it."
        )
    if asked.reach == "project":
        if asked.transport == "http" and host.name != "vscode":
            notes.append(
                f"Set {TOKEN_VARIABLE} for {host.title}: `commonplace token create {host.name}` makes a token."
            )
        if not shutil.which(PORTABLE[0]):
            notes.append(f"The project's files call `{PORTABLE[0]}`, which is not on your path.")
    if not registered().vaults:
        notes.append("There is no vault yet: `commonplace init FOLDER` makes or adopts one.")
    elif asked.hooks and not is_claimed(our_places()):
        notes.append("The daemon does not run: the first session starts it, and goes without memory meanwhile;")
        notes.append("`commonplace serve --background` starts it now.")
    notes.append(f"Sessions of {host.title} that run now see it when they start anew.")
    return notes
