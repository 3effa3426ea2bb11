"""Fold one module: decide its branches by the facts, cut what names removed features, say what is
left.
"""
