"""A rater's workbook, both directions: what it looks like, and what is read from it."""
