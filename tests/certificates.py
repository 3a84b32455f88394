"""An authority that nobody knows but who is told, and certificates by it, made by the openssl command."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

_CONFIG = """
[ca]
default_ca = own
[own]
dir = {folder}
database = {folder}/index.txt
serial = {folder}/serial
new_certs_dir = {folder}
private_key = {folder}/ca.key
certificate = {folder}/ca.pem
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""
SOON_AGO, FAR_AHEAD, FARTHER = "20200101000000Z", "20450101000000Z", "20460101000000Z"


@dataclass(frozen=True)
class Authority:
    """`file` is its own certificate, as for SSL_CERT_FILE."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "ca.pem"

    @staticmethod
    def made(folder: Path) -> Authority:
        if shutil.which("openssl") is None:
            pytest.skip("no openssl here to make certificates with")
        (folder / "ca.conf").write_text(_CONFIG.format(folder=folder))
        (folder / "index.txt").touch()
        (folder / "serial").write_text("01\n")
        key, own = folder / "ca.key", folder / "ca.pem"
        words = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -keyout {key} -out {own}"
        _openssl(*words.split(), "-subj", "/CN=an authority", "-addext", "keyUsage=keyCertSign")
        return Authority(folder)

    def server(
        self,
        name: str,
        address: str,
        since: str = SOON_AGO,
        until: str = FAR_AHEAD,
        into: ssl.SSLContext | None = None,
    ) -> ssl.SSLContext:
        """For a server at this IP address; the certificate is valid `since` and `until`. `into`: what the server uses
        already."""
        key, request, own, more = (self.folder / f"{name}.{kind}" for kind in ("key", "csr", "pem", "ext"))
        more.write_text(f"subjectAltName=IP:{address}")
        words = f"req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name} -keyout {key} -out {request}"
        _openssl(*words.split())
        words = f"ca -batch -notext -config {self.folder / 'ca.conf'} -in {request} -out {own} -extfile {more}"
        _openssl(*words.split(), "-startdate", since, "-enddate", until)
        context = into or ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(own, key)
        return context


def _openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)
