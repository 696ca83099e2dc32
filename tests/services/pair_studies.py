"""A tiny study of pairs with criteria, and people who send their scores as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sheetsync.domain.validation.records import CriteriaReport
from sheetsync.services.criteria import criteria
from sheetsync.services.export_ratings import export_wide
from sheetsync.services.freeze import Frozen, freeze
from sheetsync.services.import_ratings import Imported, import_ratings
from sheetsync.services.unblind import Unblinded, unblind
from tests.builders import write_study
from tests.services.studies import NOW, Desk

HEADER = (
    "Test_Case", "Response", "Depth_Score", "Depth_Confidence", "Evidence_Use_Score", "Total_Score", "Notes",
)  # fmt: skip

RUBRIC = """\
version = "1"

[[tag]]
id = "blinding-broken"
text = "The text says how it was made."
claim = true

[[dimension]]
id = "depth"
name = "Depth"
confidence = true
levels = [{ value = 0 }, { value = 2 }, { value = 4 }, { value = 5 }]

[[dimension]]
id = "evidence_use"
name = "Evidence"
not_applicable = true
levels = [{ value = 0 }, { value = 1 }, { value = 2 }, { value = 3 }]

[[remark]]
id = "notes"
name = "Notes"

[[rule]]
id = "total"
then = { column = "Total_Score", sum_of = ["depth", "evidence_use"] }
message = "The total is the sum of the scores."
"""


def study_toml(raters: Sequence[str], criteria: str = "", design: str = "", study: str = "") -> str:
    """Return a `study.toml` of pairs with criteria."""
    blocks = "".join(f'[[raters]]\nid = "{rater}"\n' for rater in raters)
    return (
        f'[study]\nid = "pairs"\ncontact = "office@example.org"\n{study}\n{blocks}'
        f'[design]\nlayout = "pairs"\n{design}\n[criteria]\n{criteria}\n'
        '[agreement]\nbands = "acceptance"\nresamples = 200\n'
    )


def pair_files(
    n_cases: int, raters: Sequence[str] = ("ann", "ben", "cy"), **toml: str
) -> dict[str, str | None]:
    """Return the files of a study with cases T1, T2 ... in two domains."""
    cases = [f"T{number}" for number in range(1, n_cases + 1)]
    models = {"baseline": ("short", 2), "improved": ("long", 6)}
    asked = [
        (case, "", "", "", f"domain {at % 2}", f"What to do in {case}?") for at, case in enumerate(cases)
    ]
    answered = [
        (case, "", model, f"{model}-2026-05-01", f"The {how} answer to {case}." + " And more." * at)
        for at, case in enumerate(cases)
        for model, (how, _) in models.items()
    ]
    internal = [(case, "", model, total) for case in cases for model, (_, total) in models.items()]
    return {
        "reference/Macrina.md": None,
        "study.toml": study_toml(raters, **toml),
        "rubric.toml": RUBRIC,
        "questions.csv": csv_text([("question_id", "figure", "tier", "type", "domain", "text"), *asked]),
        "responses.csv": csv_text([("question_id", "figure", "model", "version", "response"), *answered]),
        "internal.csv": csv_text([("question_id", "figure", "model", "total"), *internal]),
    }


def csv_text(rows: Sequence[Sequence[object]]) -> str:
    """Return rows as CSV."""
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows(rows)
    return target.getvalue()


Score = Callable[[str, str], Mapping[str, object]]
"""(question id, model) -> cells of the row by header."""


@dataclass
class PairDesk(Desk):
    """A study of pairs whose raters send files."""

    def sides(self, rater: str) -> dict[tuple[str, str], tuple[str, str]]:
        """Return (question id, model) of every (case number, side) as the rater sees them."""
        with self.session() as session:
            units = {unit.code: (unit.question_id, unit.model) for unit in session.archive.units()}
            sheets = session.sheets()
            records = [record for record in session.workbooks() if record.rater == rater]
            return {
                (row.case, row.side): units[row.code] for each in records for row in sheets.sheet(each).rows
            }

    def submission(self, rater: str, score: Score, header: Sequence[str] = HEADER) -> str:
        """Return a file with a row for every response that `score` says something of."""
        rows: list[list[object]] = [list(header)]
        for (case, side), (question, model) in sorted(self.sides(rater).items()):
            cells = score(question, model)
            if cells:
                row = {"Test_Case": case, "Response": side, **cells}
                rows.append([row.get(name, "") for name in header])
        return csv_text(rows)

    def send(
        self,
        rater: str,
        text: str | bytes,
        name: str = "scores.csv",
        now: str = NOW,
        *,
        dry_run: bool = False,
    ) -> Imported:
        """Import a file."""
        path = self.root.parent / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with self.session() as session:
            return import_ratings(session, path, rater, now, dry_run=dry_run)

    def export(self, rater: str) -> str:
        """Return the ratings of a rater in the wide format."""
        with self.session() as session:
            text = export_wide(session, Path("-"), rater).to_stdout
        assert text is not None
        return text

    def freeze(self, now: str = NOW) -> Frozen:
        with self.session() as session:
            return freeze(session, now)

    def criteria(self) -> CriteriaReport:
        with self.session() as session:
            return criteria(session)

    def unblind(self, now: str = NOW, *, confirmed: bool = True) -> Unblinded:
        with self.session() as session:
            return unblind(session, now, lambda _: confirmed)


def scores(depth: object, evidence: object, **more: object) -> dict[str, object]:
    """Return the cells of a row; the total is their sum where both are numbers."""
    numbers = [each for each in (depth, evidence) if isinstance(each, int)]
    total = sum(numbers) if len(numbers) == 2 else ""
    sure = "High" if depth != "" else ""
    return {
        "Depth_Score": depth, "Depth_Confidence": sure, "Evidence_Use_Score": evidence, "Total_Score": total, **more,
    }  # fmt: skip


def pair_desk(
    folder: Path, n_cases: int = 3, files: Mapping[str, str | None] | None = None, **toml: str
) -> PairDesk:
    """Return a provisioned study of pairs in `folder/study`."""
    folder = folder / "study"
    desk = PairDesk(write_study(folder, {**pair_files(n_cases, **toml), **(files or {})}))
    desk.provision()
    return desk
