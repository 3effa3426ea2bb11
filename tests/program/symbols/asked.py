"""The small program of which is asked why something is kept or not, and the run that is saved of it."""

import json
from pathlib import Path

from shrinker.pipeline import analyse
from shrinker.program.answers import SavedRun
from shrinker.program.saved import graph_data
from tests.fold.programs import make_tree
from tests.program.symbols.support import PLATFORM, small_rules
from tests.small import Silent

FILES = {
    "python/sglang/__init__.py": "",
    "python/sglang/srt/__init__.py": "",
    "python/sglang/srt/utils.py": "def is_hip():\n    return False\n",
    "python/sglang/gone.py": "from sglang.parts import lost\n\n\nclass Kernel:\n    pass\n",
    "python/sglang/alone.py": "from sglang.parts import Engine, outer_one\n\nEngine().forgotten()\n",
    # A name that many share, nearer to the root than the call of one that two share; and one that makes objects.
    "python/sglang/shared.py": """\
class A:
    def __init__(self): pass
    def step(self): return 1
    def enter(self): return self.last()
    def last(self): return 1
class B:
    def step(self): return 1
    def enter(self): return 1
class C:
    def step(self): return 1
class D:
    def step(self): return 1
class E:
    def step(self): return A().last()
def plain(x): return further(x)
def further(x): return x.enter()
def run(x):
    x.__init__()
    x.step()
    plain(x)
    return A, B, C, D, E
""",
    "python/sglang/launch_server.py": """\
import sglang.parts, sglang.shared
from sglang.parts import Engine, start
from sglang.srt.utils import is_hip


def main():
    engine = start()
    if is_hip():
        engine.only_hip()
    print(engine.run(), sglang.parts.start(), sglang.shared.run(engine))


if __name__ == "__main__":
    main()
""",
    "python/sglang/parts.py": """\
class Engine:
    def run(self):
        return self._inner()
    def _inner(self): return 1
    def only_hip(self): return self.deeper()
    def deeper(self): return 2
    def forgotten(self): return 3
def start(): return Engine()
def lost(): return 4
def unheard(): return 5
def outer_one():
    return inner_one()
def inner_one(): return 6
TABLE = [1]
TABLE.append(2)
class Holder:
    class State:
        def size(self): return 1
    def made(self): return self.State()
class Unheld:
    class State2: pass
print(Holder().made())
import sglang.lines
""",
    "python/sglang/lines.py": """\
from sglang.srt.utils import is_hip

_hip = is_hip()
if _hip:
    WIDE = 8
    SIZE = WIDE
else:
    SIZE = 4
TEXT = '''
FAKE = 1
'''


def width(x):
    if not is_hip():
        return x
    else:
        first = x
        return first


_more = 1
print(width(SIZE), TEXT, _more)
import sglang.twin

if __name__ == "__main__":
    print("alone")
""",
    # A flag of the same name, which is another one.
    "python/sglang/twin.py": """\
from sglang.srt.utils import is_hip

_hip = is_hip()
if _hip:
    print("twin")
import sglang.branches
""",
    "python/sglang/branches.py": """\
from sglang.srt.utils import is_hip
from sglang.names import taken, unasked
from sglang.names import left as other
from sglang.stars import *

if is_hip():
    from sglang.names import both
else:
    from sglang.plain import both

try:
    from elsewhere import one

    def inside():
        return one
except ImportError:
    inside = None
print(taken, by_star, both, inside)
""",
    "python/sglang/names.py": "taken, unasked, left, both = 1, 2, 3, 4\n",
    "python/sglang/plain.py": "both = 5\n",
    "python/sglang/stars.py": "by_star = 6\n",
}


def saved_run(folder: Path) -> SavedRun:
    """What `why` and `why-not` read of a run, written into the folder."""
    decided = analyse(make_tree(folder / "up", FILES), small_rules(folder, PLATFORM), 1, {}, Silent())
    graph, symbols = graph_data(decided.graph, decided.folded), decided.symbols
    found = {"graph": graph, "symbols": symbols.data, "symbol_edges": symbols.edges}
    for name, data in found.items():
        (folder / f"{name}.json").write_text(json.dumps(data))
    return SavedRun(folder / "graph.json")
