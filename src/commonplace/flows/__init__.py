"""Read first: one path through the program is one function here."""
