"""Speaks to the daemon with the standard library alone, so that a hook or a stdio proxy starts in no time."""
