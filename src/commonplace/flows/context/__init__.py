"""Context: a prompt -> what memory puts before the model, within a budget of characters and of time.

In: a `ContextRequest`. Out: a `Context`: one fenced text, what is in it and what was left out, each with the reason.

    build     plan -> gather the parts until the deadline -> compose -> record what was given and used
    conversation_state  what a conversation has been given; the prompts a new one is read with
    session_start  once in a session: the person's own memory, always-loaded, channel and dated notes; the profile,
              which is the standing picture of the person and the project; the last session
    facts     for each prompt: facts about whatever it names, and the entries that fit it; any fact as a line
    groups    what nobody has settled: newest first, each with its day; who says otherwise, and what waits
    passages  for each prompt: notes and conversations that it asks for, or that are nearer than unrelated ones come
    topics    what a message is about, the lock of its conversation, the style for it
"""
