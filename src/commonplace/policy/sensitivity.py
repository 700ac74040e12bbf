"""Which notes are sensitive."""

from collections.abc import Mapping
from typing import Any

from commonplace.policy.options import SafetyOptions

_OLDER_KEY = "donna_sensitive"  # vaults written for an earlier system carry these two
_OLDER_LOCAL_ONLY_KEY = "donna"
_FALSE_WORDS = {"", "false", "no", "off", "0"}


def is_sensitive(frontmatter: Mapping[str, Any], options: SafetyOptions) -> bool:
    """Whether the note's owner marked it: a truthy sensitive key, or `local-only` under the other one."""
    marked = any(_truthy(frontmatter.get(key)) for key in (options.sensitive_frontmatter_key, _OLDER_KEY))
    local_only = any(
        str(frontmatter.get(key, "")).strip().lower() == "local-only"
        for key in (options.local_only_frontmatter_key, _OLDER_LOCAL_ONLY_KEY)
    )
    return marked or local_only


def _truthy(value: object) -> bool:
    """A person who writes `sensitive: "no"` means no; any other text means yes, which is the safe side."""
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE_WORDS
    return bool(value)
