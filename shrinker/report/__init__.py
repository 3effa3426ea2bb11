"""The reports: lists, Markdown pages, JSON, and the saved graph.

`summary.summary_table` is what the command line prints. What changes from run to run (times,
memory) stands in ``run.json`` alone, so that the committed files change only when the tree does.
"""
