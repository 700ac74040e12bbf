"""Where notes are kept: the seam (`base`), its backends, the lock and the atomic publish."""
