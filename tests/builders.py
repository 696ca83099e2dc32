"""Small studies and ratings in a few words, so that a test shows its case and nothing else."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from sheetsync.domain.agreement.reliability import BLANK, INVALID, DimensionData, RatedRows
from sheetsync.domain.ratings import Rating
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue, Rubric, Study, StudyFile, Unit

STUDY_TOML = """\
[study]
id = "demo"
title = "A small study"
contact = "coordinator@example.org"

[[raters]]
id = "ann"

[[raters]]
id = "ben"

[people]
adjudicators = [{ id = "eve" }]
"""

RUBRIC_TOML = """\
version = "2026-07"

[[tag]]
id = "evasion"
text = "The response declines to answer."

[[dimension]]
id = "accuracy"
name = "Accuracy"
text = "Are the statements right?"
not_applicable = true
levels = [{ value = 1 }, { value = 2 }, { value = 3 }, { value = 4 }, { value = 5 }]
tags = [
  { id = "hallucination", text = "An invented statement.", claim = true },
  { id = "imprecision", text = "Near the truth." },
]

[[dimension]]
id = "coverage"
name = "Coverage"
levels = [{ value = 1 }, { value = 2 }, { value = 3 }, { value = 4 }, { value = 5 }]

[[remark]]
id = "notes"
name = "Notes"

[[rule]]
id = "evasion-coverage"
when = { tag = "evasion" }
then = { dimension = "coverage", equals = 1 }
message = "Evasion is ticked, so Coverage is 1."

[[rule]]
id = "low-needs-tag"
when = { dimension = "accuracy", at_most = 3 }
then = { any_tag_of = "accuracy" }
message = "Accuracy is 3 or lower: tick an error tag."
"""

QUESTIONS_CSV = """\
question_id,figure,tier,type,text,false_premise,reference
Q1,,general,fact,Who was {figure}?,,
Q2,,general,source,Which sources name {figure}?,,
Q3,Macrina,specific,adversarial,Why did Macrina become an abbess in Rome?,She was never in Rome.,
"""

RESPONSES_CSV = """\
question_id,figure,model,version,response
Q1,Macrina,Alder,alder-2026-03-14,The eldest of nine.
Q1,Macrina,Briar,briar-2026-04-02,A teacher of her brothers.
Q2,Macrina,Alder,alder-2026-03-14,Her Life by Gregory.
Q2,Macrina,Briar,briar-2026-04-02,A dialogue and a Life.
Q3,Macrina,Alder,alder-2026-03-14,She was not.
Q3,Macrina,Briar,briar-2026-04-02,Because of her vows.
"""

STUDY_FILES: Mapping[str, str] = {
    "study.toml": STUDY_TOML,
    "rubric.toml": RUBRIC_TOML,
    "questions.csv": QUESTIONS_CSV,
    "responses.csv": RESPONSES_CSV,
    "reference/Macrina.md": "# Macrina\n\nBorn about 327.\n",
}
"""A valid study of three questions, one figure, two models and two raters, without a warning."""


def write_study(folder: Path, files: Mapping[str, str | bytes | None] | None = None) -> Path:
    """Write the small study into a folder, with some files replaced, added, or (None) left out."""
    for name, content in {**STUDY_FILES, **(files or {})}.items():
        if content is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def make_rubric(**overrides: object) -> Rubric:
    """Return the small rubric with some of `tag`, `dimension`, `remark`, `rule` replaced."""
    return Rubric.model_validate(tomllib.loads(RUBRIC_TOML) | overrides)


def make_units(questions: int = 3, models: Sequence[str] = ("Alder", "Briar")) -> tuple[Unit, ...]:
    """Return units Q1, Q2 ... about Macrina for each model, in bank order."""
    return tuple(
        Unit(
            question_id=f"Q{number}",
            figure="Macrina",
            model=model,
            version=f"{model.lower()}-2026-03-14",
            question=f"Question {number} about Macrina?",
            response=f"Response {number} in manner {position}.",
            tier="general",
            type="fact",
            reference="Macrina.md",
        )
        for number in range(1, questions + 1)
        for position, model in enumerate(models, 1)
    )


def make_study(
    raters: Sequence[str] = ("ann", "ben"),
    rubric: Rubric | None = None,
    units: Sequence[Unit] | None = None,
    references: Mapping[str, str] | None = None,
    **sections: object,
) -> Study:
    """Return the small study in memory; `sections` are those of `study.toml`, as dicts.

    `make_study(["ann", "ben", "cy"], design={"raters_per_unit": 2})`
    """
    settings = tomllib.loads(STUDY_TOML) | {"raters": [{"id": rater} for rater in raters]} | sections
    return Study(
        settings=StudyFile.model_validate(settings),
        rubric=rubric or make_rubric(),
        units=tuple(make_units() if units is None else units),
        references={"Macrina.md": STUDY_FILES["reference/Macrina.md"]} if references is None else references,
    )


def make_ratings(*lines: str, dimension: str = "score", batch: str = "main") -> list[Rating]:
    """Return the ratings of units u1, u2 ... written as `"ann: 4 3 -"`.

    `-` is a blank, `na` is not applicable, and anything that is no number is a word.
    """
    return [
        Rating(rater.strip(), batch, "production", f"u{number}", dimension, _value(text))
        for rater, _, values in (line.partition(":") for line in lines)
        for number, text in enumerate(values.split(), 1)
        if text != "-"
    ]


def _value(text: str) -> LevelValue:
    if text.casefold() == "na":
        return NOT_APPLICABLE
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def rated_rows(data: DimensionData) -> RatedRows:
    """What stands in the arrays of a dimension, as mappings that a test can spell out."""
    cells = data.cells
    rows = [
        (data.raters[rater], data.units[unit]) for rater, unit in zip(cells.raters, cells.units, strict=True)
    ]
    codes = dict(zip(rows, cells.codes.tolist(), strict=True))
    values = {row: data.scale[code] if code >= 0 else NOT_APPLICABLE for row, code in codes.items()}
    return RatedRows(
        data.dimension,
        data.level,
        data.scale,
        data.raters,
        data.units,
        frozenset(rows),
        data.full_grid,
        {row: values[row] for row, code in codes.items() if code not in {BLANK, INVALID}},
        frozenset(row for row, code in codes.items() if code == INVALID),
        row_slices={
            by: {row: labels.values[at] for row, at in zip(rows, labels.codes, strict=True) if at >= 0}
            for by, labels in data.slices.items()
        },
    )
