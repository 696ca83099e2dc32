"""One verb, one module, one function: what each command does."""
