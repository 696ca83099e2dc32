"""sheetsync runs human scoring studies in spreadsheets."""
