"""By which certificates of authorities (CA) https servers are recognised, and whether this machine has any."""

from __future__ import annotations

import os
import re
import ssl
from functools import cache

_NAMED_BY_HASH = re.compile(r"[0-9a-f]{8}\.[0-9]+")
"""The names under which OpenSSL looks up certificates in a folder, when it needs them."""


def verifying_context() -> ssl.SSLContext:
    """For connections to servers; by the CA store of this machine, or of SSL_CERT_FILE and SSL_CERT_DIR."""
    return _context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _context(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Loading the store takes some 20 ms. The parameters are those of OpenSSL, which reads them by itself."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def missing_store() -> str:
    """Why no https server can be recognised, with the remedy; "" if there are certificates of authorities."""
    paths = ssl.get_default_verify_paths()
    if verifying_context().cert_store_stats()["x509_ca"] or _has_certificates(paths.capath):
        return ""
    named = [f"{name}={os.environ[name]}" for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ]
    where = ", ".join(named) or f"{paths.openssl_cafile}, {paths.openssl_capath}"
    remedy = "install ca-certificates, or set SSL_CERT_FILE to a file of them"
    return f"no CA certificates are found ({where}), so no https page can be fetched: {remedy}"


def _has_certificates(folder: str | None) -> bool:
    try:
        return folder is not None and any(_NAMED_BY_HASH.fullmatch(name) for name in os.listdir(folder))
    except OSError:
        return False
