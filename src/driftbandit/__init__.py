"""Bandits whose arms drift."""
