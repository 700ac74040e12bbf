"""The command line: parses input, calls `Memory`, shows output. No logic."""
