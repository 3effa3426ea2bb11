"""Kernel libraries that travel beside the package: which operators kept Python reaches, and which
sources they need.
"""
