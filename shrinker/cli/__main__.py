"""`python -m shrinker.cli`: the same as the `shrinker` command."""

from shrinker.cli import main

main()
