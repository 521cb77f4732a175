"""The slots that kernels leave open, by the name under which `link` fills them."""

from typing import Any

from driftbandit.compiling.slot import OPEN

# A rule's own functions.
score = attempt = shape = accepted = rough = apart = log_weight = probability = context = explore = OPEN
learn = unlearn = notice = alarm = renew = observations = OPEN
# A path's own functions.
first_mean = next_mean = OPEN
# How a rule's numbers are read and written.
own_of = arm_at = put_own = common_of = put_common = shape_of = put_shape = OPEN
# The forms of each part of a step.
share = weigh = shaped = shared_of = context_of = total_of = attempted_first = draw_more = settled = choose = OPEN
turn = explore_of = take = forgotten = hear = heard = renewed = observe = reward_of = move = OPEN
resets_all: Any = OPEN
"""Whether an alarm makes every arm start again."""
