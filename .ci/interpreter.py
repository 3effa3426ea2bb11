"""Print which Python the environment is to be made with: the fastest of those on the search path that can run shrinker.

Builds of the same version differ by a third: a distribution optimizes its own with profiles, what a version manager compiled is often not
optimized at all. Everything that shrinker does is Python, so that a run is as fast as its interpreter.

Needs any Python from 3.8 on, and the standard library only.
"""

import os
import subprocess
import sys

NAMES = ("python3.13", "python3.12", "python3.11", "python3", "python")
NEWEST = (3, 13)
"""The newest for which `uv.lock` is tested; a newer one is taken where there is no other."""
WORTH = 0.93
"""How much of the other's time a later one on the search path may take at most, to be preferred."""
MORE = 2
"""How often each is timed again."""
PROBE = """
import sys
if sys.version_info < (3, 11) or not getattr(sys, "_is_gil_enabled", lambda: True)():
    sys.exit("too old, or without a lock")
# A distribution may leave parts of the standard library to other packages.
import bz2, ctypes, lzma, multiprocessing, sqlite3, ssl, tomllib, venv, zlib
import ast, gc, time
gc.disable()
text = "def f(a, b=1):\\n    for x in a.items():\\n        if x and b:\\n            return [y for y in x if y.z(b, 2)]\\n" * 150
times = []
for _ in range(3):
    start = time.perf_counter()
    found = sum(isinstance(node, ast.Name) for node in ast.walk(ast.parse(text)))
    times.append(time.perf_counter() - start)
# Of an environment the interpreter below it: the environment may be the one that is to be made again.
print(*sys.version_info[:2], min(times), getattr(sys, "_base_executable", None) or sys.executable)
"""


def candidates():
    """Paths of commands named like Python, in the order of the search path, none twice."""
    seen = set()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in NAMES:
            path = os.path.join(folder or ".", name)
            if (
                os.path.isfile(path)
                and os.access(path, os.X_OK)
                and os.path.realpath(path) not in seen
            ):
                # A version manager's commands are one program that looks at the name it is called by.
                seen.add(path if _is_text(path) else os.path.realpath(path))
                yield path


def _is_text(path):
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        # One that may be run and not read.
        return False


def probed(path):
    """Version, seconds and interpreter; None where it cannot run shrinker."""
    try:
        done = subprocess.run([path, "-I", "-c", PROBE], capture_output=True, text=True, timeout=30)
        major, minor, seconds, executable = done.stdout.strip().split(" ", 3)
        return (int(major), int(minor)), float(seconds), executable
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def fastest(paths):
    """The interpreter to take; None where there is none."""
    found = {}
    for answer in map(probed, paths):
        if answer and answer[2] not in found:
            found[answer[2]] = answer
    usable = [answer for answer in found.values() if answer[0] <= NEWEST] or list(found.values())
    if len(usable) > 1:
        # By turns, so that what else the machine does meanwhile slows none of them alone.
        more = [probed(answer[2]) for _ in range(MORE) for answer in usable]
        seconds = {
            answer[2]: min(n[1] for n in [answer, *more] if n and n[2] == answer[2])
            for answer in usable
        }
    best = None
    for _, _, path in usable:
        if best is None or seconds[path] < seconds[best] * WORTH:
            best = path
    return best


if __name__ == "__main__":
    chosen = fastest(list(candidates()))
    if chosen is None:
        sys.exit(1)
    print(chosen)
