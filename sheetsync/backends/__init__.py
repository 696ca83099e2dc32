"""Where workbooks live: one contract (`base`), several backends."""
