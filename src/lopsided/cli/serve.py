"""lopsided serve."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

import click
import msgspec

from .options import parse_label, parse_settings, settings_option
from .output import heading, print_json


@click.command(
    epilog="""\b
Examples:
  lopsided serve folder --stream payments --positive fraud --negative fine --costs 60 3 \\
    --budget 50/day
  lopsided serve folder --new-token desk --role label
  lopsided serve folder --stream payments --from events.ndjson > decisions.ndjson
  lopsided serve folder --stream payments --from-kafka localhost:9092 --topic events \
    --topic labels --decisions decisions
  lopsided serve --demo
"""
)
@click.argument("folder", required=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="0: any free one.",
)
@click.option("--stream", help="Make a stream of this name if there is none.")
@click.option("--positive", default="1", show_default=True, help="For a new stream: a label.")
@click.option("--negative", default="0", show_default=True, help="For a new stream: the other.")
@click.option("--costs", type=float, nargs=2, help="For a new stream: a miss and a false alarm.")
@click.option("--learner", "-l", help="For a new stream: name of the learner. [Recommended]")
@settings_option("For a new stream: a parameter of the learner. Repeatable.")
@click.option("--budget", help="For a new stream: labels to ask for: 1000, 5%, 20/1000 or 50/day.")
@click.option("--model", help="For a new stream: a model file to begin with.")
@click.option("--new-token", metavar="NAME", help="Make a token, print it and stop.")
@click.option("--role", type=click.Choice(("score", "label", "admin")), help="Of the new token.")
@click.option("--rate", type=click.FloatRange(0), default=0, help="Requests a second a token.")
@click.option("--body", type=click.IntRange(1), default=1 << 20, help="Largest body, in bytes.")
@click.option(
    "--snapshot-every",
    type=click.IntRange(1),
    default=50_000,
    show_default=True,
    help="Rows of the log between two snapshots of the models.",
)
@click.option("--accept-loss", is_flag=True, help="Start although the log lacks rows.")
@click.option("--log-requests", is_flag=True, help="Write a line for every request.")
@click.option("--demo", is_flag=True, help="Let made-up payments run through the service.")
@click.option("--replay", is_flag=True, help="Feed the log to the learner given, print its cost.")
@click.option("--json", "as_json", is_flag=True, help="With --replay: print JSON.")
@click.option(
    "--from",
    "lines",
    metavar="FILE",
    help="Take events and labels from a file of JSON lines, - for standard input; print a line "
    "for each and stop.",
)
@click.option("--from-kafka", metavar="BROKERS", help="Take events and labels from Kafka.")
@click.option("--topic", "topics", multiple=True, help="Of Kafka, to read. Repeatable.")
@click.option("--decisions", metavar="TOPIC", help="Of Kafka, where decisions go.")
@click.option("--ask-topic", metavar="TOPIC", help="Of Kafka, where questions go.")
@click.option("--refused", metavar="TOPIC", help="Of Kafka, where bad messages go.")
@click.option("--kafka-option", multiple=True, metavar="NAME=VALUE", help="Of librdkafka.")
@click.option("--tls", type=(str, str), metavar="CERTIFICATE KEY", help="Files for HTTPS.")
def command(folder: str | None, **options: Any) -> None:
    """Serve FOLDER: score events, ask for labels, learn from them, and lose nothing."""
    from ..service.server import Service, serve

    _check_kafka(options)
    if options["demo"]:
        return _demo(folder, options)
    if folder is None:
        raise click.UsageError("name a folder; it is made if there is none")
    if options["replay"]:
        return _replay(folder, options)
    settings = _settings(folder, options)
    if options["new_token"]:
        if options["role"] is None:
            raise click.UsageError("--new-token needs --role")
        service = Service(settings)
        click.echo(service.make_token(options["new_token"], options["role"]))
        service.folder.close()
        return None
    if options["lines"]:
        return _take_lines(settings, options["lines"])
    if options["from_kafka"]:
        return _consume(settings, options)
    return serve(settings)


def _take_lines(settings: Any, path: str) -> None:
    """Take a file of JSON lines without serving anything."""
    from ..service.lines import take_lines
    from ..service.server import Service

    if settings.stream is None:
        raise click.UsageError("--from needs --stream")
    with click.open_file(path, "rb") as file:
        service = Service(settings)
        try:
            for line in take_lines(service, settings.stream, file):
                click.echo(line)
        finally:
            service.folder.close()


_OF_KAFKA = ("topics", "decisions", "ask_topic", "refused", "kafka_option")


def _check_kafka(options: dict[str, Any]) -> None:
    """Refuse options that would be ignored."""

    def flag(name: str) -> str:
        return {"topics": "--topic", "lines": "--from"}.get(name, f"--{name.replace('_', '-')}")

    if options["from_kafka"] is None:
        for name in _OF_KAFKA:
            if options[name]:
                raise click.UsageError(f"{flag(name)} needs --from-kafka")
        return
    for name in ("demo", "replay", "new_token", "lines"):
        if options[name]:
            raise click.UsageError(f"{flag(name)} cannot be used with --from-kafka")
    for option in options["kafka_option"]:
        if not all(option.partition("=")):
            raise click.UsageError(f"--kafka-option {option}: it must be NAME=VALUE")


def _consume(settings: Any, options: dict[str, Any]) -> None:
    """Serve, and take events and labels from Kafka meanwhile."""
    from ..service.kafka import Kafka, KafkaSettings, OptionError
    from ..service.server import serve

    if settings.stream is None or not options["topics"]:
        raise click.UsageError("--from-kafka needs --stream and at least one --topic")
    given = dict(option.partition("=")[::2] for option in options["kafka_option"])
    wanted = KafkaSettings(
        brokers=options["from_kafka"],
        topics=list(options["topics"]),
        stream=settings.stream,
        decisions=options["decisions"],
        questions=options["ask_topic"],
        refused=options["refused"],
        options=given,
    )
    try:
        kafka = Kafka(wanted)
    except OptionError as error:
        raise click.UsageError(str(error)) from None

    def started(address: str, app: Any) -> None:
        app.background.append(kafka.run)
        click.echo(f"serving {settings.folder} on {address}", err=True)

    serve(settings, started)
    if kafka.error is not None:
        raise kafka.error


_OF_STREAM = {"parameters": "settings"} | {
    name: name for name in ("positive", "negative", "costs", "learner", "budget")
}


def _is_given(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.COMMANDLINE


def _settings(folder: str, options: dict[str, Any]) -> Any:
    from ..service.server import Settings
    from ..service.types import Costs, StreamConfig

    config = None
    given: tuple[str, ...] = ()
    if options["stream"] is not None:
        given = tuple(name for name, option in _OF_STREAM.items() if _is_given(option))
        costs = options["costs"] or (10.0, 1.0)
        config = StreamConfig(
            positive=parse_label(options["positive"], None),
            negative=parse_label(options["negative"], None),
            costs=Costs(*costs),
            learner=options["learner"] or "Recommended",
            parameters=dict(parse_settings(options["settings"])),
            budget=options["budget"],
        )
    certificate, key = options["tls"] or (None, None)
    return Settings(
        folder=folder,
        host=options["host"],
        port=options["port"],
        stream=options["stream"],
        config=config,
        given=given,
        model=options["model"],
        snapshot_every=options["snapshot_every"],
        accept_loss=options["accept_loss"],
        rate=options["rate"],
        body=options["body"],
        requests=options["log_requests"],
        certificate=certificate,
        key=key,
    )


def _demo(folder: str | None, options: dict[str, Any]) -> None:
    """Serve a stream of made-up payments."""
    from ..service import demo
    from ..service.server import serve

    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="lopsided-"))
        settings = _settings(folder, options)
        settings.stream, settings.config = demo.STREAM, demo.CONFIG

        def started(address: str, app: Any) -> None:
            app.background.append(demo.run)
            click.echo(f"Made-up payments run through {address}. To open:", err=True)
            click.echo(f"  {address}/                   the questions, to be answered", err=True)
            click.echo(f"  {address}/page/desk.html     costs, estimates, drift, live", err=True)
            click.echo(f"  {address}/page/model.html    models, prices, snapshots", err=True)
            click.echo(f"  {address}/docs               the calls", err=True)
            click.echo(f"  {address}/v1/{demo.STREAM}        counts, costs, budget", err=True)
            click.echo(f"  {address}/metrics            the same for Prometheus", err=True)
            click.echo("Ctrl-C ends it.", err=True)

        serve(settings, started)


def _replay(folder: str, options: dict[str, Any]) -> None:
    """Feed the log to a learner and print what was decided and what it would have cost."""
    from pathlib import Path

    from ..service.replaying import replay_log
    from ..service.storage import Storage
    from ..service.types import Costs

    storage = Storage.reading(Path(folder) / "lopsided.db")
    found = replay_log(
        storage,
        options["stream"],
        learner=options["learner"],
        parameters=parse_settings(options["settings"]) if options["settings"] else None,
        costs=Costs(*options["costs"]) if options["costs"] else None,
    )
    storage.close()
    if options["as_json"]:
        print_json(msgspec.to_builtins(found))
        return
    heading(f"{'':24}{'missed':>10}{'alarms':>10}{'cost':>14}")
    for name, account in (("as it was decided", found.decided), (found.learner, found.other)):
        click.echo(f"{name:24}{account.missed:10,.0f}{account.alarms:10,.0f}{account.cost:14,.2f}")
    click.echo(f"on {found.labels:,} labels of {found.events:,} events")
