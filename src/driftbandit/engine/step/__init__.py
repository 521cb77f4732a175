"""One step of one run, in parts that the processor, a card and live use link into their kernels."""
