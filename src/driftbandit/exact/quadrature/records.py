"""Records: arrays whose elements have named fields, some of which are arrays themselves.

A kernel passes a record as one pointer. A named tuple of arrays would be passed as seven numbers an array, and every
reference to every array would be counted. But a record does not keep its array alive: the function that allocates the
array takes records from it only inside the loop that uses it.
"""

from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from driftbandit.exact.quadrature.legendre import NODES

Array = NDArray[np.float64]
Records = NDArray[Any]
_KINDS = {float: np.float64, int: np.int64, bool: np.bool_}


def record(fields: type, **sizes: int) -> np.dtype[Any]:
    """The type of such records; an array among the fields has a number for each node, or the size that is given."""
    hints = get_type_hints(fields)
    kinds = [(n, _KINDS[k]) if k in _KINDS else (n, np.float64, sizes.get(n, NODES)) for n, k in hints.items()]
    return np.dtype((np.record, np.dtype(kinds, align=True)))
