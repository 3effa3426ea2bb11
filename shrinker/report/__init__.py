"""The reports: lists, Markdown pages, JSON, and the saved graph.

`write.begin_reports` writes all that does not wait for the evidence, `write.finish_reports` the rest;
`summary.summary_table` is what the command line prints. What changes from run to run (times, memory) stands in
``run.json`` alone, so that the committed files change only when the tree does.
"""
