"""Evidence on NVIDIA GPUs: upstream's server and the generated one, side by side, answer by answer.

`python -m equivalence.gpu --help` runs it where nothing but Python and the servers' own environment
is installed: this package needs the standard library only (`checkpoint` needs torch, and gpu.md
jinja2; that environment has both).
"""
