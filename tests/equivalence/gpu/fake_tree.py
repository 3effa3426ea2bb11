"""A package `sglang` of a few lines, whose server answers as the engine's fake one does."""

import json
import shutil
from pathlib import Path

SERVER = Path(__file__).parents[1] / "fake_server.py"

_BENCH = """
import json, sys
arguments = dict(zip(sys.argv[1:], sys.argv[2:]))
# Upstream's fetches conversations for its warm-up from the network where it gets none.
with open(arguments["--dataset-path"]) as file:
    assert sum(len(talk["conversations"]) > 1 for talk in json.load(file)) >= 16
with open(arguments["--result-filename"], "a") as file:
    json.dump({{"last_throughput": {throughput}, "accept_length": None}}, file)
"""

_ONE_BATCH = """
import json, sys
arguments = dict(zip(sys.argv[1:], sys.argv[2:]))
sizes = sys.argv[sys.argv.index("--batch-size") + 1 : sys.argv.index("--input-len")]
with open(arguments["--result-filename"], "a") as file:
    for size in sizes:
        print(json.dumps({"batch_size": int(size), "median_decode_throughput": 10.0}), file=file)
"""


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
    (package / "bench_offline_throughput.py").write_text(_BENCH.format(throughput=throughput))
    (package / "bench_one_batch.py").write_text(_ONE_BATCH)
    return root
