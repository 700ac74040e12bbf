"""Quick look-up of what the vault and other sources say, derived from them: `base` is the seam, twins beside it."""
