"""What a conversation says that is worth knowing: turns -> candidate facts with their evidence. Pure.

- rules     what people plainly state, by rules alone: no model, precision first
- answers   what a model answers: the schema it is asked for, and which of its items are refused, and why
"""
