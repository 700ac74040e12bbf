"""From a question to ranked hits and a context for a prompt: pure, no I/O."""
