"""Which differences between models hold."""
