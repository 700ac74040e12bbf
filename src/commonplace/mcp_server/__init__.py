"""The MCP server: tools, prompts and a resource over the memory of the caller.

server         `make_server`: instructions, prompts, the note resource, all tools; before each call the caller's scopes,
               the limits on concurrent calls, and one form for errors
memory_tools   memory_search, _recall, _facts, _timeline, _append, _forget, _capture; conversation_save, _close,
               history_search
note_tools     note_read, _write, _list, _links, and undo_last; truncates long notes
arguments      argument types that several tools share, with their descriptions and bounds
tool           builds a tool from a plain method: schemas, hints, the answer's envelope
errors         errors as MCP sends them
caller         the caller of the current request, and the memory that serves it
"""
