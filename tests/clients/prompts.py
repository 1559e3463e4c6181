"""The official Python client lists, gets and completes prompts, of the server and through a proxy, in each mode."""

import asyncio
import json
import os
import tempfile
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

URL, FIXTURE = os.environ["URL"], os.environ["FIXTURE"]


def pipe(*arguments):
    return stdio_client(StdioServerParameters(command=FIXTURE, args=list(arguments)))


async def uses(server, mode, prefix):
    async with Client(server, mode=mode) as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        review = prompts[prefix + "code_review"]
        assert review.title == "Review a change" and review.description == "Reviews a change.", review
        names = [(argument.name, argument.required) for argument in review.arguments]
        assert names == [("code", True), ("style", False), ("rounds", False)], names
        assert review.arguments[0].description == "The code to review.", review

        got = await client.get_prompt(review.name, {"code": "a + b", "style": "thorough", "rounds": "2"})
        assert [message.role for message in got.messages] == ["user", "assistant"], got
        assert got.messages[0].content.text == "a + b Some(Thorough) Some(2)", got
        try:
            raise AssertionError(await client.get_prompt(review.name, {"code": "a", "style": "long", "rounds": "two"}))
        except MCPError as error:
            assert error.code == -32602, error
            for part in ("/style must be one of", "/rounds must be an integer"):
                assert part in error.message, error
        for name, kinds in (("test_prompt_with_image", ["image", "text"]), ("test_simple_prompt", ["text"])):
            got = await client.get_prompt(prefix + name)
            assert [message.content.type for message in got.messages] == kinds, got

        reference = types.PromptReference(type="ref/prompt", name=review.name)
        completed = await client.complete(reference, {"name": "style", "value": "th"})
        assert completed.completion.values == ["thorough"], completed
        assert completed.completion.total == 1 and not completed.completion.has_more, completed


async def main():
    with tempfile.TemporaryDirectory() as folder:
        proxy = Path(folder) / "proxy.json"
        proxy.write_text(json.dumps({"mcpServers": {"inner": {"command": FIXTURE, "args": []}}}))
        for mode in ("legacy", "auto", "2026-07-28"):
            await uses(URL, mode, "")
            await uses(pipe(), mode, "")
            await uses(pipe("serve", "--proxy", str(proxy), "--proxy-wait", "60s"), mode, "inner_")
    print("three modes, over HTTP, stdio and through a proxy")


asyncio.run(main())
