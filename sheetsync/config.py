"""Loading a study: the only reader of user configuration, with all faults at once.

config                entry points; decides what is read in which order
├── config_settings   study.toml         ├── config_bank        questions, figures, units
├── config_rubric     rubric.toml        ├── config_responses   responses, blinding
│   └── config_rules  its rules         └── config_criteria    [criteria], internal scores
├── config_judge      the judge          ├── config_certification  what it is certified with
│                                        └── config_weights    weights, disclosures
├── config_guidance   what raters are told: time, self-check, resources
├── config_records    TOML data -> records, errors in plain words
├── config_files      text, TOML, CSV and JSON lines with line numbers
└── config_faults     what a fault is
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sheetsync import config_bank, config_responses
from sheetsync.config_certification import check_certification
from sheetsync.config_criteria import check_criteria
from sheetsync.config_faults import Fault, Faults
from sheetsync.config_files import read_table, read_toml
from sheetsync.config_guidance import check_guidance
from sheetsync.config_judge import check_gap, check_judge
from sheetsync.config_records import Document
from sheetsync.config_rubric import check_rubric
from sheetsync.config_settings import check_rater_columns, check_settings
from sheetsync.domain.certification.material import CertificationMaterial
from sheetsync.domain.scoring.rules import MAX_FORMULA_CHARACTERS
from sheetsync.domain.scoring.tab import check_formula_length
from sheetsync.domain.study import Design, Files, Remark, Rubric, Study, StudyFile, Unit
from sheetsync.errors import StudyError

STUDY_FILE = "study.toml"

__all__ = ["STUDY_FILE", "Fault", "check_study", "load_study"]


def load_study(folder: Path) -> Study:
    """Return the study of a folder.

    Raises:
        StudyError: this is no study folder, or its files are not valid; `faults` lists every error.
    """
    study, faults = check_study(folder)
    errors = [fault for fault in faults if fault.severity == "error"]
    if study is None or errors:
        count = "one error" if len(errors) == 1 else f"{len(errors)} errors"
        raise StudyError(
            f"The study files in {folder} hold {count}.",
            "Correct them, then run `sheetsync check`.",
            faults=errors,
        )
    return study


def check_study(folder: Path) -> tuple[Study | None, list[Fault]]:
    """Read every file of a study; the study is None when there is any error.

    Raises:
        StudyError: the folder holds no `study.toml`.
    """
    if not (folder / STUDY_FILE).is_file():
        raise StudyError(
            f"{folder} is not a study folder: it holds no {STUDY_FILE}.",
            "Name the folder with -C DIR, or make a new study with `sheetsync init`.",
        )
    faults = Faults()
    document = _read_document(folder / STUDY_FILE, STUDY_FILE, faults)
    settings = check_settings(document, faults) if document else None
    files = _files(document)
    rubric_document = _read_document(folder / files.rubric, files.rubric, faults)
    rubric = check_rubric(rubric_document, faults) if rubric_document else None
    if document and rubric_document:
        remarks = [remark.name for _, remark in rubric_document.entries("remark", Remark)]
        check_rater_columns(document, remarks, faults)
    if document:
        check_guidance(document, rubric, faults)
    bank = _read_bank(folder, files, faults)
    if document:
        _check_design(document, bank, faults)
        check_criteria(document, folder, rubric, bank.units if bank.whole else (), faults)
        check_judge(document, faults)
    material = None
    if document and rubric:
        questions = bank.questions if bank.whole else None
        material = check_certification(folder, document, rubric, questions, faults)
        check_gap(document, material, len(bank.units), faults)
    if settings and rubric and not any(fault.severity == "error" for fault in faults):
        _check_formula(files.rubric, rubric, settings, faults)
    return _finished(settings, rubric, bank, material, faults), list(faults)


def _files(document: Document | None) -> Files:
    """Return where the other files lie; the usual names when `[files]` has faults."""
    files = document.section("files", Files) if document else None
    return files if files and all(files.model_dump().values()) else Files()


def _check_formula(name: str, rubric: Rubric, settings: StudyFile, faults: Faults) -> None:
    length = check_formula_length(rubric, pairs=settings.design.layout == "pairs")
    if length > MAX_FORMULA_CHARACTERS:
        faults.error(
            name,
            f"the Check formula of a row would have {length:,} characters; Excel takes {MAX_FORMULA_CHARACTERS:,}. "
            "Shorten messages, or take out rules or tags",
        )


def _finished(
    settings: StudyFile | None,
    rubric: Rubric | None,
    bank: _Bank,
    material: CertificationMaterial | None,
    faults: Faults,
) -> Study | None:
    if settings is None or rubric is None or any(fault.severity == "error" for fault in faults):
        return None
    return Study(settings, rubric, bank.units, bank.references, material)


def _read_document(path: Path, name: str, faults: Faults) -> Document | None:
    data = read_toml(path, name, faults)
    return None if data is None else Document(name, data)


@dataclass(frozen=True)
class _Bank:
    """Questions, figures and responses as far as they could be read; `whole` when all could be."""

    responses_name: str
    questions: config_bank.Questions
    figures: Sequence[str]
    responses: config_bank.Responses
    references: Mapping[str, str]
    whole: bool

    @property
    def units(self) -> tuple[Unit, ...]:
        """The units in bank order."""
        return config_bank.build_units(self.questions, self.figures, self.responses, self.references)


def _read_bank(folder: Path, files: Files, faults: Faults) -> _Bank:
    asked = read_table(
        folder / files.questions, files.questions, config_bank.REQUIRED, config_bank.OPTIONAL, faults
    )
    name = _responses_name(folder, files.responses)
    answered = read_table(folder / name, name, config_responses.REQUIRED, config_responses.OPTIONAL, faults)
    references = config_bank.read_references(folder / files.reference, files.reference, faults)
    questions = config_bank.read_questions(asked, faults) if asked else {}
    figures = config_bank.find_figures(questions, answered, references)
    responses: config_bank.Responses = {}
    if answered:
        responses = config_responses.read_responses(answered, questions if asked else None, figures, faults)
    if asked and answered:
        config_bank.check_figures(questions, figures, faults)
        config_bank.check_references(questions, figures, references, files.reference, faults)
        elsewhere = config_bank.find_figures(questions, None, references)
        config_responses.warn_of_lone_figures(answered, elsewhere, faults)
        config_bank.warn_of_missing(name, questions, figures, responses, faults)
    return _Bank(name, questions, figures, responses, references, bool(asked and answered))


def _responses_name(folder: Path, name: str) -> str:
    """Return the responses file, which may be JSON lines under the CSV file's name."""
    sibling = f"{name.removesuffix('.csv')}.jsonl"
    missing = name.endswith(".csv") and not os.path.lexists(folder / name)
    return sibling if missing and os.path.isfile(folder / sibling) else name  # noqa: PTH113 - swallows odd names


def _check_design(document: Document, bank: _Bank, faults: Faults) -> None:
    """Check what the design wants against the units there are."""
    design = document.section("design", Design)
    if design is None or not bank.whole:
        return
    if design.layout == "pairs":
        config_bank.check_pairs(bank.responses_name, bank.questions, bank.figures, bank.responses, faults)
    where = document.place(("design", "calibration_units"))
    units, wanted = bank.units, design.calibration_units
    marked = sum(unit.calibration for unit in units)
    if units and marked == len(units):
        faults.warn(bank.responses_name, "marks every response calibration: none is left for production")
    if wanted > len(units):
        faults.error(where, f"found {wanted} but there are {len(units)} units; lower it")
    elif wanted and marked:
        faults.warn(where, f"is not used: {marked} responses are marked calibration in {bank.responses_name}")
    elif wanted and wanted == len(units):
        faults.warn(where, f"takes all {wanted} units: none is left for production; lower it")
