"""The figures of a report, as SVG."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics import Counts
from .content import PRICES, Content, LearnerReport, Line, Sweep, cheapest, money, trivial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours without yellow, which is too light on white. There are other numbers of
# markers and dashes, so lines of the same colour differ in both.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = "osD^vPX*"
_DASHES = ("-", "--", "-.", ":")
_INK, _SOFT, _LINE = "#1b1f24", "#57606a", "#d8dee4"
_WIDTH, _SIZE, _LONGEST = 5.0, 11.0, 18  # inches, points, characters of a label
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": _SIZE,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _LINE,
    "grid.linewidth": 0.6,
    "text.color": _INK,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "lines.markersize": 5,
    "lines.linewidth": 1.7,
}


@dataclasses.dataclass(frozen=True)
class Figure:
    """One figure with what it shows in words."""

    title: str
    caption: str
    svg: str


def require() -> None:
    """Raise if figures cannot be drawn here."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError("the report needs matplotlib: pip install matplotlib") from None


def figures(content: Content) -> list[Figure]:
    """Return the figures there is something to show in."""
    found = []
    with _styled():
        for at, (title, caption, draw) in enumerate(_all(content)):
            words = f"{title}. {caption}"
            found.append(Figure(title, caption, _drawn(draw, len(content.learners), words, at)))
    return found


def plot(
    title: str,
    caption: str,
    lines: Mapping[str, Line],
    *,
    x: str,
    y: str,
    percent: bool = False,
    at: int = 0,
) -> Figure:
    """Return a figure of lines, each with its values, means and deviations.

    Values that are words are drawn side by side. `at` tells the figures of a page apart.
    """
    words = next(
        (list(map(str, xs)) for xs, _, _ in lines.values() if isinstance(xs[0], str)), None
    )

    def draw(axes: Axes) -> list[_End]:
        ends = []
        for k, (name, (xs, means, spreads)) in enumerate(lines.items()):
            places = xs if words is None else [float(words.index(str(v))) for v in xs]
            end = _band(axes, k, name, places, means, spreads)
            ends += [end] if end else []
        if words is not None:
            axes.set_xticks(range(len(words)), words)
        else:
            values = {float(v) for xs, _, _ in lines.values() for v in xs}
            if 0 < 100 * min(values) <= max(values):
                axes.set_xscale("log")
            _plain(axes.xaxis)
        axes.set_xlabel(x)
        (_percent if percent else _plain)(axes.yaxis)
        _above(axes, y)
        return ends

    with _styled():
        return Figure(title, caption, _drawn(draw, len(lines), f"{title}. {caption}", at))


@contextlib.contextmanager
def _styled() -> Iterator[None]:
    """Draw in the style of the page, whatever that of the program is."""
    require()
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        # The browser draws the text, with fonts of its own.
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def _all(content: Content) -> Iterator[tuple[str, str, Callable[[Axes], list[_End]]]]:
    learners = content.learners
    if any(len(x.curve.events) > 1 and not math.isnan(x.curve.sum[-1]) for x in learners):
        even = content.weight == 0.5
        name = "balanced accuracy" if even else "weighted sum"
        what = (
            "Mean of sensitivity and specificity"
            if even
            else f"{content.weight:g} sensitivity + {1 - content.weight:g} specificity"
        )
        yield (
            f"{name.capitalize()} over the stream",
            f"{what} over all events up to each point, each event judged before it was learned."
            f"{content.passes}",
            lambda axes: _lines(axes, content, "sum", name, percent=True),
        )
    if any(len(x.curve.events) > 1 for x in learners):
        yield (
            "Cost so far",
            f"Price of all mistakes up to each point, at {money(content.fn, content.unit)} a miss "
            f"and {money(content.fp, content.unit)} a false alarm.{content.passes}",
            lambda axes: _lines(axes, content, "cost", f"cost {content.unit}".strip()),
        )
    whole = [x for x in learners if x.counts.positives and x.counts.negatives]
    if len(whole) > 1:
        spread = any(x.spread for x in whole)
        yield (
            "Sensitivity against specificity",
            "Share of the positives found against share of the others let pass; up and to the "
            "right is better." + (" Bars are ± one standard deviation." if spread else ""),
            lambda axes: _trade(axes, whole),
        )
    if whole:
        yield (
            "Cost as the price of a miss varies",
            _who_is_cheapest(whole),
            lambda axes: _prices(axes, whole, content),
        )
    for sweep in content.sweeps:
        yield (
            f"{_capital(content.metric)} against {sweep.parameter}",
            _of_sweep(sweep),
            lambda axes, sweep=sweep: _sweep(axes, sweep, content),  # type: ignore[misc]
        )
    if any(_saves_labels(x) for x in learners):
        yield (
            "Labels used",
            "Labels asked for up to each point; the grey line would be every label.",
            lambda axes: _labels(axes, content),
        )


def _of_sweep(sweep: Sweep) -> str:
    several = any(any(spreads) for _, _, spreads in sweep.lines.values())
    text = "Mean over the runs at each value tried" if several else "At each value tried"
    text += ", with the best of the other parameters" if sweep.others else ""
    return text + ("; bands are ± one standard deviation." if several else ".")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _saves_labels(learner: LearnerReport) -> bool:
    curve = learner.curve
    return len(curve.events) > 1 and curve.queries[-1] < curve.events[-1]


# One drawing each --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _End:
    """Where the label of a line or point belongs, in data coordinates."""

    x: float
    y: float
    name: str
    colour: str


def _look(at: int) -> dict[str, Any]:
    return {
        "color": _COLOURS[at % len(_COLOURS)],
        "marker": _MARKERS[at % len(_MARKERS)],
        "linestyle": _DASHES[at % len(_DASHES)],
    }


def _line(axes: Axes, at: int, name: str, xs: Sequence[float], ys: Sequence[float]) -> _End | None:
    """Draw a line with a few markers; return where its label belongs."""
    marks = sorted({round(k) for k in np.linspace(0, len(xs) - 1, 6)})
    axes.plot(xs, ys, **_look(at), markevery=marks, clip_on=False)
    if not ys or math.isnan(ys[-1]):
        return None
    return _End(xs[-1], ys[-1], name, _look(at)["color"])


def _lines(
    axes: Axes, content: Content, what: str, label: str, percent: bool = False
) -> list[_End]:
    ends = [
        _line(axes, at, x.name, x.curve.events, getattr(x.curve, what))
        for at, x in enumerate(content.learners)
        if x.curve.events
    ]
    axes.set_xlabel("events")
    _above(axes, label)
    _plain(axes.xaxis)
    if percent:
        _percent(axes.yaxis)
    else:
        _plain(axes.yaxis)
        axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    return [end for end in ends if end]


def _trade(axes: Axes, learners: Sequence[LearnerReport]) -> list[_End]:
    ends = []
    for at, x in enumerate(learners):
        look = {**_look(at), "linestyle": "none"}
        xs, ys = x.counts.specificity, x.counts.sensitivity
        axes.errorbar(
            xs,
            ys,
            xerr=x.spread.get("specificity"),
            yerr=x.spread.get("sensitivity"),
            markersize=8,
            capsize=3,
            elinewidth=1.2,
            **look,
        )
        ends.append(_End(xs, ys, x.name, look["color"]))
    axes.set_xlabel("specificity")
    _above(axes, "sensitivity")
    axes.margins(0.12)
    _percent(axes.xaxis)
    _percent(axes.yaxis)
    return ends


def _prices(axes: Axes, learners: Sequence[LearnerReport], content: Content) -> list[_End]:
    prices = np.geomspace(*PRICES, 61)
    ends = []
    for name, counts in trivial(learners[0].counts).items():
        costs = _per_thousand(counts, prices)
        axes.plot(prices, costs, color=_SOFT, linewidth=1, linestyle=(0, (1, 2)))
        ends.append(_End(prices[-1], costs[-1], name, _SOFT))
    for at, x in enumerate(learners):
        end = _line(axes, at, x.name, prices.tolist(), _per_thousand(x.counts, prices))
        ends += [end] if end else []
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*PRICES)
    axes.set_xlabel("price of a miss, in false alarms")
    _above(axes, "cost per 1,000 events, in false alarms")
    _plain(axes.xaxis)
    _plain(axes.yaxis)
    if content.fp and PRICES[0] < content.fn / content.fp < PRICES[1]:
        axes.axvline(content.fn / content.fp, color=_SOFT, linewidth=1)
        axes.text(
            content.fn / content.fp * 1.08,
            0.02,
            "price given",
            transform=axes.get_xaxis_transform(),
            color=_SOFT,
            size=0.9 * _SIZE,
        )
    return ends


def _per_thousand(counts: Counts, prices: Any) -> list[float]:
    costs = [counts.cost_per_thousand(price, 1) for price in prices]
    # A perfect learner has no place on a logarithmic axis.
    return [cost or math.nan for cost in costs]


def _who_is_cheapest(learners: Sequence[LearnerReport]) -> str:
    lines = {x.name: x.counts for x in learners}
    steps = cheapest({**lines, **trivial(learners[0].counts)})
    if len(steps) == 1:
        return (
            "With the mistakes that were made, whatever a miss costs from 1 to 1,000 false alarms, "
            f"{steps[0][0]} is cheapest."
        )
    *first, last = steps
    until = ", ".join(f"{name} up to {price:,.3g}" for name, price in first)
    return (
        "Cheapest with the mistakes that were made, by the price of a miss in false alarms: "
        f"{until}, {last[0]} above."
    )


def _sweep(axes: Axes, sweep: Sweep, content: Content) -> list[_End]:
    ends = []
    names = [x.name for x in content.learners]
    for name, line in sweep.lines.items():
        end = _band(axes, names.index(name) if name in names else len(names), name, *line)
        ends += [end] if end else []
    if min(value for xs, _, _ in sweep.lines.values() for value in xs) > 0:
        axes.set_xscale("log")
    _plain(axes.xaxis)
    axes.set_xlabel(sweep.parameter)
    (_percent if content.percent else _plain)(axes.yaxis)
    _above(axes, content.metric)
    return ends


def _band(
    axes: Axes,
    at: int,
    name: str,
    xs: Sequence[float],
    means: Sequence[float],
    spreads: Sequence[float],
) -> _End | None:
    """Draw a line with its deviations around it."""
    low = [m - s for m, s in zip(means, spreads, strict=True)]
    high = [m + s for m, s in zip(means, spreads, strict=True)]
    axes.fill_between(xs, low, high, color=_look(at)["color"], alpha=0.15, linewidth=0)
    return _line(axes, at, name, xs, means)


def _labels(axes: Axes, content: Content) -> list[_End]:
    last = max(x.curve.events[-1] for x in content.learners if x.curve.events)
    axes.plot([0, last], [0, last], color=_SOFT, linewidth=1, linestyle=(0, (1, 2)))
    ends = _lines(axes, content, "queries", "labels used")
    return [*ends, _End(last, last, "every label", _SOFT)]


# What they share ---------------------------------------------------------------------------------


def _drawn(draw: Callable[[Axes], list[_End]], lines: int, words: str, at: int) -> str:
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    mpl.rcParams["svg.hashsalt"] = f"lopsided {at}"  # the same names for the same figure
    height = max(3.4, 0.2 * (lines + 2) + 1)
    canvas = Canvas(figsize=(_WIDTH, height))
    axes = canvas.add_axes((0, 0, 1, 1))
    ends = draw(axes)
    right = (max((_length(_short(end.name)) for end in ends), default=0) + 22) / 72 / _WIDTH
    left, bottom, top = 0.65 / _WIDTH, 0.55 / height, 0.42 / height
    axes.set_position((left, bottom, 1 - left - right, 1 - bottom - top))
    _place_labels(axes, ends, height)
    text = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    canvas.savefig(text, format="svg", metadata=nothing)
    return _inline(text.getvalue(), words)


def _place_labels(axes: Axes, ends: Sequence[_End], height: float) -> None:
    """Write the names at the right, in the order of the lines, without overlap."""
    if not ends:
        return
    axes.set_xlim(axes.get_xlim())  # from here on they stay
    axes.set_ylim(axes.get_ylim())
    inside = axes.transData + axes.transAxes.inverted()
    box = axes.get_position()
    gap = _SIZE * 1.2 / 72 / (box.height * height)
    at = [inside.transform((end.x, end.y)) for end in ends]
    places = _spread([float(y) for _, y in at], gap)
    wide = 72 * box.width * _WIDTH  # points
    for end, (x, y), place in zip(ends, at, places, strict=True):
        axes.plot(
            [x, 1 + 12 / wide],
            [y, place],
            transform=axes.transAxes,
            color=end.colour,
            linewidth=0.7,
            clip_on=False,
            zorder=1,
        )
        axes.text(
            1 + 15 / wide,
            place,
            _short(end.name),
            transform=axes.transAxes,
            va="center_baseline",
        )


def _spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Return places at least a gap apart and within 0 to 1, near the wanted ones."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    places = [min(max(wanted[k], 0.0), 1.0) for k in order]
    for _ in range(100):  # push neighbours apart, half each
        for k in range(len(places) - 1):
            short = gap - (places[k + 1] - places[k])
            if short > 1e-9:
                places[k] -= short / 2
                places[k + 1] += short / 2
        low, high = max(0.0, -places[0]), max(0.0, places[-1] - 1)
        places[0] += low
        places[-1] -= high
    found = [0.0] * len(wanted)
    for k, place in zip(order, places, strict=True):
        found[k] = place
    return found


def _length(text: str) -> float:
    """Return the length of a text in points, in a font that is wider than most."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return text_to_path.get_text_width_height_descent(text, FontProperties(size=_SIZE), False)[0]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _above(axes: Axes, label: str) -> None:
    """Write what the vertical axis is above it, where it can be read without turning the head."""
    axes.annotate(
        label,
        (0, 1),
        xycoords="axes fraction",
        xytext=(-40, 11),
        textcoords="offset points",
    )


def _plain(axis: Any) -> None:
    """Write numbers as people do."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda v, _: _number(v)))


def _number(value: float) -> str:
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else f"{value:,g}".replace("e-0", "e-")


def _percent(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:.4g}%" if v <= 1 else ""))


def _inline(svg: str, words: str) -> str:
    """Return a drawing as part of a page: with words, without what belongs to a file."""
    body = svg[svg.index("<svg") :]
    box = re.search(r'viewBox="[^"]*"', body)
    assert box is not None
    inner = body[body.index(">") + 1 :]
    inner = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", inner, count=1, flags=re.DOTALL)
    inner = re.sub(r'<g id="[^"]*"', "<g", inner)
    inner = inner.replace("xlink:href", "href")
    return f'<svg {box[0]} role="img" aria-label="{escape(words)}">{inner}'
