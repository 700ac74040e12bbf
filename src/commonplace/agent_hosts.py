"""Agent hosts: what we know of each program that agents run in, in one place.

To add a host, add an `AgentHost` to `AGENT_HOSTS`; if `commonplace install` shall write its files, add those to
`hosts/registry.py`. Hooks load this module before every prompt, so it goes without dataclasses and typing, which take
longer to load than a hook takes to run.
"""

import json
import os
from collections.abc import Callable, Mapping

Line = Mapping[str, object]
"""One parsed line of a transcript."""

Utterance = tuple[Mapping[str, object], object, object]
"""From a transcript line: the message with its `role` and `content`, its timestamp, and its id."""

HOOK_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
}
"""The hook events of Claude Code, which Codex has adopted, and our names for them."""

_GEMINI_EVENTS = {
    "SessionStart": "session-start",
    "BeforeAgent": "prompt",
    "AfterAgent": "stop",
    "PreCompress": "pre-compact",
    "SessionEnd": "session-end",
}


class AgentHost:
    """A program that agents run in. Everything but the name, the title and the client names may be empty.

    client_names      what its MCP client name contains, in lower case with dashes
    config_variable   the environment variable that names its configuration folder
    config_folder     that folder below the home folder, if the variable is not set
    names_home        True if the variable names the folder that takes the home folder's place
    transcript_folder the folder below the configuration folder with the transcripts
    read_line         the message in a transcript line; None for a line that holds nothing said
    is_subagent_line  True for the first line of a transcript in which an agent speaks in the person's place
    may_lack_ids      True if older versions wrote messages without ids
    injected_blocks   tags of the blocks that the host adds to what a person types
    injected_lines    regular expressions for the lines that it adds
    hook_events       its hook events and our names for them
    turn_field        the field of its hook input that identifies a prompt
    context_tokens    how many tokens of injected text it accepts; 0 if it limits only the characters
    continues_on_stop True if a stop hook can make the agent go on, with the reason as its next prompt
    shows_line        True if it shows the `systemMessage` of a hook's output to the person, and not to the model;
                      Codex shows it as a warning
    """

    __slots__ = (
        "client_names",
        "config_folder",
        "config_variable",
        "context_tokens",
        "continues_on_stop",
        "hook_events",
        "injected_blocks",
        "injected_lines",
        "is_subagent_line",
        "may_lack_ids",
        "name",
        "names_home",
        "read_line",
        "shows_line",
        "title",
        "transcript_folder",
        "turn_field",
    )

    def __init__(
        self,
        name: str,
        title: str,
        client_names: tuple[str, ...],
        *,
        config_variable: str = "",
        config_folder: str = "",
        names_home: bool = False,
        transcript_folder: str = "",
        read_line: Callable[[Line], Utterance | None] | None = None,
        is_subagent_line: Callable[[Line], bool] = lambda line: False,
        may_lack_ids: bool = False,
        injected_blocks: str = "",
        injected_lines: tuple[str, ...] = (),
        hook_events: Mapping[str, str] | None = None,
        turn_field: str = "",
        context_tokens: int = 0,
        continues_on_stop: bool = False,
        shows_line: bool = False,
    ) -> None:
        self.name = name
        self.title = title
        self.client_names = client_names
        self.config_variable = config_variable
        self.config_folder = config_folder
        self.names_home = names_home
        self.transcript_folder = transcript_folder
        self.read_line = read_line
        self.is_subagent_line = is_subagent_line
        self.may_lack_ids = may_lack_ids
        self.injected_blocks = tuple(injected_blocks.split())
        self.injected_lines = injected_lines
        self.hook_events = hook_events or {}
        self.turn_field = turn_field
        self.context_tokens = context_tokens
        self.continues_on_stop = continues_on_stop
        self.shows_line = shows_line

    def named_config(self, environ: Mapping[str, str]) -> str:
        """The configuration folder that the environment names; empty if it names none."""
        named = environ.get(self.config_variable, "")
        return os.path.join(named, self.config_folder) if named and self.names_home else named

    def config_value(self, config: str) -> str:
        """The value of the environment variable that names this configuration folder."""
        return os.path.dirname(config) if self.names_home else config


_HIDDEN_FLAGS = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""How Claude Code flags lines that no one typed or said: its own remarks, sub-agents, summaries, network failures."""
_SYNTHETIC_MODEL = "<synthetic>"  # the model of lines that Claude Code writes in the assistant's name


def _claude_code_line(line: Line) -> Utterance | None:
    """One block of a message; the id is the line's own."""
    message = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return None
    if any(line.get(flag) for flag in _HIDDEN_FLAGS):
        return None
    if message.get("model") == _SYNTHETIC_MODEL or message.get("role") != line["type"]:
        return None
    return message, line.get("timestamp"), line.get("uuid")


def _codex_line(line: Line) -> Utterance | None:
    """A message; Codex also writes each message as an event, which is skipped."""
    message = line.get("payload")
    if line.get("type") != "response_item" or not isinstance(message, dict) or message.get("type") != "message":
        return None
    if message.get("role") == "user" and _is_written_by_codex(message):
        return None
    return message, line.get("timestamp"), message.get("id")


def _is_codex_subagent(line: Line) -> bool:
    """True for the first line of a rollout that Codex began for another one: there its user is an agent."""
    session = line.get("payload")
    if line.get("type") != "session_meta" or not isinstance(session, dict):
        return False
    source = session.get("source")
    return session.get("thread_source") == "subagent" or (isinstance(source, dict) and "subagent" in source)


def _is_written_by_codex(message: Mapping[str, object]) -> bool:
    """True if Codex itself wrote the message in the person's name, which newer versions declare."""
    metadata = message.get("internal_chat_message_metadata_passthrough")
    kinds = metadata.get("content_item_kinds") if isinstance(metadata, dict) else None
    return isinstance(kinds, list) and bool(kinds) and not any(str(kind).startswith("user.") for kind in kinds)


_GEMINI_ROLES = {"user": "user", "gemini": "assistant"}


def _gemini_line(line: Line) -> Utterance | None:
    """A message; other lines hold what the session is about, and messages of the program itself."""
    role, content = _GEMINI_ROLES.get(str(line.get("type"))), line.get("content")
    if role is None:
        return None
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    text = "\n".join(text for text in texts if isinstance(text, str))
    return {"role": role, "content": text}, line.get("timestamp"), line.get("id")


AGENT_HOSTS = (
    AgentHost(
        "claude-code",
        "Claude Code",
        ("claude-code", "claudecode"),
        config_variable="CLAUDE_CONFIG_DIR",
        config_folder=".claude",
        transcript_folder="projects",
        read_line=_claude_code_line,
        injected_blocks="""
            system-reminder command-name command-message command-args local-command-stdout local-command-stderr
            local-command-caveat bash-input bash-stdout bash-stderr user-prompt-submit-hook user-memory-input
            task-notification ide_opened_file ide_selection ide_diagnostics
        """,
        injected_lines=(r"^\[Request interrupted by user[^\]\n]{0,40}\]$",),
        hook_events=HOOK_EVENTS,
        turn_field="prompt_id",
        continues_on_stop=True,
        shows_line=True,
    ),
    AgentHost("claude-desktop", "Claude Desktop", ("claude-desktop",)),
    AgentHost("claude-ai", "Claude", ("claude-ai", "claude")),
    AgentHost("chatgpt", "ChatGPT", ("chatgpt", "openai-mcp")),
    AgentHost(
        "codex",
        "Codex",
        ("codex",),
        config_variable="CODEX_HOME",
        config_folder=".codex",
        transcript_folder="sessions",
        read_line=_codex_line,
        is_subagent_line=_is_codex_subagent,
        may_lack_ids=True,
        injected_blocks="""
            environment_context user_instructions INSTRUCTIONS turn_aborted skill permissions collaboration_mode
            user_shell_command subagent_notification
        """,
        injected_lines=(r"^# AGENTS\.md instructions(?: for)?\b[^\n]*\n?",),
        hook_events=HOOK_EVENTS,
        turn_field="turn_id",
        context_tokens=2400,
        continues_on_stop=True,
        shows_line=True,
    ),
    AgentHost("cursor", "Cursor", ("cursor",)),
    AgentHost("perplexity", "Perplexity", ("perplexity",)),
    AgentHost(
        "gemini",
        "Gemini CLI",
        ("gemini",),
        config_variable="GEMINI_CLI_HOME",
        config_folder=".gemini",
        names_home=True,
        transcript_folder="tmp",
        read_line=_gemini_line,
        injected_blocks="hook_context session_context",
        hook_events=_GEMINI_EVENTS,
        shows_line=True,
    ),
    AgentHost("opencode", "OpenCode", ("opencode",)),
    AgentHost("zed", "Zed", ("zed-editor",)),
    AgentHost("windsurf", "Windsurf", ("windsurf",)),
    AgentHost(
        "copilot-cli",
        "Copilot CLI",
        ("copilot-cli", "github-copilot-developer"),
        config_variable="COPILOT_HOME",
        config_folder=".copilot",
    ),
    AgentHost("vscode", "VS Code", ("vscode", "visual-studio-code", "github-copilot")),
    AgentHost("obsidian", "Obsidian", ("obsidian",)),
)
"""Every host we know. Of the client names the first match counts, so a more special host comes first."""

TRANSCRIPT_HOSTS = tuple(host.name for host in AGENT_HOSTS if host.read_line)
"""Names of the hosts whose transcripts can be read."""


def find_agent_host(name: str) -> AgentHost | None:
    """The host of that name; None if we do not know it."""
    return next((host for host in AGENT_HOSTS if host.name == name), None)


def host_of_hook(fields: Mapping[str, object], environ: Mapping[str, str]) -> str:
    """The name of the host that wrote this hook input; Claude Code and Codex share a plugin and write it much alike.

    A Codex that was started by Claude Code inherits its environment, so the input itself decides first.
    """
    path = fields.get("transcript_path")
    transcript = os.path.basename(path) if isinstance(path, str) else ""
    if transcript.startswith("rollout-") or "turn_id" in fields:
        return "codex"
    if "prompt_id" in fields or transcript:
        return "claude-code"
    return "codex" if "model" in fields or "PLUGIN_ROOT" in environ else "claude-code"


def parse_transcript_line(line: bytes) -> Line | None:
    """The JSON object in a line of a transcript; None if there is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # half a line, bytes that are not text, endlessly nested lists
        return None
    return value if isinstance(value, dict) else None


def working_folders(content: bytes) -> tuple[str, ...]:
    """The folders that the lines of a transcript name as the session's working folder, each once, in order."""
    lines = (parse_transcript_line(line) for line in content.split(b"\n") if b'"cwd"' in line)
    holders = (holder for line in lines if line for holder in (line, line.get("payload")))
    folders = (holder.get("cwd") for holder in holders if isinstance(holder, dict))
    return tuple(dict.fromkeys(folder for folder in folders if isinstance(folder, str) and folder))
