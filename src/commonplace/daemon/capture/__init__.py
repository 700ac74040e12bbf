"""Captures conversations from the transcripts of agents.

worker   takes transcripts from hooks and reads them in a thread of its own
queue    which transcripts are waiting, how far each was read, and safe reading of their files
pauses   what a person does not want recorded
"""
