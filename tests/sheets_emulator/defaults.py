"""What a new spreadsheet looks like (recorded)."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator.state import Sheet, Spreadsheet

ROWS, COLUMNS = 1000, 26
ROW_PIXELS, COLUMN_PIXELS = 21, 100
WHITE = {"red": 1, "green": 1, "blue": 1}

DEFAULT_FORMAT: dict[str, Any] = {
    "backgroundColor": WHITE,
    "padding": {"top": 2, "right": 3, "bottom": 2, "left": 3},
    "verticalAlignment": "BOTTOM",
    "wrapStrategy": "OVERFLOW_CELL",
    "textFormat": {
        "foregroundColor": {},
        "fontFamily": "arial,sans,sans-serif",
        "fontSize": 10,
        "bold": False,
        "italic": False,
        "strikethrough": False,
        "underline": False,
        "foregroundColorStyle": {"rgbColor": {}},
    },
    "backgroundColorStyle": {"rgbColor": WHITE},
}
THEME_COLOURS: dict[str, dict[str, float]] = {
    "TEXT": {},
    "BACKGROUND": {"red": 1, "green": 1, "blue": 1},
    "ACCENT1": {"red": 0.25882354, "green": 0.52156866, "blue": 0.95686275},
    "ACCENT2": {"red": 0.91764706, "green": 0.2627451, "blue": 0.20784314},
    "ACCENT3": {"red": 0.9843137, "green": 0.7372549, "blue": 0.015686275},
    "ACCENT4": {"red": 0.20392157, "green": 0.65882355, "blue": 0.3254902},
    "ACCENT5": {"red": 1, "green": 0.42745098, "blue": 0.003921569},
    "ACCENT6": {"red": 0.27450982, "green": 0.7411765, "blue": 0.7764706},
    "LINK": {"red": 0.06666667, "green": 0.33333334, "blue": 0.8},
}
THEME = {
    "primaryFontFamily": "Arial",
    "themeColors": [
        {"colorType": name, "color": {"rgbColor": colour}} for name, colour in THEME_COLOURS.items()
    ],
}


def new_sheet(sheet_id: int, title: str, index: int, rows: int = ROWS, columns: int = COLUMNS) -> Sheet:
    """An empty tab."""
    grid = {"rowCount": rows, "columnCount": columns}
    return Sheet(
        {"sheetId": sheet_id, "title": title, "index": index, "sheetType": "GRID", "gridProperties": grid}
    )


def new_spreadsheet(spreadsheet_id: str, title: str) -> Spreadsheet:
    """A file as files.create or spreadsheets.create makes it."""
    properties = {
        "title": title,
        "locale": "en_US",
        "autoRecalc": "ON_CHANGE",
        "timeZone": "Etc/GMT",
        "defaultFormat": DEFAULT_FORMAT,
        "spreadsheetTheme": THEME,
    }
    return Spreadsheet(spreadsheet_id, properties, [new_sheet(0, "Sheet1", 0)])
