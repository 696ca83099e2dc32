"""Agreement between raters: coefficients, intervals, and what they mean."""
