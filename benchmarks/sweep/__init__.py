"""Many releases and commits of upstream, one after the other, with the rules as they are."""
