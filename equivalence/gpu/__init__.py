"""Evidence on NVIDIA GPUs: upstream's server and the generated one, side by side, answer by answer.

`python -m equivalence.gpu --help` runs it where nothing but Python and the servers' own environment is installed:
this package needs the standard library only (`checkpoint` needs torch, and gpu.md jinja2; that environment has both).

    cells.py       what is run, as data            observe.py     one server of one cell, everything seen of it
    trees.py       the two trees and environment   schedule.py    many of them, in time, resumable
    span.py        one request over many runs      verdict.py     all servers of a cell judged
    turns.py       pairs of runs, their ratios     throughput.py  what is timed
    load.py        a client that loads a server    bundle.py      packages for a machine without network
    table.py       gpu.json and gpu.md
"""
