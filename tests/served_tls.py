"""The oracle as served in tests, over TLS: ``python -m tests.served_tls PORT CERTIFICATES KEY TOKEN``."""

from __future__ import annotations

import sys

import uvicorn

from conformance.serving.host import Host
from conformance.serving.http import application
from conformance.wire import bundle
from tests.served import ticking


def main(port: str, certificates: str, key: str, token: str) -> None:
    """Serve until a signal comes."""
    app = application(Host(ticking(), bundle.load()), token)
    uvicorn.run(app, port=int(port), ssl_certfile=certificates, ssl_keyfile=key, lifespan="off")


if __name__ == "__main__":
    main(*sys.argv[1:])
