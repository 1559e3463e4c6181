"""The official Python client, over HTTP and stdio, in each of its modes."""

import asyncio
import os

from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

URL, FIXTURE = os.environ["URL"], os.environ["FIXTURE"]
VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


def pipe():
    return stdio_client(StdioServerParameters(command=FIXTURE, args=[]))


async def content(client, version):
    assert client.protocol_version == version, client.protocol_version
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools["math_add"].annotations.read_only_hint is True
    result = await client.call_tool("math_add", {"a": 40, "b": 2})
    assert result.structured_content == {"sum": 42} and not result.is_error, result
    kinds = [block.type for block in (await client.call_tool("test_multiple_content_types")).content]
    assert kinds == ["text", "image", "resource"], kinds
    assert (await client.call_tool("test_audio_content")).content[0].mime_type == "audio/wav"
    assert (await client.call_tool("test_resource_link")).content[0].type == "resource_link"

    # The parameters that the schema marks are repeated in headers, and checked there.
    rows = await client.call_tool("test_x_mcp_header", {"region": "Zürich ", "limit": 3})
    assert rows.content[0].text == "3 rows from Zürich ", rows

    refused = await client.call_tool("math_add", {"a": "x", "c": 1})
    text = refused.content[0].text
    assert refused.is_error and "/a" in text and "/b" in text and "/c" in text, text
    for name in ("test_internal_error", "test_panic"):
        failed = await client.call_tool(name)
        assert failed.is_error and "hunter2" not in failed.content[0].text, failed
    try:
        await client.call_tool("no_such_tool")
        raise AssertionError("an unknown tool was called")
    except MCPError as error:
        assert error.code == -32602, error

    reports = []

    async def report(progress, total, message):
        reports.append((progress, total, message))

    await client.call_tool("test_tool_with_progress", progress_callback=report)
    await asyncio.sleep(0.1)
    assert [progress for progress, _, _ in reports] == [0, 50, 100], reports
    many = await asyncio.gather(*(client.call_tool("math_add", {"a": n, "b": 1}) for n in range(50)))
    assert [result.structured_content["sum"] for result in many] == list(range(1, 51))
    slow = asyncio.ensure_future(client.call_tool("sleep", {"ms": 60_000}))
    await asyncio.sleep(0.1)
    slow.cancel()
    assert (await client.call_tool("math_add", {"a": 1, "b": 1})).structured_content == {"sum": 2}


ANSWERS = [
    ({"action": "accept", "content": {"ok": True}}, "state-ok: true", False),
    ({"action": "accept", "content": {"ok": "maybe"}}, "3 times with invalid values", True),
    ({"action": "decline"}, "the user declined", True),
    ({"action": "cancel"}, "the user closed the question", True),
]


async def questions(server, mode):
    """The same outcomes, whether the call waits for the answer or is repeated with it."""
    asked = []
    for answer, expected, is_error in ANSWERS:

        async def user(_context, params):
            asked.append(params)
            return types.ElicitResult(**answer)

        async with Client(server(), mode=mode, elicitation_callback=user) as client:
            result = await client.call_tool("test_input_required_result_request_state")
            text = result.content[0].text
            assert expected in text and bool(result.is_error) == is_error, (mode, answer, text)
    assert asked[0].message == "Please confirm" and asked[0].requested_schema["required"] == ["ok"], asked[0]
    assert len(asked) == 6, len(asked)

    async def in_rounds(_context, params):
        field = "name" if "name" in params.message else "color"
        return types.ElicitResult(action="accept", content={field: field.upper()})

    async with Client(server(), mode=mode, elicitation_callback=in_rounds) as client:
        result = await client.call_tool("test_input_required_result_multi_round")
        assert result.content[0].text == "NAME likes COLOR", result

    async def opened(_context, params):
        assert params.mode == "url" and params.url == "https://example.com/connect", params
        return types.ElicitResult(action="accept")

    async with Client(server(), mode=mode, elicitation_callback=opened) as client:
        assert (await client.call_tool("test_url")).content[0].text == "opened"

    # A client without a callback declares nothing, and is not asked.
    async with Client(server(), mode=mode) as client:
        assert (await client.call_tool("test_url")).content[0].text == "unsupported"
        try:
            result = await client.call_tool("test_input_required_result_request_state")
            assert mode == "legacy" and result.is_error and "cannot show a form" in result.content[0].text, result
        except MCPError as error:
            assert mode != "legacy" and error.code == -32021, error


async def main():
    for mode, version in VERSIONS.items():
        for server in (lambda: URL, pipe):
            async with Client(server(), mode=mode) as client:
                await content(client, version)
            await questions(server, mode)
    print(f"{len(VERSIONS)} modes, over HTTP and stdio")


asyncio.run(main())
