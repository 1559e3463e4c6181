"""fastmcp: its command line, and its client for prompts, resources and questions, over HTTP and stdio."""

import asyncio
import json
import os
import subprocess
from dataclasses import dataclass

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport

URL, FIXTURE = os.environ["URL"], os.environ["FIXTURE"]


def fastmcp(*arguments, exits=0):
    ran = subprocess.run(["fastmcp", *arguments], capture_output=True, text=True)
    assert ran.returncode == exits, f"{arguments}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


for server in ([URL], ["--command", FIXTURE]):
    tools = json.loads(fastmcp("list", *server, "--json"))["tools"]
    assert "math_add" in [tool["name"] for tool in tools], tools
result = json.loads(fastmcp("call", URL, "math_add", "a=40", "b=2", "--json"))
assert result["structured_content"] == {"sum": 42}, result
fastmcp("call", URL, "math_add", "a=x", "--json", exits=1)


@dataclass
class Confirmation:
    ok: bool


async def resources(server):
    async with Client(server()) as client:
        prompts = {prompt.name: prompt for prompt in await client.list_prompts()}
        assert prompts["code_review"].arguments[0].required, prompts
        got = await client.get_prompt("code_review", {"code": "a", "rounds": 2})
        assert got.messages[0].content.text == "a None Some(2)", got
        completion = await client.complete({"type": "ref/prompt", "name": "code_review"}, {"name": "style", "value": "b"})
        assert completion.values == ["brief"], completion
        listed = [str(resource.uri) for resource in await client.list_resources()]
        assert "test://static-text" in listed and "test://static-binary" in listed, listed
        assert (await client.read_resource("test://static-text"))[0].text, listed
        assert (await client.read_resource("test://static-binary"))[0].blob, listed
        filled = await client.read_resource("test://template/7/data")
        assert "7" in filled[0].text, filled
        try:
            raise AssertionError(await client.read_resource("test://nothing"))
        except Exception as error:
            assert "no resource has the URI `test://nothing`" in str(error), error


async def questions(server):
    for answer, expected in [
        (lambda: Confirmation(ok=True), "state-ok: true"),
        (lambda: ElicitResult(action="decline"), "the user declined"),
        (lambda: ElicitResult(action="cancel"), "the user closed the question"),
    ]:

        async def user(message, _type, _params, _context):
            assert message == "Please confirm", message
            return answer()

        async with Client(server(), elicitation_handler=user) as client:
            result = await client.call_tool("test_input_required_result_request_state", raise_on_error=False)
            assert expected in result.content[0].text, result


async def main():
    # A transport that is used again would keep the capabilities of its first client.
    for server in (lambda: URL, lambda: StdioTransport(FIXTURE, [])):
        await resources(server)
        await questions(server)


asyncio.run(main())
print("over HTTP and stdio, with resources and questions")
