"""Integrals over the products of distribution functions, panel by panel, to the last digits."""
