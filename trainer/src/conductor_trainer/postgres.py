"""A PostgreSQL database that `PostgresStore` of the TypeScript side writes to at the same time."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

# That of the tables, see `postgres-schema.ts`.
_VERSION = 2

_URL = re.compile(r"postgres(?:ql)?://[^/?#]*/[^/?#]+(?:\?[^#]*)?")
_PASSWORD = re.compile(r"//[^:/?@]*:.*@")
_HOST = re.compile(r"[\w.-]+|[\da-f:.]+|/.+", re.ASCII | re.IGNORECASE)
_THIS_MACHINE = re.compile(r"/.*|localhost|127(\.\d{1,3}){3}|::1", re.ASCII)

# As `store-url.ts` has them.
_OPTIONS = {
    "schema": re.compile(r"[a-z_][a-z0-9_]{0,62}"),
    "host": re.compile(r"/.+"),
    "sslmode": re.compile(r"disable|require|verify-ca|verify-full"),
    "sslrootcert": re.compile(r".+"),
    "sslcert": re.compile(r".+"),
    "sslkey": re.compile(r".+"),
}

# Asked by key alone: one who is silent for longer is gone.
_LIMITS = {
    "connect_timeout": 30,
    "keepalives_idle": 30,
    "tcp_user_timeout": 60_000,
    "fallback_application_name": "temporal-conductor-trainer",
}

_MIGRATE = 'run "temporal-conductor store migrate"'

# By code, the first that fits: https://www.postgresql.org/docs/current/errcodes-appendix.html.
# A connection that could not be made has none.
_REMEDIES = (
    (r"42P01|3F000", f"it has no schema yet: {_MIGRATE}"),
    (r"42501", "grant this user what docs/store.md names"),
    (r"", "check PGPASSWORD or ~/.pgpass, the user, host and port in --store, and its server"),
)


@dataclass(frozen=True)
class PostgresPlace:
    """Where a store lies; how to get in comes from libpq's own environment and files as well."""

    url: str
    connection: str
    schema: str

    def read(self, key: str) -> tuple[bytes, datetime] | None:
        """What lies under a key, and when it was written. An error that leaves is a sentence."""
        with self._open("read") as database:
            query = f'SELECT bytes, modified FROM "{self.schema}".entries WHERE key = %s'
            return database.execute(query, (key,), binary=True).fetchone()

    def modified_at(self, key: str) -> datetime | None:
        """The same, without reading it."""
        with self._open("read") as database:
            query = f'SELECT modified FROM "{self.schema}".entries WHERE key = %s'
            found = database.execute(query, (key,)).fetchone()
            return None if found is None else found[0]

    def write(self, key: str, content: bytes) -> None:
        """Replaces what lies there."""
        self._insert(
            key, content, "UPDATE SET modified = excluded.modified, bytes = excluded.bytes"
        )

    def create(self, key: str, content: bytes) -> bool:
        """True where nothing had been there."""
        return self._insert(key, content, "NOTHING")

    def _insert(self, key: str, content: bytes, on_conflict: str) -> bool:
        with self._open("written") as database:
            query = (
                f'INSERT INTO "{self.schema}".entries (key, modified, bytes) '
                f"VALUES (%s, clock_timestamp(), %s) ON CONFLICT (key) DO {on_conflict}"
            )
            return database.execute(query, (key, content)).rowcount == 1

    @contextmanager
    def _open(self, what: str) -> Iterator[Any]:
        """A connection for each call: there are a few in a cycle."""
        psycopg = _import_psycopg()
        try:
            limits = {**_LIMITS, **self._password_rule(psycopg)}
            with closing(psycopg.connect(self.connection, autocommit=True, **limits)) as database:
                self._check_version(database)
                yield database
        except psycopg.Error as error:
            code = error.sqlstate or ""
            remedy = next(remedy for fits, remedy in _REMEDIES if re.match(fits, code))
            reason = " ".join(str(error).split())
            raise RuntimeError(f"{self.url} cannot be {what} ({reason}): {remedy}") from error

    def _password_rule(self, psycopg: Any) -> dict[str, str]:
        """Without TLS, no password is sent in the clear; libpq knows how to refuse since 16."""
        is_clear = "sslmode=disable" in self.connection
        return {"require_auth": "!password"} if is_clear and psycopg.pq.version() >= 160000 else {}

    def _check_version(self, database: Any) -> None:
        found = database.execute(f'SELECT version FROM "{self.schema}".version').fetchone()
        version = found[0] if found else 0
        if version > _VERSION:
            raise RuntimeError(
                f"{self.url} was migrated by a newer version (its tables are of version {version}, "
                f"and this trainer knows {_VERSION}): update the trainer"
            )


def read_postgres_url(url: str) -> PostgresPlace | None:
    """Reads `postgres://[USER@]HOST[:PORT]/DATABASE[?schema=NAME&sslmode=MODE…]`.

    None for anything else. Raises `ValueError` where there is a password in it.
    """
    if not re.match(r"postgres(?:ql)?:", url):
        return None
    if _PASSWORD.search(url):
        raise ValueError(
            "a password does not belong into --store, where all users of this machine can see it: "
            "leave it out, and set PGPASSWORD"
        )
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    fits = all(name in _OPTIONS and _OPTIONS[name].fullmatch(options[name]) for name in options)
    if not (_URL.fullmatch(url) and fits):
        return None
    host = options.get("host", parts.hostname or "")
    if not _HOST.fullmatch(host):
        return None
    schema = options.pop("schema", "conductor")
    has_files = any(name in options for name in ("sslrootcert", "sslcert", "sslkey"))
    is_here = _THIS_MACHINE.fullmatch(host) and not has_files
    # Always named: libpq takes PGSSLMODE else, and its own default may send texts unencrypted.
    options.setdefault("sslmode", "disable" if is_here else "verify-full")
    if options["sslmode"] == "verify-full" and "sslrootcert" not in options:
        # The authorities that Node knows: libpq by itself knows none.
        options["sslrootcert"] = _import_psycopg("certifi").where()
    return PostgresPlace(url, parts._replace(query=urlencode(options)).geturl(), schema)


def _import_psycopg(name: str = "psycopg") -> Any:
    """The modules that the extra installs."""
    try:
        return __import__(name)
    except ImportError as error:
        raise RuntimeError(
            "a store in PostgreSQL needs psycopg: install the trainer as "
            f'"temporal-conductor-trainer[postgres]" ({error})'
        ) from error
