"""A package `sglang` of a few lines, whose server answers as the engine's fake one does."""

from pathlib import Path

_SERVER = """
import gzip, json, os, sys, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN, KERNELS, FAILS, PAUSE = {token!r}, {kernels!r}, {fails!r}, {pause!r}
arguments = dict(zip(sys.argv[1:], sys.argv[2:]))
folder = [""]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args): pass

    def do_GET(self):
        info = {{"port": int(arguments["--port"]), "attention_backend": arguments.get("--attention-backend")}}
        self.say(info if self.path == "/server_info" else {{}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{{}}")
        if self.path == "/start_profile":
            folder[0] = body["output_dir"]
        if self.path == "/stop_profile":
            events = [{{"cat": "kernel", "name": name}} for name in KERNELS] + [{{"cat": "cpu_op", "name": "x"}}]
            with gzip.open(os.path.join(folder[0], "a.trace.json.gz"), "wt") as file:
                json.dump({{"traceEvents": events}}, file)
        if body.get("stream") and "input_ids" in body:
            return self.stream(body["sampling_params"]["max_new_tokens"])
        self.say({{"output_ids": [TOKEN], "meta_info": {{"id": uuid.uuid4().hex, "completion_tokens": 1}}}})

    def stream(self, tokens):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for _ in range(tokens):
            time.sleep(PAUSE)
            self.wfile.write(b"data: {{}}\\n\\n")
        self.wfile.write(b"data: [DONE]\\n\\n")

    def say(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if FAILS:
    raise ImportError("cannot import name 'gone'")
print("[2026-01-01 00:00:00] Load weight end. elapsed=0.26 s, type=DeepseekV3ForCausalLM, avail mem=4.00 GB")
print("[2026-01-01 00:00:00] Using triton as attention backend, took 1.25 s")
server = ThreadingHTTPServer(("127.0.0.1", int(arguments["--port"])), Handler)
print("The server is fired up and ready to roll!", flush=True)
server.serve_forever()
"""

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
    (package / "launch_server.py").write_text(_SERVER.format(token=token, kernels=kernels, fails=fails, pause=pause))
    (package / "bench_offline_throughput.py").write_text(_BENCH.format(throughput=throughput))
    (package / "bench_one_batch.py").write_text(_ONE_BATCH)
    return root
