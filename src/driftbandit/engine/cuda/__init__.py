"""A graphics card: a thread or a few for each run."""
