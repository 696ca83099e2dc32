"""Certifying a judge: cases, presentation, verdict and certificate."""
