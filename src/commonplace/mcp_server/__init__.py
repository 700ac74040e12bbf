"""The MCP server: tools, prompts and a resource over the memory of the caller.

server         `make_server`: instructions, prompts, the note resource, all tools; before each call the caller's scopes,
               the limits on concurrent calls, and one form for errors
memory_tools   memory_search, _recall, _facts, _save, _forget; conversation_save
note_tools     note_read, _write, _list, and undo_last; truncates long notes
profile_tools  profile_edit and note_propose: what prompts show as the person's word
answers        what a model reads of each answer
arguments      argument types that several tools share, with their descriptions and bounds
tool           builds a tool from a plain method: its schema, hints, text and, if asked for, JSON
errors         errors as MCP sends them; their hints name tools instead of commands
caller         the caller of the current request, and the memory that serves it
"""
