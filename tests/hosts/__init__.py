"""The agent programs that people use, run for real: installed once, against scripted models on the loopback."""
