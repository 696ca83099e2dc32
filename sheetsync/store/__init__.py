"""The archive: append-only history of everything that was read."""
