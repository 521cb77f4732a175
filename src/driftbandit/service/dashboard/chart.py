"""Charts in SVG: a plot with its axes, and what is drawn into it. Colours are classes, which the style sheet sets."""

import functools
import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from driftbandit.service.dashboard.markup import Markup, tag
from driftbandit.service.dashboard.wording import tick_time

Points = Sequence[tuple[float, float]]
STEPS = (60.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 14400.0, 28800.0, 86400.0, 172800.0)
"""Between times of an axis, in seconds."""


class Plot:
    """A rectangle with two scales, of `width` to `height` in units of its own; the page says how large a unit is.

    Parameters:
        begin, end: of the horizontal axis.
        low, high: of the vertical axis.
    """

    LEFT, RIGHT, TOP, BOTTOM = 46.0, 14.0, 10.0, 26.0

    def __init__(
        self, width: float, height: float, horizontal: tuple[float, float], vertical: tuple[float, float]
    ) -> None:
        self.width, self.height = width, height
        (self.begin, self.end), (self.low, self.high) = horizontal, vertical
        self._across = (width - self.LEFT - self.RIGHT) / (self.end - self.begin)
        self._up = (height - self.TOP - self.BOTTOM) / (self.high - self.low)
        self.parts: list[Markup] = []

    def x(self, value: float) -> float:
        """Where a value of the horizontal axis is."""
        return self.LEFT + (value - self.begin) * self._across

    def y(self, value: float) -> float:
        """Where a value of the vertical axis is; what lies outside is drawn at the edge."""
        return self.height - self.BOTTOM - (min(max(value, self.low), self.high) - self.low) * self._up

    def _path(self, points: Points) -> str:
        """From the first point on by differences, in tenths: half as long as it would be otherwise."""
        places = [(round(10.0 * self.x(x)), round(10.0 * self.y(y))) for x, y in points]
        steps = [f"{tenths(c - a)} {tenths(d - b)}" for (a, b), (c, d) in pairwise(places)]
        (x, y), line = places[0], "l" + " ".join(steps) if steps else ""
        return f"{tenths(x)} {tenths(y)}{line}"

    # What is drawn

    def _within(self, points: Points) -> Points:
        """Those that are not before the axis."""
        return [point for point in points if point[0] >= self.begin]

    def area(self, upper: Points, lower: Points, title: str, kind: str) -> None:
        """What is between two lines."""
        for top, bottom in zip(runs(self._within(upper)), runs(self._within(lower)), strict=True):
            around = [*top, *bottom[::-1]]
            self.parts.append(tag("path", tag("title", title), d=f"M{self._path(around)}Z", class_=kind))

    def line(self, points: Points, title: str, kind: str) -> None:
        """A line, with gaps where values are missing; a point that stands alone is a dot."""
        path = self._line(points)
        if path:
            self.parts.append(tag("path", tag("title", title), d=path, class_=f"line {kind}"))

    def _line(self, points: Points) -> str:
        found = runs(self._within(points))
        return "".join(f"M{self._path(run)}" + ("h.01" if len(run) == 1 else "") for run in found)

    def defined(self, points: Points, id: str) -> Markup:
        """A line that is drawn in several plots of the same scales, where they ask for it by its id."""
        return tag("path", d=self._line(points) or None, id=id)

    def again(self, id: str, title: str, kind: str) -> None:
        """That line."""
        self.parts.append(tag("use", tag("title", title), href=f"#{id}", class_=f"line {kind}"))

    def dots(self, points: Points, title: str, kind: str) -> None:
        """Points that no line joins."""
        path = "".join(f"M{self.x(x):.1f} {self.y(y):.1f}h.01" for x, y in self._within(points) if math.isfinite(y))
        if path:
            self.parts.append(tag("path", tag("title", title), d=path, class_=f"dots {kind}"))

    def write(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """A text at a place, in the plot's own units."""
        self.parts.append(
            tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind or None,
                unicode_bidi="plaintext")
        )  # fmt: skip

    def shade(self, begin: float, title: str) -> None:
        """From there on to the end, things are not settled."""
        left, right = self.x(max(begin, self.begin)), self.width - self.RIGHT
        if begin < self.end:
            self.parts.append(
                tag("rect", tag("title", title), x=f"{left:.1f}", y=f"{self.TOP:g}", width=f"{right - left:.1f}",
                    height=f"{self.height - self.TOP - self.BOTTOM:g}", class_="open")
            )  # fmt: skip

    # Axes

    def vertical(self, said: Callable[[float], str], most: int = 4) -> None:
        """Lines across, with their values."""
        right = self.width - self.RIGHT
        for value in ticks(self.low, self.high, most):
            y = self.y(value)
            self.parts.append(tag("path", d=f"M{self.LEFT:g} {y:.1f}H{right:g}", class_="grid"))
            self.write(self.LEFT - 7.0, y + 4.0, said(value), "tick", "end")

    def times(self, most: int = 7) -> None:
        """Times below."""
        bottom, right = self.height - self.BOTTOM, self.width - self.RIGHT
        step = next((each for each in STEPS if (self.end - self.begin) / each <= most), STEPS[-1])
        tick = math.ceil(self.begin / step) * step
        while tick <= self.end:
            x = self.x(tick)
            self.parts.append(tag("path", d=f"M{x:.1f} {bottom:g}v4", class_="grid"))
            if self.LEFT + 6.0 < x < right - 8.0:
                self.write(x, self.height - 7.0, tick_time(tick, step), "tick", "middle")
            tick += step

    def drawn(self, title: str, kind: str = "chart") -> Markup:
        """The picture."""
        return tag(
            "svg", tag("title", title), *self.parts, viewBox=f"0 0 {self.width:g} {self.height:g}", role="img",
            class_=kind,
        )  # fmt: skip


@functools.lru_cache(4096)
def tenths(value: int) -> str:
    """So many tenths.

    >>> tenths(125), tenths(-5), tenths(20)
    ('12.5', '-.5', '2')
    """
    whole, part = divmod(abs(value), 10)
    return ("-" if value < 0 else "") + (f"{whole or ''}.{part}" if part else str(whole))


def runs(points: Points) -> list[list[tuple[float, float]]]:
    """The parts of a line between gaps.

    >>> runs([(0.0, 1.0), (1.0, math.nan), (2.0, 3.0), (3.0, 4.0)])
    [[(0.0, 1.0)], [(2.0, 3.0), (3.0, 4.0)]]
    """
    found: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if math.isfinite(y):
            found[-1].append((x, y))
        elif found[-1]:
            found.append([])
    return [run for run in found if run]


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round values between two others.

    >>> ticks(0.0, 1.0, 4), ticks(0.12, 0.37, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.15, 0.2, 0.25, 0.3, 0.35])
    """
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * round_ for round_ in (1.0, 2.0, 2.5, 5.0, 10.0) if power * round_ >= 0.8 * rough)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def around(values: Sequence[float], least: float, largest: float) -> tuple[float, float]:
    """The ends of an axis on which values have room, within what there can be.

    >>> around([0.25, 0.5], 0.0, 1.0)
    (0.225, 0.525)
    >>> around([], 0.0, 1.0), around([0.5, 0.5], 0.0, 1.0), around([1.0], 0.0, 1.0)
    ((0.0, 1.0), (0.45, 0.55), (0.9, 1.0))
    """
    found = [value for value in values if math.isfinite(value)]
    if not found:
        return (least, largest) if math.isfinite(least) and math.isfinite(largest) else (0.0, 1.0)
    low, high = min(found), max(found)
    size = max(abs(low), abs(high))
    room = 0.1 * (high - low) if high - low > 1e-6 * size else 0.1 * size or 0.1
    low, high = max(low - room, least), min(high + room, largest)
    return (low, high) if high > low else (low, low + room)
