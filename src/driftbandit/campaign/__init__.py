"""What `reproduce` and `arena` share: many games, kept and resumed in a folder, and a page about them."""
