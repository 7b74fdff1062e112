"""What all drawings share: style, labels without overlap, numbers of axes, SVG."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, SOFT, _LINE = "#1b1f24", "#57606a", "#d8dee4"
# Okabe and Ito's colours without yellow, which is too light on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
# What a page may give other colours, for example in the dark; elsewhere they are these.
_NAMED = dict(
    zip(
        (_INK, SOFT, _LINE, *COLOURS),
        ("ink", "soft", "line", "blue", "red", "green", "pink", "amber", "sky", "ink"),
        strict=True,
    )
)
_WIDTH, FONT_SIZE, _LONGEST = 5.0, 11.0, 18  # inches, points, characters of a label
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": FONT_SIZE,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _LINE,
    "grid.linewidth": 0.6,
    "text.color": _INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "lines.markersize": 5,
    "lines.linewidth": 1.7,
}


@dataclasses.dataclass(frozen=True)
class Label:
    """The position of the label of a line or point, in data coordinates."""

    x: float
    y: float
    name: str
    colour: str


def require() -> None:
    """Raise if figures cannot be drawn here."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError("the report needs matplotlib: pip install matplotlib") from None


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Draw in the style of the page, independent of the style of the program."""
    require()
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        # The browser renders the text with its own fonts.
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def rendered(
    draw: Callable[[Axes], list[Label]], lines: int, words: str, at: int, left: float = 0.65
) -> str:
    """Return a drawing as SVG, with the labels of its lines at the right.

    `left` is the space for the numbers or names at the left, in inches.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    mpl.rcParams["svg.hashsalt"] = f"lopsided {at}"  # reproducible ids
    height = max(3.4, 0.2 * (lines + 2) + 1)
    canvas = Canvas(figsize=(_WIDTH, height))
    axes = canvas.add_axes((0, 0, 1, 1))
    ends = draw(axes)
    right = (max((_length(_short(end.name)) for end in ends), default=0) + 22) / 72 / _WIDTH
    left, bottom, top = left / _WIDTH, 0.55 / height, 0.42 / height
    axes.set_position((left, bottom, 1 - left - right, 1 - bottom - top))
    _place_labels(axes, ends, height)
    text = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    canvas.savefig(text, format="svg", metadata=nothing, transparent=True)
    return _inline(text.getvalue(), words)


def _place_labels(axes: Axes, ends: Sequence[Label], height: float) -> None:
    """Write the names at the right, in the order of the lines, without overlap."""
    if not ends:
        return
    axes.set_xlim(axes.get_xlim())  # freeze the limits
    axes.set_ylim(axes.get_ylim())
    inside = axes.transData + axes.transAxes.inverted()
    box = axes.get_position()
    gap = FONT_SIZE * 1.2 / 72 / (box.height * height)
    at = [inside.transform((end.x, end.y)) for end in ends]
    places = spread_out([float(y) for _, y in at], gap)
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


def spread_out(wanted: Sequence[float], gap: float) -> list[float]:
    """Return positions from 0 to 1, at least a gap apart, close to the wanted ones."""
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
    """Return the length of a text in points, in a wide font."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return text_to_path.get_text_width_height_descent(text, FontProperties(size=FONT_SIZE), False)[
        0
    ]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def label_above(axes: Axes, label: str) -> None:
    """Write the label of the vertical axis horizontally above it."""
    axes.annotate(
        label,
        (0, 1),
        xycoords="axes fraction",
        xytext=(-40, 11),
        textcoords="offset points",
    )


def plain_numbers(axis: Any) -> None:
    """Format the numbers of the axes."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda v, _: _number(v)))


def _number(value: float) -> str:
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else f"{value:,g}".replace("e-0", "e-")


def percent_numbers(axis: Any, *, logarithmic: bool = False) -> None:
    """Format the numbers of an axis as percentages."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    if logarithmic:
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:.4g}%" if v <= 1 else ""))


def _inline(svg: str, words: str) -> str:
    """Return a drawing as an SVG element with a description, without the file header."""
    body = svg[svg.index("<svg") :]
    box = re.search(r'viewBox="[^"]*"', body)
    assert box is not None
    inner = body[body.index(">") + 1 :]
    inner = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", inner, count=1, flags=re.DOTALL)
    inner = re.sub(r'<g id="[^"]*"', "<g", inner)
    inner = inner.replace("xlink:href", "href")
    for colour, name in _NAMED.items():
        inner = inner.replace(f": {colour}", f": var(--{name},{colour})")
    return f'<svg {box[0]} role="img" aria-label="{escape(words)}">{inner}'
