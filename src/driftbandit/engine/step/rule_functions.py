"""The functions that a rule, or the path of an environment, brings: slots, until `link` fills them."""

from driftbandit.compiling.slot import OPEN

score = attempt = shape = accepted = rough = apart = log_weight = probability = context = explore = OPEN
learn = unlearn = notice = blend = alarm = renew = observations = OPEN
judge = learn_belief = move_beliefs = OPEN
first_mean = next_mean = OPEN
