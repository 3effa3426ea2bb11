"""Parse every Python file below a folder and drop the trees; prints a JSON document."""

from __future__ import annotations

import argparse
import ast
import gc
import json
import multiprocessing
import time
import warnings
from pathlib import Path


def parse_file(path: str) -> bool:
    """False when this Python cannot parse it."""
    try:
        ast.parse(Path(path).read_bytes())
    except SyntaxError:
        return False
    return True


def _quiet() -> None:
    gc.disable()
    # Invalid escapes in upstream's strings.
    warnings.simplefilter("ignore")


def main() -> None:
    """Command line: FOLDER --jobs N."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    _quiet()
    start = time.perf_counter()
    # Largest first: no worker is left alone with a large file at the end.
    paths = sorted(
        arguments.folder.rglob("*.py"), key=lambda path: (-path.stat().st_size, str(path))
    )
    names = [str(path) for path in paths]
    if arguments.jobs == 1:
        parsed = [parse_file(name) for name in names]
    else:
        with multiprocessing.Pool(arguments.jobs, _quiet) as pool:
            parsed = pool.map(parse_file, names, chunksize=8)
            pool.close()
            # Leaving the block would end the workers unwaited, and their processor time uncounted.
            pool.join()
    seconds = time.perf_counter() - start
    print(json.dumps({"files": len(names), "refused": parsed.count(False), "seconds": seconds}))


if __name__ == "__main__":
    main()
