"""A server for the tests: `fake_server.py PORT [word ...]`; the words say what is wrong with it.

slow: never ready. dies: ends before it is ready. stubborn: ignores SIGTERM, and so does its child. flips: another
token. close: another last digit. drips: an answer that does not end.
"""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = set(sys.argv[2:])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/no_such_path":
            self._send(404, "application/json", json.dumps({"detail": "Not Found"}))
        else:
            self._send(200, "text/plain", "")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{}")
        if self.path == "/drip":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b".")
                self.wfile.flush()
                time.sleep(0.05)
        if "text" in body and not isinstance(body["text"], str):
            return self._send(400, "application/json", json.dumps({"error": {"message": "text is no text"}}))
        if body.get("stream"):
            events = [f"data: {json.dumps({'id': uuid.uuid4().hex, 'text': t})}" for t in ("a", "ab")]
            return self._send(200, "text/event-stream; charset=utf-8", "\n\n".join([*events, "data: [DONE]", ""]))
        token = 8 if "flips" in WORDS else 7
        logprob = -0.25000001 if "close" in WORDS else -0.25
        meta = {"id": uuid.uuid4().hex, "e2e_latency": time.time(), "output_token_logprobs": [[logprob, token, None]]}
        self._send(200, "application/json", json.dumps({"output_ids": [token], "meta_info": meta}))

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def main() -> None:
    if "child" in WORDS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if "dies" in WORDS:
        sys.exit("cannot import name 'gone'")
    if "stubborn" in WORDS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, __file__, "0", "child"])
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("pid", os.getpid(), os.environ.get("NAME", "unset"), flush=True)
    if "slow" in WORDS:
        time.sleep(600)
    print("[now] The server is fired up and ready to roll!", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
