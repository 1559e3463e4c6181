"""A server of FastMCP over stdio, whose tools run as tasks of the extension `io.modelcontextprotocol/tasks`."""

import asyncio
import os

import mcp_types
from fastmcp import Context, FastMCP
from fastmcp.dependencies import Progress
from fastmcp.exceptions import ToolError
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension

mcp = FastMCP("tasks")
mcp.add_extension(TasksExtension(url="memory://"))


@mcp.tool(task=True)
async def add(a: int, b: int, progress: Progress = Progress()) -> int:
    """Adds two numbers slowly."""
    await progress.set_message("adding")
    await asyncio.sleep(1)
    return a + b


@mcp.tool(task=TaskConfig(mode="required"))
async def fail() -> str:
    """Fails."""
    raise ToolError("there is no answer")


@mcp.tool(task=True)
async def hang(progress: Progress = Progress()) -> str:
    """Runs for an hour."""
    await progress.set_message("hanging")
    await asyncio.sleep(3600)
    return "done"


@mcp.tool
async def crash() -> None:
    """Ends the process."""
    os._exit(3)


@mcp.tool(task=TaskConfig(mode="required"))
async def greet(ctx: Context) -> str | mcp_types.InputRequiredResult:
    """Greets the user by name."""
    if ctx.input_responses is None:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        params = mcp_types.ElicitRequestFormParams(message="Who are you?", requested_schema=schema)
        return mcp_types.InputRequiredResult(input_requests={"who": mcp_types.ElicitRequest(params=params)})
    return f"Hello, {ctx.input_responses['who'].content['name']}"


mcp.run(show_banner=False)
