"""The tables as the newest migration leaves them; `migrations` says what each constraint is.

Statements that name few rows are built from these; `entries`, `imported`, `rows` and problems are written through
the driver, see `pulls`.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Integer, MetaData, Table, Text

metadata = MetaData()


def _text(*names: str) -> list[Column[str]]:
    return [Column(name, Text) for name in names]


def _integer(*names: str) -> list[Column[int]]:
    return [Column(name, Integer) for name in names]


def _id(name: str = "id") -> Column[int]:
    return Column(name, Integer, primary_key=True)


migrations = Table("migrations", metadata, _id("number"), *_text("name"))
units = Table(
    "units",
    metadata,
    _id(),
    *_text("code", "question_id", "figure", "model"),
    Column("calibration", Boolean),
    *_text("side"),
    Column("has_false_premise", Boolean),
)
texts = Table("texts", metadata, *_text("code"), *_integer("number"), *_text("question", "response"))
rubrics = Table("rubrics", metadata, *_text("hash", "json"))
workbooks = Table(
    "workbooks", metadata, _id(), *_text("rater", "batch", "kind", "rubric", "location", "version")
)
rows = Table("rows", metadata, *_integer("workbook", "position"), *_text("code"), *_integer("text"))
creations = Table("creations", metadata, _id(), *_integer("workbook"), *_text("at", "location", "version"))
columns = Table("columns", metadata, _id(), *_text("kind", "name"))
pulls = Table("pulls", metadata, _id("number"), *_text("at"))
readings = Table(
    "readings",
    metadata,
    _id(),
    *_integer("pull"),
    *_text("source"),
    *_integer("workbook"),
    *_text("state", "version"),
    *_integer("problems_from", "new", "changed", "cleared", "revisions"),
)
problems = Table(
    "problems",
    metadata,
    *_integer("reading", "position"),
    *_text("kind", "message", "rater", "batch", "tab", "cell", "code", "column", "found", "severity"),
)
entries = Table("entries", metadata, *_integer("workbook", "row", "column", "pull"), *_text("value"))
verdicts = Table(
    "verdicts",
    metadata,
    _id(),
    *_integer("pull"),
    *_text("code", "dimension", "kind", "verdict", "reason", "comment", "adjudicator", "basis"),
    *_integer("text"),
)
published = Table(
    "published",
    metadata,
    Column("place", Text, primary_key=True),
    *_text("tabs", "people_columns", "version"),
)
claims = Table("claims", metadata, _id(), *_text("at", "dimension", "first", "second", "strength"))
imports = Table(
    "imports", metadata, _id(), *_integer("pull", "workbook"), *_text("file", "hash"), *_integer("revisions")
)
imported = Table("imported", metadata, *_integer("workbook", "row", "column", "pull"), *_text("value"))
import_problems = Table(
    "import_problems",
    metadata,
    *_integer("import", "position"),
    *_text("kind", "message", "rater", "batch", "tab", "cell", "code", "column", "found", "severity"),
)
freezes = Table("freezes", metadata, _id(), *_text("at", "hash", "content"))
certifications = Table(
    "certifications", metadata, _id("number"), *_text("at", "rubric", "cases", "key", "hashes")
)
judgings = Table(
    "judgings",
    metadata,
    _id(),
    *_integer("run"),
    *_text("at", "source", "judge", "called", "hash"),
    Column("fresh", Boolean),
)
judging_ends = Table("judging_ends", metadata, _id("judging"), *_text("at", "state", "detail"))
judged = Table("judged", metadata, _id(), *_integer("judging"), *_text("at", "case", "state", "verdict"))
events = Table("events", metadata, _id(), *_text("at", "command", "outcome"))
