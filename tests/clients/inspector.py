"""The Inspector's command line: lists, judges, calls and loads the server in three eras, and over stdio."""

import json
import os
import subprocess
import sys

URL, FIXTURE, EXAMPLES = os.environ["URL"], os.environ["FIXTURE"], os.environ["EXAMPLES"]


def inspect(*arguments, exits=0):
    ran = subprocess.run(["node", sys.argv[1], "--cli", *arguments], capture_output=True, text=True)
    assert ran.returncode == exits, f"{arguments}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def over_http(era, *arguments, exits=0):
    return inspect(URL, "--transport", "http", "--protocol-era", era, *arguments, exits=exits)


def call(name, arguments):
    return "--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)


# What it warns of, and what is meant: values that may be absent, and arguments that are any JSON.
KNOWN = ("  Issue: `type` is an array ", "  Issue: Schema carries no validation keyword at all")


def strictly(*server):
    """Lists the tools of the examples, with no finding but those that are known."""
    ran = subprocess.run(
        ["node", sys.argv[1], "--cli", *server, "--method", "tools/list", "--strict"], capture_output=True, text=True
    )
    assert ran.returncode == 0, f"{server}: exit {ran.returncode}\n{ran.stderr}"
    tools = json.loads(ran.stdout)["tools"]
    assert len(tools) > 20 and all(tool["inputSchema"]["type"] == "object" for tool in tools), tools
    findings = [line for line in ran.stderr.splitlines() if line.startswith("  Issue: ")]
    unknown = [finding for finding in findings if not finding.startswith(KNOWN)]
    assert not unknown and "Error: " not in ran.stderr, ran.stderr


for era in ("legacy", "auto", "modern"):
    tools = json.loads(over_http(era, "--method", "tools/list"))["tools"]
    names = [tool["name"] for tool in tools]
    assert "math_add" in names and "test_simple_text" in names, names
    add = next(tool for tool in tools if tool["name"] == "math_add")
    assert add["_meta"]["rs.toolkit/tool"]["id"] == "math:add:1.0.0", add
    assert add["_meta"]["rs.toolkit/tool"]["tags"] == ["arithmetic"], add
    assert add["annotations"]["readOnlyHint"] is True, add
    assert add["outputSchema"]["type"] == "object", add

    result = json.loads(over_http(era, *call("math_add", {"a": 40, "b": 2})))
    assert result["structuredContent"] == {"sum": 42}, result
    assert json.loads(result["content"][0]["text"]) == {"sum": 42}, result

    # Every violation at once, in a result that the model reads.
    refused = over_http(era, *call("math_add", {"a": "x", "c": 1}), exits=5)
    text = json.loads(refused)["content"][0]["text"]
    assert "/a" in text and "/b" in text and "/c" in text, text

    resources = json.loads(over_http(era, "--method", "resources/list"))["resources"]
    assert "test://static-text" in [resource["uri"] for resource in resources], resources
    read = json.loads(over_http(era, "--method", "resources/read", "--uri", "test://static-binary"))
    assert read["contents"][0]["blob"], read

    prompts = json.loads(over_http(era, "--method", "prompts/list"))["prompts"]
    assert "code_review" in [prompt["name"] for prompt in prompts], prompts
    got = over_http(era, "--method", "prompts/get", "--prompt-name", "code_review", "--prompt-args", "code=a", "style=brief")
    assert json.loads(got)["messages"][0]["content"]["text"] == "a Some(Brief) None", got

    # It has no user to ask, so the call ends.
    over_http(era, *call("test_input_required_result_request_state", {}), exits=5 if era == "legacy" else 1)

    loaded = over_http(era, *call("math_add", {"a": 1, "b": 2}), "--load", "--load-requests", "200", "--load-concurrency", "8")
    assert loaded.strip(), "the load was measured"

for server in ([EXAMPLES, "serve"], [os.environ["EXAMPLES_URL"], "--transport", "http"]):
    strictly(*server)
result = json.loads(inspect(FIXTURE, *call("math_add", {"a": 40, "b": 2})))
assert result["structuredContent"] == {"sum": 42}, result
# What a tool prints does not break the messages, and what is not served is not there.
names = [tool["name"] for tool in json.loads(inspect(EXAMPLES, "serve", "--method", "tools/list"))["tools"]]
assert names, names
print("three eras over HTTP, and stdio")
