"""A study whose judge is at work, in a process that a test can kill: `python -m tests.services.certifying FOLDER`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sheetsync.config import load_study
from sheetsync.domain.certification.cases import Presentation, Verdict
from sheetsync.services.certify_prepare import Prepared, prepare
from sheetsync.services.judge import judge
from sheetsync.services.judge_command import Way
from sheetsync.services.judged import Judged
from sheetsync.services.session import Session, judging_session, writing_session
from tests.certification_study import write

NOW = "2026-07-01T02:00:00Z"


@dataclass(frozen=True)
class Bench:
    """A study folder in which a judge is certified."""

    root: Path

    @contextmanager
    def session(self) -> Iterator[Session]:
        with writing_session(self.root, "test", NOW) as session:
            yield session

    def prepare(self, workbook: str = "") -> Prepared:
        with self.session() as session:
            return prepare(session, NOW, workbook=workbook)

    def judge(self, *, workbook: str = "", fresh: bool = False, grace: float = 0.3) -> Judged:
        with judging_session(self.root, NOW) as session:
            return judge(session, Way(lambda: NOW, fresh, grace=grace), workbook=workbook)

    def change(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        load_study(self.root)

    def presentation(self, run: int = 1) -> Presentation:
        with self.session() as session:
            return session.archive.certification_presentation(run)

    def verdicts(self, run: int = 1) -> dict[str, Verdict]:
        with self.session() as session:
            return {verdict.id: verdict for verdict in session.archive.certification_verdicts(run)}

    def asked(self) -> list[str]:
        """Return the cases that the judge of `certification_study.judge_script` was asked, in order."""
        path = self.root / "asked.txt"
        return path.read_text(encoding="utf-8").split() if path.exists() else []


def bench(folder: Path, files: Mapping[str, str] | None = None) -> Bench:
    """Return a study in a folder."""
    return Bench(write(folder, files))


if __name__ == "__main__":
    print(Bench(Path(sys.argv[1])).judge().now)
