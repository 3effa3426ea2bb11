"""The package index: which file is a release, and its bytes.

PEP 691 (JSON) or PEP 503 (HTML), whichever it answers with.
"""

import base64
import bisect
import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

from shrinker.source.spec import without_password
from shrinker.values.errors import InputError

DEFAULT_INDEX = "https://pypi.org/simple"
TIMEOUT_SECONDS = 60.0
TRIES = 3
MAX_DOWNLOAD_BYTES = 2**30

_JSON = ("application/vnd.pypi.simple.v1+json", "application/json")
_HTML = ("text/html", "application/vnd.pypi.simple.v1+html")
_ACCEPT = f"{_JSON[0]}, {_HTML[1]};q=0.2, text/html;q=0.01, */*;q=0.001"
_CHECK = "check UV_DEFAULT_INDEX / PIP_INDEX_URL"


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One file that the index offers."""

    filename: str
    url: str
    sha256: str | None
    size: int | None = None
    """In bytes, where the index tells it (PEP 700)."""
    yanked: bool = False

    @property
    def release(self) -> tuple[str, Version, frozenset[str]] | None:
        """Distribution, version and the platforms of a wheel, none for a source distribution; None
        for any other file.
        """
        try:
            if not self.filename.endswith(".whl"):
                return *parse_sdist_filename(self.filename), frozenset()
            name, version, _, tags = parse_wheel_filename(self.filename)
            return name, version, frozenset(tag.platform for tag in tags)
        except (InvalidWheelFilename, InvalidSdistFilename):
            return None


def index_url(environment: Mapping[str, str] = os.environ) -> str:
    """Return the index that pip or uv would use: UV_DEFAULT_INDEX, UV_INDEX_URL, PIP_INDEX_URL,
    else the public one.
    """
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
    """Return all files of a project, in the index's order.

    Raises InputError: no network, no such project, or an answer that is neither form.
    """
    page = f"{index}/{project}/"
    kind, body, base = fetch(page)
    try:
        if kind in _JSON:
            return tuple(_rows(json.loads(body)["files"], base))
        if kind not in _HTML:
            raise ValueError(f"content type {kind!r}")
        parser = _Links(base)
        parser.feed(body.decode("utf-8"))
        return tuple(parser.files)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{without_password(page)} is not a package index: {error}", _CHECK
        ) from error


def choose(files: tuple[IndexFile, ...], version: str, index: str) -> IndexFile:
    """Return the file that stands for a release, the same on every machine: a pure wheel first,
    then x86_64, then by name. Raises InputError for an unknown version (the nearest ones are
    named), or without a sha256 to verify with.
    """
    by_version: dict[Version, list[tuple[int, str, IndexFile]]] = {}
    for file in files:
        match file.release:
            case "sglang", its, platforms if platforms:
                rank = (
                    0
                    if "any" in platforms
                    else 1
                    if any(p.endswith("x86_64") for p in platforms)
                    else 2
                )
                by_version.setdefault(its, []).append((rank, file.filename, file))
    wanted = Version(version)
    if wanted not in by_version:
        raise InputError(
            f"the index has no sglang {version}{_nearest(wanted, sorted(by_version))}",
            "give UPSTREAM=release:VERSION with a version that exists",
        )
    chosen = min(by_version[wanted], key=lambda ranked: ranked[:2])[2]
    if not chosen.sha256:
        raise InputError(
            f"{without_password(index)} gives no sha256 for {chosen.filename}",
            "use an index that gives hashes",
        )
    return chosen


def download_size(index: str, requirement: str) -> int | None:
    """Return bytes of the file that an x86-64 Linux machine would download of the newest version
    that fits, whatever the marker of the requirement (PEP 508) says; None, and no error, where they
    cannot be had.
    """
    wanted = Requirement(requirement)
    fits: list[tuple[Version, int, str, int]] = []
    try:
        for file in list_files(index, wanted.name.lower()):
            match file.release:
                case _, its, platforms if (
                    file.size is not None and not file.yanked and wanted.specifier.contains(its)
                ):
                    own = any("linux" in name and name.endswith("x86_64") for name in platforms)
                    if own or "any" in platforms or not platforms:
                        fits.append(
                            (its, 2 if own else 1 if platforms else 0, file.filename, file.size)
                        )
    except InputError:
        return None
    return max(fits)[3] if fits else None


def fetch(url: str) -> tuple[str, bytes, str]:
    """GET a URL, with a timeout and retries; `user:password@` in it is sent as basic
    authentication. Returns content type, body and the URL after redirects. Raises InputError when
    it cannot be had.
    """
    shown = without_password(url)
    problem: Exception | None = None
    for attempt in range(TRIES):
        if attempt:
            time.sleep(0.5 * 2 ** (attempt - 1))
        try:
            with urllib.request.urlopen(_request(url), timeout=TIMEOUT_SECONDS) as answer:
                body = answer.read(MAX_DOWNLOAD_BYTES + 1)
                if len(body) > MAX_DOWNLOAD_BYTES:
                    raise InputError(
                        f"{shown} is larger than {MAX_DOWNLOAD_BYTES:,} bytes", "check the index"
                    )
                length = answer.headers.get("Content-Length")
                if length is not None and int(length) != len(body):
                    raise http.client.IncompleteRead(b"", int(length) - len(body))
                return answer.headers.get_content_type(), body, answer.geturl()
        except (http.client.HTTPException, OSError) as error:
            if (
                isinstance(error, urllib.error.HTTPError)
                and error.code < 500
                and error.code not in (408, 429)
            ):
                raise InputError(
                    f"{shown}: HTTP {error.code} {error.reason}", f"{_CHECK} and the version"
                ) from error
            problem = error
    reason = getattr(problem, "reason", None) or problem
    raise InputError(
        f"{shown} cannot be reached after {TRIES} tries: {reason}",
        (
            "check the network, or give a source that is here: UPSTREAM=git:REPOSITORY@COMMIT or "
            "UPSTREAM=path:DIR"
        ),
    ) from problem


def _request(url: str) -> urllib.request.Request:
    parts = urllib.parse.urlsplit(url)
    request = urllib.request.Request(
        without_password(url), headers={"Accept": _ACCEPT, "User-Agent": "shrinker"}
    )
    if parts.username:
        pair = (
            f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        )
        # Unredirected: the credentials go to the index and to no host it redirects to.
        request.add_unredirected_header(
            "Authorization", "Basic " + base64.b64encode(pair.encode()).decode()
        )
    return request


def _nearest(wanted: Version, known: list[Version]) -> str:
    if not known:
        return ""
    at = bisect.bisect(known, wanted)
    return f" (nearest: {', '.join(map(str, known[max(0, at - 2) : at + 2]))}; newest: {known[-1]})"


def _rows(files: list[dict[str, Any]], base: str) -> Iterator[IndexFile]:
    for row in files:
        sha256, size = (row.get("hashes") or {}).get("sha256"), row.get("size")
        yield IndexFile(
            str(row["filename"]),
            urllib.parse.urljoin(base, str(row["url"])),
            sha256.lower() if sha256 else None,
            size if isinstance(size, int) else None,
            bool(row.get("yanked")),
        )


class _Links(HTMLParser):
    """Anchors of a PEP 503 page; the fragment of the address holds the hash."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base
        self.files: list[IndexFile] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href") if tag == "a" else None
        if href:
            url, _, fragment = href.partition("#")
            sha256 = urllib.parse.parse_qs(fragment).get("sha256", [""])[0]
            name = urllib.parse.unquote(url.rpartition("/")[2])
            self.files.append(
                IndexFile(name, urllib.parse.urljoin(self._base, url), sha256.lower() or None)
            )
