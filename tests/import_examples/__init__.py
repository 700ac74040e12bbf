"""Exports in the shapes that programs really write, ugly ones too; `build` makes the large and the damaged ones."""
