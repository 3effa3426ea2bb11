"""Bytes by key in one SQLite file: whole entries or none, safe for several runs at once.

Subtle: a connection is open only within a call, so that no worker process inherits one. Whatever is
wrong with the file, the answer is *not there*: a cache that fails costs time and nothing else.
"""

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

_FORMAT = 2
_CHECK_BYTES = 16
_WAIT_SECONDS = 30.0
"""How long to wait for other runs that are writing: less than computing all of it again takes."""
_WAIT_AGAIN_SECONDS = 0.2
"""The same, once a wait was in vain."""
_UNUSED_HOURS = 30 * 24
_NOTED_HOURS = 0.1
"""A use is written down when the last one is older: a run that follows closely writes nothing for
what it finds.
"""
_HOUR_SECONDS = 3600
_ROW_BYTES = 150
"""About what a row takes besides its value."""

_LOAD = "SELECT checked, value, hour FROM entries JOIN uses USING (key) WHERE entries.key = ?"
_TABLES = (
    (
        "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, checked BLOB NOT NULL, value "
        "BLOB NOT NULL)"
    ),
    (
        "CREATE TABLE IF NOT EXISTS uses (key BLOB PRIMARY KEY, hour INTEGER NOT NULL, size "
        "INTEGER NOT NULL) WITHOUT ROWID"
    ),
    f"PRAGMA user_version = {_FORMAT}",
)


class Store:
    """Key-value pairs in a file, made with its folder when something is first written.

    Above `limit` bytes the entries that were not used for longest are dropped.
    """

    def __init__(self, file: Path, limit: int) -> None:
        self._file = file
        self._limit = limit
        self._waited = False

    def load(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the entries that are there and whole."""
        found: dict[bytes, bytes] = {}
        stale: list[tuple[float, bytes]] = []
        if not self._file.is_file():
            return found
        now = _now()
        try:
            with self._open() as connection:
                for key in keys:
                    for checked, value, hour in connection.execute(_LOAD, (key,)):
                        if isinstance(value, bytes) and checked == _check(key, value):
                            found[key] = value
                            if now - hour > _NOTED_HOURS:
                                stale.append((now, key))
        except (sqlite3.Error, OSError) as error:
            self._discard(error)
            return {}
        if stale:
            self._write(
                lambda connection: connection.executemany(
                    "UPDATE uses SET hour = ? WHERE key = ?", stale
                )
            )
        return found

    def save(self, entries: Mapping[bytes, bytes]) -> None:
        """Add entries, replacing those of the same key; all of them or, when the file cannot be
        written, none.
        """
        now = _now()
        rows = [(key, _check(key, value), value) for key, value in entries.items()]
        uses = [(key, now, len(value) + _ROW_BYTES) for key, value in entries.items()]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows)
            connection.executemany("INSERT OR REPLACE INTO uses VALUES (?, ?, ?)", uses)
            self._drop_unused(connection, now)

        if entries:
            self._write(write)

    def _drop_unused(self, connection: sqlite3.Connection, now: float) -> None:
        gone = connection.execute(
            "SELECT key FROM uses WHERE hour < ?", (now - _UNUSED_HOURS,)
        ).fetchall()
        total = connection.execute("SELECT total(size) FROM uses").fetchone()[0]
        if total > self._limit:
            # Down to three quarters, so that not every run that follows has to drop something.
            for key, size in connection.execute("SELECT key, size FROM uses ORDER BY hour, key"):
                if total <= self._limit * 3 // 4:
                    break
                gone.append((key,))
                total -= size
        for table in ("entries", "uses"):
            connection.executemany(f"DELETE FROM {table} WHERE key = ?", gone)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        wait = _WAIT_AGAIN_SECONDS if self._waited else _WAIT_SECONDS
        connection = sqlite3.connect(self._file, timeout=wait, isolation_level=None)
        try:
            # A crash of the machine may leave a broken file: it is then found to be broken, and
            # made anew.
            connection.execute("PRAGMA synchronous = OFF")
            if connection.execute("PRAGMA user_version").fetchone()[0] not in (0, _FORMAT):
                raise sqlite3.DatabaseError("written in another format")
            yield connection
        finally:
            connection.close()

    def _write(self, action: Callable[[sqlite3.Connection], object]) -> None:
        """Do something in one transaction; nothing when the file cannot be written."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in _TABLES:
                    connection.execute(statement)
                action(connection)
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self._discard(error)

    def _discard(self, error: Exception) -> None:
        """Remove a file that is no sound data base; one that is only busy, read-only or without its
        tables stays.
        """
        if isinstance(error, sqlite3.OperationalError):
            self._waited |= "locked" in str(error)
        elif isinstance(error, sqlite3.DatabaseError):
            for name in (self._file, self._file.with_name(self._file.name + "-journal")):
                with contextlib.suppress(OSError):
                    name.unlink()


def _now() -> float:
    """Hours; the column takes fractions though it is declared to be of integers."""
    return time.time() / _HOUR_SECONDS


def _check(key: bytes, value: bytes) -> bytes:
    return hashlib.sha256(key + value).digest()[:_CHECK_BYTES]
