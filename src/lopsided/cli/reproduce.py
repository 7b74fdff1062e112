"""lopsided reproduce."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .._atomic import write_atomically
from .._text import aligned
from ..comparison.tables import printed
from ..papers import Experiment, Result, contradictions, experiments, find, reproduce
from ..papers import text as texts
from ..papers.kept import Kept, keep, read
from .options import check_writable, quiet_option
from .output import Live, heading, print_json, print_table
from .report_file import typed
from .signals import stop_by_exception

_OF_RUNS = (
    "only",
    "quick",
    "substitute",
    "whole_grid",
    "runs",
    "jobs",
    "resume",
    "report",
    "keep",
    "table",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """What the command line says."""

    names: tuple[str, ...]
    everything: bool
    data: tuple[str, ...]
    only: tuple[str, ...]
    quick: bool
    substitute: bool
    whole_grid: bool
    runs: int | None
    jobs: int | None
    resume: str | None
    check: bool
    check_data: str | None
    report: str | None
    keep: str | None
    kept: str | None
    pages: str | None
    table: str | None
    as_json: bool
    quiet: bool


@click.command(
    epilog="""\b
Examples:
  lopsided reproduce
  lopsided reproduce csogd-table-2 --data ~/data --only german
  lopsided reproduce --all --quick --data ~/data --report reproduce.html
  lopsided reproduce --all --check-data ~/data
  lopsided reproduce --kept docs/data/papers --report papers.html
"""
)
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All tables and figures.")
@click.option("--data", "-d", multiple=True, help="A folder with data sets. Repeatable.")
@click.option("--only", multiple=True, metavar="SET", help="Only this data set. Repeatable.")
@click.option("--quick", is_flag=True, help="3 permutations, or one repeat of the folds.")
@click.option(
    "--runs",
    type=click.IntRange(2),
    help="Limit on permutations, or draws of folds. [those of the paper]",
)
@click.option("--substitute", is_flag=True, help="Use a stand-in for a data set that is absent.")
@click.option(
    "--whole-grid", is_flag=True, help="All parameters of a paper where a part is tried by default."
)
@click.option("--jobs", "-j", type=click.IntRange(1), help="Number of threads. [all cores]")
@click.option(
    "--resume", metavar="FOLDER", help="Record finished runs here; resume if there are any."
)
@click.option("--check", is_flag=True, help="Only report contradictions among the printed figures.")
@click.option(
    "--check-data",
    metavar="FOLDER",
    help="Only say whether the data sets there are those of the papers, and what would run.",
)
@click.option("--report", help="Write one HTML page with all tables and plots.")
@click.option("--keep", metavar="FOLDER", help="Write the results to files in this folder.")
@click.option("--kept", metavar="FOLDER", help="Show results that were kept; nothing is run.")
@click.option("--pages", metavar="FOLDER", help="With --kept: write a page for each paper.")
@click.option(
    "--table",
    type=click.Choice(("text", "latex", "markdown")),
    help="How the tables are printed. [text]",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@quiet_option
def command(**given: Any) -> int:
    """Rerun tables and figures of the five papers and print their results beside ours.

    Without NAMES the tables and figures are listed, with the data that each needs.
    """
    options = ReproduceOptions(**given)
    names, everything = options.names, options.everything
    if options.table is not None and options.as_json:
        raise click.UsageError("--table and --json: leave one of the two out")
    if options.quick and options.runs is not None:
        raise click.UsageError("--quick and --runs: leave one of the two out")
    if names and everything:
        raise click.UsageError("--all: leave out the names")
    if options.kept is not None:
        _show_kept(options)
        return 0
    if options.pages is not None:
        raise click.UsageError("--pages: it needs --kept FOLDER")
    data, only, as_json = options.data, options.only, options.as_json
    if not names and not everything:
        _refuse(options, (*_OF_RUNS, "check", "check_data"))
        _list(data, as_json)
        return 0
    chosen = experiments() if everything else tuple({find(n).name: find(n) for n in names}.values())
    if only:
        _check_only(only, chosen)
        chosen = tuple(e for e in chosen if set(only) & set(e.sets))
    if options.check:
        _refuse(options, _OF_RUNS, "--check")
        _check(chosen, as_json)
        return 0
    if options.check_data is not None:
        _refuse(options, [name for name in _OF_RUNS if name != "only"], "--check-data")
        _check_data(chosen, [options.check_data, *data], only, as_json)
        return 0
    report = options.report
    check_writable(report)
    if report is not None:
        from ..report import require

        require()
    done: list[Result] = []
    live = Live(options.quiet or as_json)
    stop_by_exception()
    try:
        for experiment in chosen:
            results = reproduce(
                experiment.name,
                data=data,
                only=[s for s in only if s in experiment.sets],
                progress=live.runs,
                quick=options.quick,
                jobs=options.jobs,
                substitute=options.substitute,
                whole_grid=options.whole_grid,
                runs=options.runs,
                resume=options.resume,
            )
            live.close()
            if not as_json:
                _print(experiment, results, options.table)
            if options.keep is not None:
                changing = ("quick", "substitute", "whole_grid")
                flags = [f"--{n.replace('_', '-')}" for n in changing if getattr(options, n)]
                flags += [] if options.runs is None else [f"--runs={options.runs}"]
                keep(options.keep, results, flags=flags)
            done += results
    except KeyboardInterrupt as stop:
        live.close()
        then = "unfinished results were not kept; with --resume FOLDER it can be resumed"
        if options.resume is not None:
            then = "run the same command again to resume"
        click.echo(f"interrupted: {then}", err=True)
        return int(stop.args[0])
    finally:
        live.close()
    if as_json:
        print_json([result.to_dict() for result in done])
    elif options.table in (None, "text") and (told := texts.summary(done)):
        click.echo(told)
    if report is not None:
        _report(report, done)
    return 0


def _report(path: str, results: Sequence[Result], stored: Sequence[Kept] = ()) -> None:
    from ..papers.page import page

    html = page(results, command=typed(), with_claims=True, kept=stored)
    write_atomically(Path(path), html.encode())


def _show_kept(options: ReproduceOptions) -> None:
    """Print kept results, or write the report and the pages that are made of them."""
    _refuse(
        options, [name for name in _OF_RUNS if name not in ("only", "report", "table")], "--kept"
    )
    from ..papers.cells import with_tallies
    from ..papers.page import plots
    from ..papers.pages import PLOTS, pages

    kept = [
        own
        for own in read(options.kept or "")
        if (not options.names or own.results[0].experiment in options.names)
        and (not options.only or own.results[0].set in options.only)
    ]
    results = with_tallies([result for own in kept for result in own.results])
    if options.as_json:
        print_json([result.to_dict() for result in results])
    elif options.report is None and options.pages is None:
        for result in results:
            _print(find(result.experiment), [result], options.table)
        if options.table in (None, "text"):
            click.echo(texts.summary(results))
    if options.report is not None:
        _report(options.report, results, kept)
    if options.pages is not None:
        folder = Path(options.pages)
        (folder / PLOTS).mkdir(parents=True, exist_ok=True)
        files = pages(kept) | {f"{PLOTS}/{k}": svg for k, svg in plots(results).items()}
        for name, content in files.items():
            write_atomically(folder / name, content.encode())


def _refuse(options: ReproduceOptions, names: Sequence[str], for_what: str = "") -> None:
    """Raise if an option is given that has no effect."""
    for name in names:
        if getattr(options, name):
            why = f"{for_what} does not use it" if for_what else "name a table or figure, or --all"
            raise click.UsageError(f"--{name.replace('_', '-')}: {why}")


def _check_only(only: Sequence[str], chosen: Sequence[Experiment]) -> None:
    known = dict.fromkeys(s for e in chosen for s in e.sets)
    for name in only:
        if name not in known:
            from ..estimator.parameters import nearest

            raise click.UsageError(
                f"--only {name}: not a data set of these: {nearest(name, known)}"
            )


def _list(folders: Sequence[str], as_json: bool) -> None:
    from ..data.sets import registry
    from ..papers.sets import is_here

    here: dict[tuple[str, str], bool] = {}
    found = []
    for e in experiments():
        for part in e.parts:
            if (part.set, part.rows) not in here:
                here[part.set, part.rows] = is_here(part.set, folders, part.rows)
        found.append({part.set: here[part.set, part.rows] for part in e.parts})
    if as_json:
        print_json(
            [
                {
                    "name": e.name,
                    "paper": registry.papers()[e.paper],
                    "title": e.title,
                    "kind": e.kind,
                    "sets": own,
                }
                for e, own in zip(experiments(), found, strict=True)
            ]
        )
        return
    rows = [
        (
            e.name,
            e.title,
            ", ".join(s for s, is_there in own.items() if is_there) or "–",
            ", ".join(s for s, is_there in own.items() if not is_there) or "–",
        )
        for e, own in zip(experiments(), found, strict=True)
    ]
    print_table(rows, header=("name", "what", "data here", "data absent"))


def _check(chosen: Sequence[Experiment], as_json: bool) -> None:
    found = {e.name: contradictions(e) for e in chosen}
    if as_json:
        print_json(found)
        return
    for name, sentences in found.items():
        for sentence in sentences:
            click.echo(f"{name}: {sentence}")
    if not any(found.values()):
        click.echo("the printed figures do not contradict each other")


def _check_data(
    chosen: Sequence[Experiment], folders: Sequence[str], only: Sequence[str], as_json: bool
) -> None:
    from ..papers.data_check import check_data

    found = [own for own in check_data(chosen, folders) if not only or own.set in only]
    if as_json:
        print_json([{**dataclasses.asdict(own), "word": own.word} for own in found])
        return
    rows = [
        (
            own.set,
            own.word,
            *(
                "" if size is None else f"{size:,}"
                for size in (own.rows, own.features, own.positives)
            ),
            ", ".join(own.runs) or "–",
        )
        for own in found
    ]
    print_table(rows, header=("data", "", "rows", "features", "positives", "would run"))
    for own in found:
        for text in (*own.differences, *own.notes):
            click.echo(f"{own.set}: {text}")


def _print(experiment: Experiment, results: Sequence[Result], form: str | None = None) -> None:
    for result in results:
        if form not in (None, "text"):
            click.echo(printed(texts.sheet(result, experiment.title), str(form)))
            continue
        heading(f"{result.heading}: {experiment.title}")
        for text in texts.about(result):
            click.echo(f"  {text}")
        lines: list[str] = []
        if result.lines:
            header, rows = texts.points(result)
            lines = aligned([header, *rows])
        elif result.cells:
            lines = aligned([texts.HEADER, *texts.rows(result)])
        click.echo("\n".join(lines))
        for text in texts.settings(result):
            click.echo(f"  {text}")
        click.echo()
