"""The parts of a step, of which each device and each kind of rule has its own form: slots, until `link` fills them."""

from typing import Any

from driftbandit.compiling.slot import OPEN

# How an arm's numbers, and those that all arms share, are read and written.
own_of = arm_at = put_own = common_of = put_common = shape_of = put_shape = OPEN
# What arms are compared by, and the choice.
share = weigh = shaped = shared_of = context_of = total_of = attempted_first = draw_more = attempted = choose = OPEN
turn = explore_of = OPEN
# The reward, and what is learned from it.
observe = reward_of = move = take = forgotten = hear = heard = renewed = OPEN
resets_all: Any = OPEN
"""Whether an alarm makes every arm start again."""
