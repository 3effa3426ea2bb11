"""Frozen values that travel between the phases; nothing here computes a decision."""
