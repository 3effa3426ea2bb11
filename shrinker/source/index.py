"""The package index: which file is a release, and its bytes. PEP 691 (JSON) or PEP 503 (HTML), whichever it answers with."""

from __future__ import annotations

import base64
import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from shrinker.values.errors import InputError

DEFAULT_INDEX = "https://pypi.org/simple"
TIMEOUT_SECONDS = 60.0
TRIES = 3
MAX_DOWNLOAD_BYTES = 2**30

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One file that the index offers."""

    filename: str
    url: str
    sha256: str | None


def index_url(environment: Mapping[str, str] = os.environ) -> str:
    """The index that pip or uv would use: UV_DEFAULT_INDEX, UV_INDEX_URL, PIP_INDEX_URL, else the public one."""
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        value = environment.get(variable, "").strip()
        if value:
            # uv allows `name=url`.
            name, equals, url = value.partition("=")
            value = url if equals and "://" not in name else value
            if not value.startswith(("http://", "https://")):
                raise InputError(
                    f"{variable}={without_password(value)} is not an http(s) URL",
                    f"set it to a PEP 503 index such as {DEFAULT_INDEX}",
                )
            return value.rstrip("/")
    return DEFAULT_INDEX


def list_files(index: str, project: str) -> tuple[IndexFile, ...]:
    """All files of a project, in the index's order.

    Raises:
        InputError: no network, no such project, or an answer that is neither form.
    """
    page = f"{index}/{project}/"
    content_type, body, base = fetch(page)
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind in ("application/vnd.pypi.simple.v1+json", "application/json"):
            rows = [
                (str(row["filename"]), str(row["url"]), (row.get("hashes") or {}).get("sha256"))
                for row in json.loads(body)["files"]
            ]
        elif kind in ("text/html", "application/vnd.pypi.simple.v1+html"):
            parser = _Links()
            parser.feed(body.decode("utf-8"))
            rows = parser.rows
        else:
            raise ValueError(f"content type {kind!r}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{without_password(page)} is not a package index: {error}", "check UV_DEFAULT_INDEX / PIP_INDEX_URL"
        ) from error
    return tuple(
        IndexFile(name, urllib.parse.urljoin(base, url), digest.lower() if digest else None)
        for name, url, digest in rows
    )


def choose(files: tuple[IndexFile, ...], version: str, index: str) -> IndexFile:
    """The file that stands for a release, the same on every machine.

    A wheel before a source distribution; a pure wheel first, then x86_64, then by name. The Python
    and the platform that shrinker runs on play no part.

    Raises:
        InputError: unknown version (the nearest ones are named), or no sha256 to verify with.
    """
    by_version: dict[Version, list[tuple[tuple[int, str], IndexFile]]] = {}
    for file in files:
        parsed = _rank(file.filename)
        if parsed is not None:
            by_version.setdefault(parsed[0], []).append((parsed[1], file))
    wanted = Version(version)
    if wanted not in by_version:
        raise InputError(
            f"the index has no sglang {version}{_nearest(wanted, sorted(by_version))}",
            "give UPSTREAM=release:VERSION with a version that exists",
        )
    chosen = min(by_version[wanted], key=lambda ranked: ranked[0])[1]
    if not chosen.sha256:
        raise InputError(
            f"{without_password(index)} gives no sha256 for {chosen.filename}", "use an index that gives hashes"
        )
    return chosen


def fetch(url: str, report: Callable[[int], None] | None = None) -> tuple[str, bytes, str]:
    """GET a URL, with a timeout and retries.

    Args:
        url: http(s); `user:password@` in it is sent as basic authentication.
        report: called with the bytes so far.

    Returns:
        Content type, body and the URL after redirects.

    Raises:
        InputError: it cannot be had.
    """
    shown = without_password(url)
    problem: Exception | None = None
    for attempt in range(TRIES):
        if attempt:
            time.sleep(0.5 * 2 ** (attempt - 1))
        try:
            with urllib.request.urlopen(_request(url), timeout=TIMEOUT_SECONDS) as answer:
                body = bytearray()
                while chunk := answer.read(1 << 20):
                    body += chunk
                    if len(body) > MAX_DOWNLOAD_BYTES:
                        raise InputError(f"{shown} is larger than {MAX_DOWNLOAD_BYTES:,} bytes", "check the index")
                    if report is not None:
                        report(len(body))
                length = answer.headers.get("Content-Length")
                if length is not None and int(length) != len(body):
                    raise http.client.IncompleteRead(bytes(body[:0]), int(length) - len(body))
                return answer.headers.get("Content-Type", ""), bytes(body), answer.geturl()
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code not in (408, 429):
                raise InputError(
                    f"{shown}: HTTP {error.code} {error.reason}",
                    "check UV_DEFAULT_INDEX / PIP_INDEX_URL and the version",
                ) from error
            problem = error
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, OSError) as error:
            problem = error
    reason = getattr(problem, "reason", None) or problem
    raise InputError(
        f"{shown} cannot be reached after {TRIES} tries: {reason}",
        "check the network, or give a source that is here: UPSTREAM=git:REPOSITORY@COMMIT or UPSTREAM=path:DIR",
    ) from problem


def without_password(url: str) -> str:
    """The URL as it may be printed."""
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _request(url: str) -> urllib.request.Request:
    parts = urllib.parse.urlsplit(url)
    request = urllib.request.Request(
        without_password(url), headers={"Accept": f"{_ACCEPT}, */*;q=0.001", "User-Agent": "shrinker"}
    )
    if parts.username:
        pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        # Unredirected: the credentials go to the index and to no host it redirects to.
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
    return request


def _rank(filename: str) -> tuple[Version, tuple[int, str]] | None:
    try:
        if filename.endswith(".whl"):
            name, version, _, tags = parse_wheel_filename(filename)
            platforms = {tag.platform for tag in tags}
            rank = 0 if "any" in platforms else 1 if any(p.endswith("x86_64") for p in platforms) else 2
        else:
            name, version = parse_sdist_filename(filename)
            rank = 3 if filename.endswith(".tar.gz") else 4
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None
    return (version, (rank, filename)) if name == "sglang" and rank < 4 else None


def _nearest(wanted: Version, known: list[Version]) -> str:
    if not known:
        return ""
    below = [version for version in known if version < wanted][-2:]
    above = [version for version in known if version > wanted][:2]
    return f" (nearest: {', '.join(map(str, below + above))}; newest: {known[-1]})"


class _Links(HTMLParser):
    """Anchors of a PEP 503 page: text, href without fragment, sha256 of the fragment."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href") if tag == "a" else None
        if not href:
            return
        url, _, fragment = href.partition("#")
        digest = urllib.parse.parse_qs(fragment).get("sha256", [None])[0]
        self.rows.append((urllib.parse.unquote(url.rpartition("/")[2]), url, digest))
