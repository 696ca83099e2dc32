"""What the commands of a certification print."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sheetsync.cli.tables import print_lines, print_table

if TYPE_CHECKING:
    from sheetsync.services.certify_prepare import Prepared
    from sheetsync.services.judged import Judged

_PARTS = {
    "consistency": "1  the same responses twice",
    "anchors": "2  anchors",
    "discrimination": "3  adversarial pairs",
    "gates": "4  gates",
}


def show_prepared(result: Prepared) -> None:
    """Say what there is to judge, and where it is."""
    print_lines(
        f"Run {result.run} {'is prepared' if result.new else 'was prepared already and waits'}: {result.cases} cases.",
    )
    print_table(
        "", (("Part", "left"), ("Cases", "right")), [(_PARTS[name], n) for name, n in result.parts.items()]
    )
    print_lines(
        f"Seed {result.seed}; between two looks at one response lie at least {result.gap} cases "
        f"(asked for: {result.minimum_gap}).",
        *([f"{result.judged} cases are judged already; `certify run` goes on."] if result.judged else []),
        *result.files,
    )


def show_judged(result: Judged) -> None:
    """Say how many cases are judged, and what became of the others."""
    print_lines(f"Run {result.run}, judge {result.judge}: {result.now} verdicts came in now.")
    states = [(state, count) for state, count in sorted(result.states.items())]
    print_table("", (("State", "left"), ("Cases", "right")), states)
    print_lines(*(f"  {problem}" for problem in result.problems))
    if result.is_complete:
        print_lines(f"All {result.cases} cases are judged.")


def tell_unjudged(result: Judged) -> int:
    """Say on stderr what is left to be judged; return the exit code."""
    if result.is_complete:
        return 0
    left = sum(result.states.get(state, 0) for state in ("missing", "timeout"))
    click.echo(
        f"{left} of {result.cases} cases have no word from the judge; run the command again.", err=True
    )
    return 3
