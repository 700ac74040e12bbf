"""The settings block `llm`. None of it may be set from inside a vault, and without it no text goes to a model."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from commonplace.model import option

Provider = Literal["none", "openai", "anthropic"]
Task = Literal["extract", "judge", "sleep", "curate", "playbook", "consolidate", "draft", "describe"]
TASKS: tuple[Task, ...] = get_args(Task)

MOST_TOKENS: Final[dict[Task, int]] = {
    "extract": 4000,
    "judge": 4000,
    "sleep": 3000,
    "curate": 2000,
    "playbook": 2000,
    "consolidate": 1000,
    "draft": 1500,
    "describe": 4000,
}
"""Tokens of an answer: an extraction lists some 20 items, a day some 12 memories and facts; a judgement has two
sentences and a verdict for each of 40 statements at most; a playbook has at most 15 steps; a consolidation is one
sentence; a draft is a few sentences and short lists; a description has two lines for each of 40 entries."""
TIMEOUT_SECONDS: Final[dict[Task, float]] = {
    "extract": 120.0,
    "judge": 180.0,
    "sleep": 180.0,
    "curate": 120.0,
    "playbook": 60.0,
    "consolidate": 60.0,
    "draft": 60.0,
    "describe": 180.0,
}
"""All run in the background, on a laptop's own model as well."""


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """The block of one task: what is set here counts for this task alone."""

    provider: Provider | None = option(
        None,
        "The model of this task, if it is not the one of `llm`: with `openai` or `anthropic` the server, the key, the "
        "model and the prices are all set here; with `none` this task uses no model.",
    )
    base_url: str | None = option(None, "The server of this task; only together with `provider`.")
    model: str | None = option(None, "The model of this task.")
    key_env: str | None = option(None, "The variable with the key of this task's server; only with `provider`.")
    key_file: Path | None = option(None, "The file with the key of this task's server; only with `provider`.")
    price_in: float | None = option(None, "Dollars for a million tokens that this model reads.", at_least=0)
    price_out: float | None = option(None, "Dollars for a million tokens that this model writes.", at_least=0)
    most_tokens: int | None = option(
        None,
        "Most tokens of an answer; by default 4,000 for `extract`, `judge` and `describe`, 1,000 for `consolidate`, "
        "3,000 for `sleep`, 2,000 for `curate` and `playbook`, and 1,500 for `draft`.",
        at_least=16,
    )
    timeout_seconds: float | None = option(
        None,
        "How long to wait for an answer; by default 120 seconds for `extract` and `curate`, 180 for `judge`, "
        "`sleep` and `describe`, and 60 for `playbook`, `consolidate` and `draft`.",
        at_least=1,
    )
    prompt_file: Path | None = option(None, "A file with your own instructions for this task, instead of ours.")

    def __post_init__(self) -> None:
        alone = [name for name in ("base_url", "key_env", "key_file") if getattr(self, name) is not None]
        if alone and self.provider is None:  # else the key of `llm` would go to another server
            raise ValueError(f"{alone[0]} needs `provider` in the same block")


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """The block `llm`: the model of all tasks, the day's budget, and a block for each task."""

    provider: Provider = option(
        "none",
        "The language model that extracts facts from conversations and judges near ones: `openai` for every server "
        "with OpenAI's chat completions (Ollama, llama.cpp, LM Studio, vLLM, OpenAI), `anthropic`, or `none`.",
    )
    base_url: str | None = option(
        None, "The server, such as http://127.0.0.1:11434/v1; by default the provider's own. Text is sent there."
    )
    model: str | None = option(None, "The model to ask, by its name on that server.")
    key_env: str | None = option(
        None,
        "The environment variable that holds the server's key; by default OPENAI_API_KEY or ANTHROPIC_API_KEY, which "
        "go to the provider's own server alone.",
    )
    key_file: Path | None = option(
        None, "A file that holds the key instead, readable by you alone: a service does not see your variables."
    )
    price_in: float = option(0.0, "Dollars for a million tokens that the model reads, for the budget.", at_least=0)
    price_out: float = option(0.0, "Dollars for a million tokens that the model writes, for the budget.", at_least=0)
    daily_dollars: float = option(
        1.0,
        "Most dollars in a day (UTC) for each vault, by the prices here; a call that could exceed it is not made.",
        at_least=0,
    )
    daily_tokens: int = option(
        2_000_000, "Most tokens in a day (UTC) for each vault, read and written, of all models together.", at_least=0
    )
    extract: TaskOptions = field(default_factory=TaskOptions)
    judge: TaskOptions = field(default_factory=TaskOptions)
    sleep: TaskOptions = field(default_factory=TaskOptions)
    curate: TaskOptions = field(default_factory=TaskOptions)
    playbook: TaskOptions = field(default_factory=TaskOptions)
    consolidate: TaskOptions = field(default_factory=TaskOptions)
    draft: TaskOptions = field(default_factory=TaskOptions)
    describe: TaskOptions = field(default_factory=TaskOptions)
