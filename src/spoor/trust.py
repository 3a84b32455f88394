"""What a crawl may use beyond its own folder and the public web: programs, servers, keys, proxies, private addresses,
folders. A person allows it, and what was allowed is recorded, by value, outside of all folders."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shlex
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from spoor.errors import BadInput, NotWritten, SpoorError
from spoor.files import as_toml
from spoor.result_files import replacing
from spoor.settings import SETTINGS, Config, translate_in
from spoor.storage_errors import not_written

POWERS = {
    "programs": "a program that is started",
    "servers": "a server that is sent texts of pages",
    "keys": "an environment variable that is sent as a key",
    "proxies": "a proxy that sees every request",
    "private_addresses": "requests to private addresses",
    "folders": "a folder in which files are written",
}
"""The kinds of `permits` in settings; in trusted.toml each has a list of allowed values."""
Key = tuple[str, str]
"""The section and the name of a setting."""
ALL_KEYS: Collection[Key] = frozenset((one.section, one.name) for one in SETTINGS)
VARIABLE = "SPOOR_TRUST"
"""Environment variable with the name of the file, instead of the usual one."""
_HEAD = """\
# What crawls may use on this machine: `spoor crawl` records here what its options and settings files name, and
# `spoor trust FOLDER` what a folder names. Delete a value to be asked again.
"""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Permission:
    """One use of one value. `key` is the setting that asks for it."""

    power: str
    value: str
    key: Key

    def __str__(self) -> str:
        section, name = self.key
        return f"[{section}] {name}: {POWERS[self.power]}, {as_toml(self.value)}"


def permissions_in(settings: Config) -> list[Permission]:
    """Everything that a crawl with these settings may use, also by a file that the name of a judge or of the strategy
    refers to."""
    found = [one for part in fields(Config) for one in _permitted(part.name, getattr(settings, part.name))]
    found += _by_names(("crawl", "strategy"), [settings.crawl.strategy])
    return found + _by_names(("target", "judge"), settings.target.judge)


def _permitted(name: str, section: Any) -> Iterator[Permission]:
    server = ""
    for one in fields(section):
        power, value = one.metadata["permits"], getattr(section, one.name)
        if not power or not value:
            continue
        if power == "servers":
            server = value
        if power != "keys":
            yield Permission(power, _as_text(power, value), (name, one.name))
        elif server:  # A key is allowed for one server: another one must not get it.
            yield Permission(power, f"{value} to {server}", (name, one.name))


def _as_text(power: str, value: object) -> str:
    """A path of a program is absolute: what a relative one means depends on the working directory."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return os.path.abspath(text) if power == "programs" and "/" in text else text


def _by_names(key: Key, names: Collection[str]) -> list[Permission]:
    found = []
    for setting in (part for name in names for part in name.split(":")):
        parameter, _, file = setting.partition("=")
        if parameter == "translator" and file:
            with contextlib.suppress(SpoorError):  # What cannot be read sends nothing.
                permitted = _permitted("translate", translate_in(Path(file)))
                found += [Permission(one.power, one.value, key) for one in permitted]
    return found


@dataclass(frozen=True)
class TrustFile:
    """What persons have allowed on this machine: trusted.toml."""

    path: Path

    @staticmethod
    def of(environment: Mapping[str, str]) -> TrustFile:
        if named := environment.get(VARIABLE):
            return TrustFile(Path(named))
        configured = Path(environment.get("XDG_CONFIG_HOME") or "")
        home = configured if configured.is_absolute() else Path(os.path.expanduser("~/.config"))
        return TrustFile(home / "spoor" / "trusted.toml")

    def allows(self, permission: Permission) -> bool:
        return permission.value in self._read().get(permission.power, ())

    def allow(self, permissions: Collection[Permission]) -> None:
        """Raises NotWritten if it cannot be recorded."""
        if all(map(self.allows, permissions)):
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _locked(self.path.parent):
                allowed = self._read()
                for one in permissions:
                    allowed[one.power] = tuple(dict.fromkeys([*allowed.get(one.power, ()), one.value]))
                self._write(allowed)
        except OSError as error:
            raise not_written(self.path, error) from None

    def _read(self) -> dict[str, tuple[str, ...]]:
        try:
            table = tomllib.loads(self.path.read_text("utf8"))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, ValueError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise BadInput(f"cannot read {self.path}: {reason}; correct it, or delete it") from None
        for power, values in table.items():
            if power not in POWERS or not isinstance(values, list) or not all(isinstance(one, str) for one in values):
                known = ", ".join(POWERS)
                raise BadInput(f"{self.path}: {power} is not one of {known} with a list of strings; correct it")
        return {power: tuple(values) for power, values in table.items()}

    def _write(self, allowed: Mapping[str, tuple[str, ...]]) -> None:
        lines = [f"{power} = {as_toml(allowed[power])}\n" for power in POWERS if power in allowed]
        with replacing(self.path.resolve(), durable=True) as partial:
            partial.touch(mode=0o600)
            partial.write_text("".join([_HEAD, *lines]), "utf8")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def admit(settings: Config, folder: Path, given: Collection[Key] = ()) -> None:
    """Records what the settings `given` by a person allow, and raises BadInput if any other setting asks for what
    nobody has allowed on this machine. To be called once, before anything is done with settings of a folder; who is
    handed the settings afterwards need not ask."""
    trusted, permissions = TrustFile.of(os.environ), permissions_in(settings)
    foreign = [one for one in permissions if one.key not in given and not trusted.allows(one)]
    if foreign:
        problem = f"{folder}: its crawl.toml asks for what nobody has allowed on this machine"
        remedy = f"if you know whose folder it is, allow it with `spoor trust {shlex.quote(str(folder))}`"
        raise BadInput(f"{problem}: {'; '.join(map(str, foreign))}; {remedy}")
    try:
        trusted.allow([one for one in permissions if one.key in given])
    except NotWritten as error:
        _log.warning("what this crawl may use is not recorded, so resuming it will need the same options: %s", error)
