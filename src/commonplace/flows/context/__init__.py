"""Context: a prompt -> what memory puts before the model, within a budget of characters and of time.

In: a `ContextRequest`. Out: a `Context`: one fenced text, what is in it and what was left out, each with the reason.

    build     plan -> gather the parts side by side until the deadline -> compose -> record use
    notes     the person's own memory, always-loaded, channel and dated notes; passages and playbooks by search
    facts     facts about the person and about whatever the prompt names
    topics    what a message is about, the lock of its conversation, the style for it
"""
