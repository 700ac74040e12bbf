"""Imports: conversations, notes and memories that other programs wrote, read from their exports and folders.

- base               the seam: files, readers and the items that they yield
- files              one file, a folder or a zip as `ImportFiles`
- registry           every reader, and which of them recognise given files
- json_stream        the items of a large JSON array, one at a time
- export_values      what the exports of chat programs have in common
- chatgpt, claude_ai, perplexity   data exports with conversations
- agent_folders      transcript folders of Claude Code, Codex and Gemini CLI
- plain              one conversation in JSON, JSON Lines or text
- note_files, statements, foreign_databases   what readers of other memories share: notes, entries, SQLite files
- basic_memory, logseq, notion     notes
- letta, mcp_memory, mem0, vault_operator, agentm, donna, istota   memories of agents
"""
