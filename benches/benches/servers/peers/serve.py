"""A server of one tool, by one of Python's libraries: `serve.py lowlevel|mcpserver|fastmcp|fastmcp-proxy http|pipe`.

Over HTTP it prints its address, and answers with JSON and without sessions, like all that it is measured beside.
"""

import os
import socket
import sys

from typing_extensions import TypedDict


class Sum(TypedDict):
    sum: int


def add(a: int, b: int) -> Sum:
    """Adds two integers."""
    return {"sum": a + b}


def lowlevel():
    """The official SDK's lower layer: its own checks of the protocol, and nothing for the arguments."""
    import anyio
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}

    async def list_tools(_context, _params):
        return types.ListToolsResult(tools=[types.Tool(name="add", input_schema=schema)])

    async def call_tool(_context, params):
        result = add(**params.arguments)
        text = types.TextContent(type="text", text=f'{{"sum":{result["sum"]}}}')
        return types.CallToolResult(content=[text], structured_content=result)

    server = Server("bench", on_list_tools=list_tools, on_call_tool=call_tool)

    async def pipe():
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    return (lambda: server.streamable_http_app(json_response=True, stateless_http=True)), (lambda: anyio.run(pipe))


def mcpserver():
    """The official SDK's upper layer, which checks arguments and results by pydantic."""
    from mcp.server import MCPServer

    server = MCPServer("bench", log_level="WARNING")
    server.tool()(add)
    return (lambda: server.streamable_http_app(json_response=True, stateless_http=True)), server.run


def fastmcp():
    """fastmcp, which does too."""
    from fastmcp import FastMCP

    server = FastMCP("bench")
    server.tool(add)
    app = lambda: server.http_app(json_response=True, stateless_http=True)
    return app, lambda: server.run(transport="stdio", show_banner=False, log_level="WARNING")


def fastmcp_proxy():
    """A proxy of fastmcp, in front of the server of the program that starts this one."""
    from fastmcp.server import create_proxy

    server = {"command": os.environ["TOOLKIT_SERVERS"], "args": ["serve", "toolkit", "pipe", "add"]}
    proxy = create_proxy({"mcpServers": {"bench": server}})
    return None, lambda: proxy.run(transport="stdio", show_banner=False, log_level="WARNING")


servers = {"lowlevel": lowlevel, "mcpserver": mcpserver, "fastmcp": fastmcp, "fastmcp-proxy": fastmcp_proxy}
app, pipe = servers[sys.argv[1]]()
if sys.argv[2] == "pipe":
    pipe()
else:
    import uvicorn

    # With the protocol named, as asyncio would make it: it turns Nagle's algorithm off only then.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    host, port = listener.getsockname()
    print(f"{host}:{port}", flush=True)
    uvicorn.Server(uvicorn.Config(app(), log_level="warning", access_log=False)).run(sockets=[listener])
