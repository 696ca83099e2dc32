"""The command line: parses, calls one service, prints."""
