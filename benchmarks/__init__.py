"""How fast `shrinker` is, measured against other tools on the same tree in the same run (`make
bench`).
"""
