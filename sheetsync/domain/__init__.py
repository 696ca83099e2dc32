"""What a study, a workbook, a rating and an agreement figure are: pure values and functions."""
