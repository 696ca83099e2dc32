"""The summary workbook: what everybody who may see results sees."""
