"""A package `sglang` of a few lines, whose server answers as the engine's fake one does."""

import json
from pathlib import Path

from tests.small import read_archive, write

SERVER = Path(__file__).parents[1] / "fake_server.py"

_BENCHMARKS = read_archive(Path(__file__).with_name("benchmarks.txtar"))


def write_tree(
    root: Path,
    token: int = 7,
    kernels: tuple[str, ...] = ("mla", "moe"),
    fails: bool = False,
    throughput: float = 10.0,
    pause: float = 0.0,
    imports_for: float = 0.0,
    says: tuple[str, ...] = (),
) -> Path:
    """Write the package below `root`; returns `root`.

    Args:
        imports_for: seconds that importing the server takes at least.
        says: further lines of the server's log.
    """
    told = {"token": token, "kernels": kernels, "fails": fails, "pause": pause, "says": says}
    own = {
        **dict.fromkeys(("__init__.py", "srt/__init__.py", "srt/entrypoints/__init__.py"), ""),
        "srt/entrypoints/http_server.py": f"import json, time\ntime.sleep({imports_for})\n",
        "launch_server.py": SERVER.read_text(),
        "launch_server.json": json.dumps(told),
    }
    more = {
        name: text.replace("{throughput}", str(throughput)) for name, text in _BENCHMARKS.items()
    }
    write(root / "sglang", own | more)
    return root
