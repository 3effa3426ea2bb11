"""A package `sglang` of a few lines, whose server answers as the engine's fake one does."""

import json
import shutil
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
) -> Path:
    """Write the package below `root`; returns `root`. `imports_for`: seconds that importing the server takes at least."""
    package = root / "sglang"
    entry = package / "srt" / "entrypoints"
    entry.mkdir(parents=True)
    for folder in (package, package / "srt", entry):
        (folder / "__init__.py").write_text("")
    (entry / "http_server.py").write_text(f"import json, time\ntime.sleep({imports_for})\n")
    shutil.copy(SERVER, package / "launch_server.py")
    settings = {"token": token, "kernels": kernels, "fails": fails, "pause": pause}
    (package / "launch_server.json").write_text(json.dumps(settings))
    write(package, {name: text.replace("{throughput}", str(throughput)) for name, text in _BENCHMARKS.items()})
    return root
