"""The processor: a block of runs, with the inner loop over runs."""
