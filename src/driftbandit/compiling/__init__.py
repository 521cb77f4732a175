"""Plain functions made into machine code: what is linked, for which target, where it is kept."""
