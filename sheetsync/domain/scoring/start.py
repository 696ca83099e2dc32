"""`Start here`: what a rater does in which order, and how far they are."""

from __future__ import annotations

from sheetsync.domain.protocols import BLINDING_TAG, Minutes
from sheetsync.domain.scoring.columns import CHECK_COLUMN, SCORING_TAB, scoring_columns
from sheetsync.domain.scoring.rules import DONE
from sheetsync.domain.scoring.sheet import (
    CHECKLIST_TAB,
    HELPER_TAB,
    REFERENCE_TAB,
    REMINDER_EVERY,
    RUBRIC_TAB,
    SELF_CHECK_TAB,
    START_TAB,
    ScoringSheet,
    table_rows,
)
from sheetsync.domain.study import NOT_APPLICABLE
from sheetsync.domain.text_page import page_of_text
from sheetsync.domain.workbook import (
    CellSpec,
    Formula,
    Link,
    Style,
    TabSpec,
    column_letter,
)

Lines = list[tuple[CellSpec, Style]]


def start_tab(sheet: ScoringSheet) -> TabSpec:
    """Return the first tab: progress, steps, what may be changed, where to go."""
    lines: Lines = [
        (sheet.title, "title"),
        (f"For {sheet.rater_name or sheet.rater} · {_batch_words(sheet)}", "note"),
    ]
    if sheet.guidance.version:
        lines.append((f"Instructions: {sheet.guidance.version}", "note"))
    lines += [("", "text"), ("Your progress", "heading"), *_progress(sheet)]
    lines += _section("How to score", [f"{n}. {step}" for n, step in enumerate(_steps(sheet), 1)])
    if sheet.pairs:
        lines += _section("What to watch for", _PITFALLS)
        lines += _section("Keeping it blind", _blinding(sheet))
    lines += _section("What you may change", _LIBERTIES)
    lines += [("", "text"), ("Go to", "heading"), *((link, "link") for link in _links(sheet))]
    if sheet.guidance.resources:
        lines += _section("To read", [f"{each.title}: {each.address}" for each in sheet.guidance.resources])
    if sheet.contact:
        lines += _section("Questions?", [f"Write to {sheet.contact}."])
    return page_of_text(START_TAB, lines)


def _section(heading: str, texts: list[str] | tuple[str, ...]) -> Lines:
    return [("", "text"), (heading, "heading"), *((text, "text") for text in texts)]


def _batch_words(sheet: ScoringSheet) -> str:
    count = f"{len(sheet.rows):,} response{'s' if len(sheet.rows) != 1 else ''}"
    words = {
        "calibration": f"practice round, {count}; these scores are for comparing notes and enter no result",
        "production": count,
        "rescore": f"{count} to score again; the new scores replace your earlier ones",
    }
    return words[sheet.kind]


# --- progress ---


def _progress(sheet: ScoringSheet) -> Lines:
    columns = scoring_columns(sheet.rubric, pairs=sheet.pairs)
    check = column_letter(len(columns) - 1)
    total = len(sheet.rows)
    done = f'COUNTIF({SCORING_TAB}!${check}$2:${check}${len(table_rows(sheet)) + 1},"{DONE}*")'
    lines: Lines = [(Formula(f'{done}&" of {total:,} complete"', f"0 of {total:,} complete"), "text")]
    time = sheet.guidance.time
    if sheet.kind != "production":
        return lines
    if time.score is not None and total:
        lines.append((_time_used(time.score, done, total), "text"))
    parts = (
        ("to get familiar", time.familiarise),
        ("to score", time.score),
        ("to check yourself", time.self_check),
    )
    told = [(words, minutes) for words, minutes in parts if minutes is not None]
    if told:
        text = ", ".join(f"{minutes_in_words(minutes)} {words}" for words, minutes in told)
        together = (sum(minutes[0] for _, minutes in told), sum(minutes[1] for _, minutes in told))
        whole = f"; together about {_whole_hours(together)}" if len(told) > 1 else ""
        lines.append((f"Time to expect: {text}{whole}. Take breaks; nothing runs out.", "text"))
    return lines


def _time_used(minutes: Minutes, done: str, total: int) -> Formula:
    """Return how much of the scoring time the complete rows stand for, and what is left."""
    low, high = minutes

    def between(rows: str) -> str:
        return f'ROUND({rows}*{low}/{total},0)&" to "&ROUND({rows}*{high}/{total},0)&" minutes"'

    left = f"({total}-{done})"
    text = f'"By the time budget: "&{between(done)}&" of scoring done, "&{between(left)}&" to go"'
    shown = f"By the time budget: 0 to 0 minutes of scoring done, {minutes[0]} to {minutes[1]} minutes to go"
    return Formula(text, shown)


def minutes_in_words(minutes: Minutes) -> str:
    """Return a span of time; in hours where both ends are long and round.

    >>> minutes_in_words((30, 45)), minutes_in_words((300, 420)), minutes_in_words((20, 20))
    ('30 to 45 minutes', '5 to 7 hours', '20 minutes')
    """
    if minutes[0] >= 120 and not minutes[0] % 30 and not minutes[1] % 30:
        ends, unit = [f"{each / 60:g}" for each in minutes], "hours"
    else:
        ends, unit = [str(each) for each in minutes], "minutes"
    return f"{' to '.join(dict.fromkeys(ends))} {unit}"


def _whole_hours(minutes: tuple[int, int]) -> str:
    if minutes[0] < 120:
        return minutes_in_words(minutes)
    return minutes_in_words((round(minutes[0] / 60) * 60, round(minutes[1] / 60) * 60))


# --- steps ---


def _steps(sheet: ScoringSheet) -> list[str]:
    steps = [
        "Read the Rubric tab once, from top to bottom. Point at any column header to see its text again."
    ]
    if sheet.references:
        steps.append("Read the Reference tab. Facts are judged against it, not from memory.")
    if sheet.pairs:
        steps.insert(0, f"Go through the first part of the {CHECKLIST_TAB} tab.")
        steps += [*_steps_of_a_case(sheet), *_steps_with_tags(sheet)]
    else:
        steps.append(
            "Go to the Scoring tab and work down the rows. Each row is one response to one question."
        )
        steps += _steps_with_tags(sheet, first=True)
    steps.append(
        f"The last column, {CHECK_COLUMN}, says what a row still needs. {DONE} means complete; the row turns green."
    )
    if len(table_rows(sheet)) > len(sheet.rows):
        steps.append(
            f"After every {REMINDER_EVERY} cases a yellow row asks you to read the Rubric tab again."
        )
    if sheet.has_self_check:
        steps.append(
            f"When every row is complete, go to the {SELF_CHECK_TAB} tab and look again where it says so."
        )
    steps.append(
        "Save as often as you like. Your scores are collected from this file; there is nothing to send."
    )
    return steps


def _steps_of_a_case(sheet: ScoringSheet) -> list[str]:
    names = ", ".join(dimension.name for dimension in sheet.rubric.dimensions)
    confidence = any(dimension.confidence for dimension in sheet.rubric.dimensions)
    steps = [
        "Go to the Scoring tab and work down the rows. Two rows are a case: two responses, A and B, to one question.",
        "Read the question, then response A, and take notes while you read.",
        f"Score A on every dimension ({names})"
        + (", and say beside each score how sure you are." if confidence else "."),
        "Only then read B and score it in the same way. B stays grey until A is complete.",
    ]
    if sheet.has_helper:
        steps.append(
            f"The {HELPER_TAB} tab turns counts into points: type what you counted, and read off the score."
        )
    if sheet.rubric.remarks:
        steps.append(
            f"Under {sheet.rubric.remarks[0].name} write, if you like: what decided your scores, difficult calls, "
            "where A and B differ most, anything that stood out. It helps to explain where raters differ."
        )
    return steps


def _steps_with_tags(sheet: ScoringSheet, *, first: bool = False) -> list[str]:
    """Return what is said about tags, scores and N/A; `first`: tags of the response are decided first."""
    rubric, steps = sheet.rubric, []
    tags = ", ".join(tag.id for tag in rubric.tags)
    if tags and first:
        steps.append(f"First decide on the tags of the whole response ({tags}): put x where one applies.")
    if first:
        names = ", ".join(dimension.name for dimension in rubric.dimensions)
        steps.append(f"Then choose a score for each dimension ({names}). Score each one on its own.")
    others = [tag.id for tag in rubric.tags if tag.id != BLINDING_TAG]
    if others and not first:
        steps.append(f"Put x under {', '.join(others)} where it applies to the whole response.")
    claims = [tag.id for dimension in rubric.dimensions for tag in dimension.tags if tag.claim]
    if claims:
        steps.append(
            f"For an error tag ({', '.join(claims)}) paste the claim that is wrong: the quote ticks the tag."
        )
    if any(dimension.not_applicable for dimension in rubric.dimensions):
        steps.append(
            f"{NOT_APPLICABLE} means that a dimension cannot be judged. An empty cell means: not scored yet."
        )
    return steps


_PITFALLS = (
    "One strong side must not lift the rest: decide each dimension by itself, before you look at the next.",
    "The first cases set no scale. The rubric does, so read it again every now and then.",
    "Long is not good: count the things that the rubric names, not the words around them.",
    "What comes last stays in mind best: take notes from the first line on.",
    "A response is measured by the rubric and not by its neighbour: finish A before you open B.",
    "You may know the field, or would decide otherwise: scores are for how a response reasons, not for its verdict.",
)

_BLINDING = (
    "Do not try to find out which way of working a response comes from, and do not look for signs of it.",
    "Do not compare responses of different cases to find a pattern.",
)


def _blinding(sheet: ScoringSheet) -> list[str]:
    whom = sheet.contact or "the coordinator"
    if any(tag.id == BLINDING_TAG for tag in sheet.rubric.tags):
        report = f"quote the passage in the column {BLINDING_TAG} of its row"
    else:
        report = f"tell {whom} which row it is"
    learned = f"If you happen to learn which side is which, tell {whom} when you hand in."
    return [
        *_BLINDING,
        f"If a text gives away how it was made, {report}, and score it all the same.",
        f"{learned} Your scores stay valid: knowing it helps to read the results.",
    ]


_LIBERTIES = (
    "Sort, filter, hide and resize as you please: rows are found by their code.",
    "Leave the codes, the questions, the responses and the headers as they are, and keep the file under its name.",
    "Please score alone. Do not try to find out where a response comes from.",
)


def _links(sheet: ScoringSheet) -> list[Link]:
    links = [
        Link("Scoring: the responses and your scores", SCORING_TAB),
        Link("Rubric: what every level and tag means", RUBRIC_TAB),
    ]
    if sheet.pairs:
        links.insert(
            0, Link("Checklist: what to do before the first score, and after the last", CHECKLIST_TAB)
        )
    if sheet.has_helper:
        links.append(Link("Helper: from counts to points", HELPER_TAB))
    if sheet.has_self_check:
        links.append(Link("Self-check: your scores side by side, and what to look at again", SELF_CHECK_TAB))
    if sheet.references:
        links.append(Link("Reference: the facts to score against", REFERENCE_TAB))
    return links
