"""The door: `streamlit run app.py`. It warms up, sets the security headers and hands over to pages/frame.py."""

import gc
import os
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

POLICY = "; ".join((
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'",  # Streamlit's page and Plotly need both
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",  # nothing from other hosts, whatever a shared link holds
    "font-src 'self' data:",
    "connect-src 'self' ws: wss:",
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'self'",
    f"frame-ancestors {os.environ.get('GLASSBOX_FRAME_ANCESTORS', chr(39) + 'self' + chr(39))}",
))
HEADERS = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"same-origin"),
           (b"content-security-policy", POLICY.encode("ascii", "ignore"))]


class SecurityHeaders:
    """Adds the security headers to every answer."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def send_with_headers(message):
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


@asynccontextmanager
async def warm_start(_app):
    """Import and draw once what the first visitor would otherwise wait for, then keep it out of garbage collection."""
    import numpy as np
    import plotly.io
    from threadpoolctl import threadpool_limits

    from core import attention
    from pages.shared import charts, examples, slow

    threadpool_limits(1, user_api="blas")  # small matrices run faster on one thread, and the other cores stay free for other visitors
    for example in examples.EXAMPLES.values():
        example()
    warm = attention.attend(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)))
    plotly.io.to_json(charts.heatmap(warm.pattern, ["a", "b"], ["a", "b"], title="").to_dict(), validate=False)
    slow.warm()
    gc.collect()
    gc.freeze()
    yield {}


app = st.App("pages/frame.py", lifespan=warm_start, middleware=[Middleware(SecurityHeaders)])
