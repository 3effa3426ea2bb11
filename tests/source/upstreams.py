"""Small upstreams made on the fly: a wheel, git commands, an index on 127.0.0.1."""

import hashlib
import http.server
import io
import json
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

from shrinker.values.upstream import UpstreamTree
from tests.small import read_archive

Open = Callable[..., UpstreamTree]
"""What the fixture `opened` is."""
PACKAGE = {
    "sglang/__init__.py": b"",
    "sglang/srt/server.py": b"PORT = 30000\n",
    "sglang/srt/tables/a.json": b"{}\n",
}
LICENCE = b"Apache License\n"
_DECLARED = read_archive(Path(__file__).with_suffix(".txtar"))
PYPROJECT, METADATA, ENTRY_POINTS = (
    text.replace("@", " " * 8).encode() for text in _DECLARED.values()
)


def make_wheel(
    members: dict[str, bytes] | None = None,
    extra: Callable[[zipfile.ZipFile], None] = lambda archive: None,
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (PACKAGE if members is None else members).items():
            archive.writestr(name, content)
        archive.writestr("sglang/_version.py", b"__version__ = '1.2.0'\n")
        archive.writestr("sglang/srt/_core.cpython-311-x86_64-linux-gnu.so", b"\x7fELF")
        archive.writestr("tools/tag.py", b"")
        archive.writestr("sglang-1.2.0.dist-info/METADATA", METADATA)
        archive.writestr("sglang-1.2.0.dist-info/entry_points.txt", ENTRY_POINTS)
        archive.writestr("sglang-1.2.0.dist-info/licenses/LICENSE", LICENCE)
        extra(archive)
    return buffer.getvalue()


class Index:
    """A package index that serves what a test put into it and counts the requests."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.hashes: dict[str, str] = {}
        self.json = True
        self.requests: list[str] = []
        self.failures = 0
        self.authorization: list[str | None] = []
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.requests.append(self.path)
                index.authorization.append(self.headers.get("Authorization"))
                kind, body = index.answer(self.path)
                if index.failures:
                    index.failures -= 1
                    self.send_error(503)
                elif body is None:
                    self.send_error(404)
                else:
                    self.send_response(200)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def add(self, filename: str, content: bytes, sha256: str | None = None) -> None:
        self.files[filename] = content
        self.hashes[filename] = hashlib.sha256(content).hexdigest() if sha256 is None else sha256

    def answer(self, path: str) -> tuple[str, bytes | None]:
        if path != "/simple/sglang/":
            return "application/octet-stream", self.files.get(path.rpartition("/")[2])
        if self.json:
            rows = [
                {"filename": n, "url": f"../../f/{n}", "hashes": {"sha256": h} if h else {}}
                for n, h in self.hashes.items()
            ]
            return "application/vnd.pypi.simple.v1+json", json.dumps(
                {"meta": {"api-version": "1.1"}, "files": rows}
            ).encode()
        links = "".join(
            f'<!-- <a href="../../f/none.whl"> --><a data-requires-python=">=3.8" href=../../f/{n}#sha256={h}>{n}</a><br/>'
            for n, h in self.hashes.items()
        )
        return "text/html; charset=utf-8", f"<html><body>{links}</body></html>".encode()
