"""The kinds of figures, one a file: which games a figure needs, its panels, its numbers, its part of the report.

A new kind is a new file here, as short as `arms.py`, and a line in `experiments.py` that lists a figure of it. What it
must have is abstract in `Experiment`: if one thing is missing, the package cannot be imported.
"""
