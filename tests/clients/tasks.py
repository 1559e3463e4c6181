"""Tasks with FastMCP's client, and calls of the same tools by the official one without them, over HTTP and stdio."""

import asyncio
import os

import mcp
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from fastmcp_tasks import ToolTask, call_tool_task
from mcp import MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

URL, FIXTURE = os.environ["URL"], os.environ["FIXTURE"]


async def fails(call, code):
    try:
        await call
    except MCPError as error:
        assert error.code == code, error
        return
    raise AssertionError(f"the error {code} was expected")


# The official client has no tasks of its own: it rejects the response of a call with a task of 2025-11-25, although it
# has types for them, and leaves the extension to packages like FastMCP's.
async def without_tasks(server, mode):
    async with mcp.Client(server(), mode=mode) as client:
        result = await client.call_tool("slow_compute", {"seconds": 0.3})
        assert result.content[0].text == "computed after 0.3 s", result
        await fails(client.call_tool("only_as_a_task", {"ms": 1}), -32601 if mode == "legacy" else -32021)
        if mode == "legacy":
            tools = {tool.name: tool.execution for tool in (await client.list_tools()).tools}
            assert tools["greet"] is None and tools["slow_compute"].task_support == "optional", tools
            assert tools["failing_job"].task_support == "required", tools


# FastMCP's client runs calls as tasks with revisions of the extension only.
async def with_tasks(server, is_http):
    asked = []

    async def user(message, _response_type, _params, _context):
        asked.append(message)
        if "Delete" in message:
            return {"confirm": False}
        return {"name": "Ada" if "second" not in message else "Bob"}

    async with Client(server(), elicitation_handler=user) as client:
        # The client polls for the result, and a caller does not notice.
        result = await client.call_tool("slow_compute", {"seconds": 0.3, "label": "x"})
        assert result.data == "x after 0.3 s", result
        result = await client.call_tool("only_as_a_task", {"ms": 300})
        assert result.structured_content == 300, result
        result = await client.call_tool("failing_job", raise_on_error=False)
        assert result.is_error and result.content[0].text == "failing_job: the job has failed", result
        assert (await client.call_tool("confirm_delete", {"filename": "a.txt"})).data == "a.txt kept"
        assert (await client.call_tool("multi_input")).data == "Ada and Bob"
        assert (await client.call_tool("test_tool_with_task")).data == "Task completed for Ada"
        assert sorted(asked) == [
            "Delete a.txt?",
            "Please provide your name",
            "The first name?",
            "The second name?",
        ], asked
        try:
            await client.call_tool("protocol_error_job")
            raise AssertionError("the job has succeeded")
        except ToolError as error:
            assert "the client cannot do this" in str(error), error

        # A handle of the task.
        task = await call_tool_task(client, "confirm_delete", {"filename": "b.txt"})
        assert task.create_result.status == "working" and task.create_result.ttl_ms > 0, task.create_result
        waiting = await task.wait(state="input_required")
        requests = list(waiting.input_requests.values())
        assert [request["params"]["message"] for request in requests] == ["Delete b.txt?"], waiting
        assert (await task.result()).data == "b.txt kept"
        ended = await task.status()
        assert ended.status == "completed" and ended.result["structuredContent"] == "b.txt kept", ended
        task = await call_tool_task(client, "protocol_error_job")
        ended = await task.wait()
        assert ended.status == "failed" and ended.error["code"] == -32021, ended
        task = await call_tool_task(client, "only_as_a_task", {"ms": 60_000})
        await task.cancel()
        assert (await task.wait()).status == "cancelled"
        await task.cancel()
        task = await call_tool_task(client, "only_as_a_task", {"ms": 500})
        try:
            await call_tool_task(client, "greet", {"name": "x"})
            raise AssertionError("a quick call became a task")
        except ToolError as error:
            assert "did not run as a task" in str(error), error
    # A server over stdio ends with its connection, and so do its tasks.
    if is_http:
        async with Client(server()) as client:
            again = ToolTask(client, "only_as_a_task", task.create_result)
            assert (await again.result()).content[0].text == "500"


async def main():
    pipe = lambda: stdio_client(StdioServerParameters(command=FIXTURE, args=[]))
    await asyncio.gather(
        *(without_tasks(server, mode) for server in (lambda: URL, pipe) for mode in ("legacy", "2026-07-28")),
        with_tasks(lambda: URL, True),
        with_tasks(lambda: StdioTransport(command=FIXTURE, args=[]), False),
    )
    print("over HTTP and stdio")


asyncio.run(main())
