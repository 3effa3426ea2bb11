"""Reachability over the folded code: what is kept, what is removed, and by which edge.

The search deletes on an over-approximation: an edge that cannot be decided keeps its target, and
the target is listed as uncertain when nothing stronger keeps it.

`reach.FileGraph` makes the graph, `saved` is its form on disk, `why` answers from that form.
Nothing is imported here, so that `why` need not load what only the search needs.
"""
