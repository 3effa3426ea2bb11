"""A server for the tests, which answers as the engine's fake one does: `fake_server.py --port PORT
[word ...]`; the words say what is wrong with it.

slow: never ready. dies: ends before it is ready. stubborn: ignores SIGTERM, and so does its child.
    flips: another token. close: another last digit. drips: an answer that does not end. A file
    `.json` beside it has what it answers with.
"""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WORDS = set(sys.argv[1:])
GIVEN = dict(zip(sys.argv[1:], sys.argv[2:], strict=False))
OWN = Path(__file__).with_suffix(".json")
SETTINGS = {
    "token": 7,
    "kernels": [],
    "fails": False,
    "pause": 0.0,
    "says": [],
    **(json.loads(OWN.read_text()) if OWN.is_file() else {}),
}
FOLDER = [""]
"""Where a profile is to go."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        info = {"port": int(GIVEN["--port"]), "attention_backend": GIVEN.get("--attention-backend")}
        if self.path == "/no_such_path":
            self._say({"detail": "Not Found"}, 404)
        else:
            self._say(info if self.path == "/server_info" else {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{}")
        if self.path == "/drip":
            self._begin(200, "text/plain")
            while True:
                self._write(".", 0.05)
        if self.path == "/start_profile":
            FOLDER[0] = body["output_dir"]
        if self.path == "/stop_profile":
            events = [{"cat": "kernel", "name": name} for name in SETTINGS["kernels"]] + [
                {"cat": "cpu_op", "name": "x"}
            ]
            with gzip.open(Path(FOLDER[0], "a.trace.json.gz"), "wt") as file:
                json.dump({"traceEvents": events}, file)
        if "text" in body and not isinstance(body["text"], str):
            return self._say({"error": {"message": "text is no text"}}, 400)
        if body.get("stream"):
            self._begin(200, "text/event-stream; charset=utf-8")
            for number in range(body.get("sampling_params", {}).get("max_new_tokens", 2)):
                event = {"id": uuid.uuid4().hex, "text": "ab" * number}
                self._write(f"data: {json.dumps(event)}\n\n", SETTINGS["pause"])
            return self._write("data: [DONE]\n\n", 0)
        token = 8 if "flips" in WORDS else SETTINGS["token"]
        logprob = -0.25000001 if "close" in WORDS else -0.25
        meta = {"id": uuid.uuid4().hex, "e2e_latency": time.time(), "completion_tokens": 1}
        meta["output_token_logprobs"] = [[logprob, token, None]]
        self._say({"output_ids": [token], "meta_info": meta})

    def _begin(self, status: int, kind: str, size: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header(
            *(("Connection", "close") if size is None else ("Content-Length", str(size)))
        )
        self.end_headers()

    def _write(self, text: str, pause: float) -> None:
        time.sleep(pause)
        self.wfile.write(text.encode())
        self.wfile.flush()

    def _say(self, body: object, status: int = 200) -> None:
        text = json.dumps(body)
        self._begin(status, "application/json", len(text))
        self.wfile.write(text.encode())


def main() -> None:
    if "child" in WORDS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if "dies" in WORDS or SETTINGS["fails"]:
        raise ImportError("cannot import name 'gone'")
    if "stubborn" in WORDS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, __file__, "child"])
    server = ThreadingHTTPServer(("127.0.0.1", int(GIVEN["--port"])), Handler)
    print("pid", os.getpid(), os.environ.get("NAME", "unset"), flush=True)
    print(
        "[2026-01-01 00:00:00] Load weight end. elapsed=0.26 s, type=DeepseekV3ForCausalLM, "
        "avail mem=4.00 GB"
    )
    print("[2026-01-01 00:00:00] Using triton as attention backend, took 1.25 s")
    for line in SETTINGS["says"]:
        print(f"[2026-01-01 00:00:00] {line}")
    if "slow" in WORDS:
        time.sleep(600)
    print("[now] The server is fired up and ready to roll!", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
