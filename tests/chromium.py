"""A real browser for tests: Chromium without a window, told what to do over the DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

CHROMIUM = shutil.which("chromium") or ""
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
PATIENCE = 60.0
"""Seconds, on a machine that is busy."""
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed (Debian: apt-get install chromium)")


class Tab:
    """A page of the browser. `said` are messages of its console and errors of its scripts."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._last = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.said: list[str] = []

    async def listen(self) -> None:
        async for message in self._socket:
            content = json.loads(message.data)
            if "id" in content:
                self._answers.pop(content["id"]).set_result(content)
            elif content["method"] in ("Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"):
                self.said.append(json.dumps(content["params"]))

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._last += 1
        answer = self._answers[self._last] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": self._last, "method": method, "params": parameters})
        async with asyncio.timeout(PATIENCE):
            content = await answer
        assert "error" not in content, f"{method}: {content}"
        result: dict[str, Any] = content["result"]
        return result

    async def run(self, script: str) -> Any:
        """The value of an expression, awaited."""
        done = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def until(self, script: str) -> Any:
        """Waits until an expression is true, whatever it throws before."""
        value, until = None, time.monotonic() + PATIENCE
        while not value:
            shown = time.monotonic() < until or await self.run("document.body.innerText")
            assert shown is True, f"never true: {script}; the page says {shown}; {self.said}"
            await asyncio.sleep(0.05)
            value = await self.run(f"(() => {{ try {{ return {script} }} catch {{ return null }} }})()")
        return value

    async def look(self, width: int, height: int = 900, scheme: str = "light") -> None:
        """As a screen of this size, in light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        await self.call("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        await self.call("Emulation.setEmulatedMedia", features=[feature])

    async def photograph(self, file: Path, whole: bool = True) -> None:
        taken = await self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(taken["data"]))


@contextlib.asynccontextmanager
async def tab(profile: Path) -> AsyncIterator[Tab]:
    """A browser with one page; both end with the block."""
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *QUIET,
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        port = await _port(profile / "DevToolsActivePort")
        async with aiohttp.ClientSession() as client:
            async with client.get(f"http://127.0.0.1:{port}/json/list") as answer:
                (page,) = [one for one in await answer.json() if one["type"] == "page"]
            async with client.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=1 << 28) as socket:
                opened = Tab(socket)
                listening = asyncio.create_task(opened.listen())
                for domain in ("Page", "Runtime", "Log"):
                    await opened.call(f"{domain}.enable")
                yield opened
                listening.cancel()
    finally:
        process.kill()
        await process.wait()


async def _port(file: Path) -> str:
    async with asyncio.timeout(PATIENCE):
        while not (file.exists() and "\n" in file.read_text()):
            await asyncio.sleep(0.05)
    return file.read_text().split()[0]
