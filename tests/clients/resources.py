"""The official Python client reads what the tools of the examples link to, through two proxies, in each mode."""

import asyncio
import base64
import hashlib
import json
import os
import tempfile
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

FIXTURE, EXAMPLES = os.environ["FIXTURE"], os.environ["EXAMPLES"]
LEGACY = -32002
FILES = {
    "notes/a b.txt": ("files_read_file", {"max_lines": 1}, b"one\ntwo\nthree\n"),
    "pictures/é.png": ("files_view_picture", {}, b"\x89PNG\r\n\x1a\nand more"),
}


def behind_a_proxy(folder, name, server):
    """Writes the configuration of a proxy of a server and returns the proxy as a server."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"mcpServers": {name: server}}))
    return {"command": FIXTURE, "args": ["serve", "--proxy", str(path), "--proxy-wait", "60s"]}


def sha256(contents):
    body = contents.text.encode() if hasattr(contents, "text") else base64.b64decode(contents.blob)
    return hashlib.sha256(body).hexdigest()


async def reads(server, mode):
    pipe = stdio_client(StdioServerParameters(command=server["command"], args=server["args"]))
    async with Client(pipe, mode=mode) as client:
        for path, (tool, arguments, expected) in FILES.items():
            result = await client.call_tool(f"inner_leaf_{tool}", {"path": path, **arguments})
            links = [block for block in result.content if block.type == "resource_link"]
            assert len(links) == 1 and str(links[0].uri).startswith("proxy:inner/proxy:leaf/root:///"), result
            read = await client.read_resource(str(links[0].uri))
            assert sha256(read.contents[0]) == hashlib.sha256(expected).hexdigest(), read
            assert str(read.contents[0].uri) == str(links[0].uri), read
        templates = (await client.list_resource_templates()).resource_templates
        assert "proxy:inner/proxy:leaf/root:///{+path}" in [template.uri_template for template in templates], templates
        for path in ("../secret", "%2e%2e/secret", "etc/../../secret", "link"):
            for uri in (f"proxy:inner/proxy:leaf/root:///{path}", f"proxy:inner/root:///{path}", f"root:///{path}"):
                try:
                    raise AssertionError(await client.read_resource(uri))
                except MCPError as error:
                    assert error.code == (LEGACY if mode == "legacy" else -32602), error


async def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        root = folder / "root"
        for path, (_, _, content) in FILES.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        (folder / "secret").write_text("secret")
        (root / "link").symlink_to(folder / "secret")
        leaf = {"command": EXAMPLES, "args": ["serve"], "env": {"EXAMPLES_ROOT": str(root)}}
        outer = behind_a_proxy(folder, "inner", behind_a_proxy(folder, "leaf", leaf))
        for mode in ("legacy", "auto", "2026-07-28"):
            await reads(outer, mode)
    print("each link is readable through two proxies, in 3 modes")


asyncio.run(main())
