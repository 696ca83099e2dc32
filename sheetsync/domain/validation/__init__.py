"""External validation: criteria, direction, pitfalls, and what unblinding shows."""
