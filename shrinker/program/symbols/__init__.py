"""Reachability of symbols over the folded modules: what is live, and why."""
