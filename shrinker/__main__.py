"""`python -m shrinker`: the same as the `shrinker` command."""

from shrinker.cli import main

main()
