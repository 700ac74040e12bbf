"""Things that are not notes: chats, tasks, corrections."""
