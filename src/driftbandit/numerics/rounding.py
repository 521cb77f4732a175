"""Sums and products with the error of their rounding: together they are exact."""

SPLITTER = 134217729.0  # 2^27 + 1 cuts a double into two halves whose products are exact


def two_sum(x: float, y: float) -> tuple[float, float]:
    """The sum x + y exactly, as its rounding and the error of that."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def two_product(x: float, y: float) -> tuple[float, float]:
    """The product x·y exactly, as its rounding and the error of that (Dekker)."""
    product = x * y
    wide = SPLITTER * x
    x_high = wide - (wide - x)
    x_low = x - x_high
    wide = SPLITTER * y
    y_high = wide - (wide - y)
    y_low = y - y_high
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
