"""The programs that read what `install` and `bundle` write."""

import json
import os
import subprocess

import mcp
from mcp.client.stdio import StdioServerParameters, stdio_client

READERS = os.environ["READERS"]


def run(*command, **options):
    """Runs a command, and returns its output."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout


def node(script, *arguments):
    """Runs a script, which prints JSON."""
    return json.loads(run("node", f"{READERS}/{script}", *arguments))


async def tools(command, arguments, environment):
    """Starts a server with the official client, and returns the names of its tools."""
    server = StdioServerParameters(command=command, args=arguments, env=environment)
    async with mcp.Client(stdio_client(server)) as client:
        return {tool.name for tool in (await client.list_tools()).tools}
