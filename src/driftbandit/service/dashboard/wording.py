"""How times and numbers are written; times are UTC."""

import math
import time

SPACE = "\u202f"


def clock_time(seconds: float, pattern: str = "%H:%M") -> str:
    """A time of day, in UTC."""
    return time.strftime(pattern, time.gmtime(seconds))


def tick_time(seconds: float, step: float) -> str:
    """A time on an axis with so much between two.

    >>> tick_time(1_800_000_000.0, 86400.0), tick_time(1_800_000_000.0, 600.0)
    ('15 Jan', '08:00')
    """
    return clock_time(seconds, "%d %b").lstrip("0") if step >= 86400.0 else clock_time(seconds)


def day_time(seconds: float) -> str:
    """A time with its day.

    >>> day_time(1_800_000_000.0)
    '15 Jan 08:00'
    """
    return clock_time(seconds, "%d %b %H:%M").lstrip("0")


def lasting(seconds: float) -> str:
    """A length of time, with two digits that matter.

    >>> lasting(0.0042), lasting(7.25), lasting(400.0), lasting(7300.0), lasting(400_000.0)
    ('4.2 ms', '7.2 s', '6.7 min', '2.0 h', '4.6 days')
    """
    if seconds < 0.001:
        return "0 s"
    unit, name = 86400.0, "days"
    for smaller, word, most in ((0.001, "ms", 1.0), (1.0, "s", 120.0), (60.0, "min", 7200.0), (3600.0, "h", 172800.0)):
        if seconds < most:
            unit, name = smaller, word
            break
    value = seconds / unit
    return f"{value:.1f} {name}" if value < 10.0 else f"{value:.0f} {name}"


def counted(value: float) -> str:
    """A count, in groups of three with narrow spaces between them.

    >>> counted(12345.0) == f"12{SPACE}345"
    True
    """
    return f"{value:,.0f}".replace(",", SPACE)


def share(value: float) -> str:
    """A share of one.

    >>> share(0.1234), share(0.99996), share(0.0002), share(0.0)
    ('12.3%', '>99.9%', '0.02%', '0%')
    """
    if value in (0.0, 1.0):
        return f"{value:.0%}"
    if value > 0.999:
        return ">99.9%"
    return f"{value:.1%}" if value >= 0.001 else f"{value:.2%}" if value >= 0.0001 else "<0.01%"


def amount(value: float | None) -> str:
    """A reward, or a mean of some.

    >>> amount(0.12345), amount(123.4), amount(None), amount(-0.00004)
    ('0.123', '123', '–', '0.000')
    """
    if value is None or not math.isfinite(value):
        return "–"
    digits = 3 if abs(value) < 1.0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits) + 0.0:.{digits}f}"


def interval(low: float | None, high: float | None) -> str:
    """Two ends.

    >>> interval(0.1, 0.25), interval(None, None)
    ('0.100 to 0.250', '–')
    """
    return "–" if low is None or high is None else f"{amount(low)} to {amount(high)}"
