"""Programs of models (`run_code`) by the Inspector and the official Python client: calls, progress, cancellation, and
questions, also between two servers that share a key."""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

from mcp import Client

FIXTURE, INSPECTOR, MCPDO = os.environ["FIXTURE"], sys.argv[1], sys.argv[2]
ADD = "const { sum } = await tools.math.add({ a: 40, b: 2 })\nreturn sum"
ASK = "return await tools.test_input_required_result_request_state()"
WORKER = "--toolkit-code-worker"


class Server:
    def __init__(self):
        environment = {**os.environ, "SERVE_STATE_KEYS": "k" * 32}
        command = [FIXTURE, "serve", "--code", "--http", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        self.url = re.search(r"http://\S+", self.process.stderr.readline())[0]

    def workers(self):
        """Returns the ids of the processes in which programs of this server run."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline") as arguments, open(f"/proc/{pid}/stat") as stat:
                    parent = stat.read().rsplit(")", 1)[1].split()[1]
                    if int(parent) == self.process.pid and WORKER in arguments.read():
                        found.append(pid)
            except OSError:
                pass
        return found


def node(*command):
    ran = subprocess.run(["node", *command], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, f"{command}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return json.loads(ran.stdout)


def inspector(server):
    """Lists and calls the tool in each era."""
    for era in ("legacy", "auto", "modern"):
        options = ["--cli", server.url, "--transport", "http", "--protocol-era", era]
        tools = {tool["name"]: tool for tool in node(INSPECTOR, *options, "--method", "tools/list")["tools"]}
        assert "tools.NAMESPACE.NAME" in tools["run_code"]["description"], tools["run_code"]
        arguments = json.dumps({"code": ADD})
        call = ["--method", "tools/call", "--tool-name", "run_code", "--tool-args-json", arguments]
        assert node(INSPECTOR, *options, *call)["structuredContent"] == {"value": 42}


def questions(server):
    """A program waits for an answer of the user, whom one of its calls asks."""
    for era in ("legacy", "modern"):
        options = ["--format", "json", "--connection", f"programs-{era}"]
        node(MCPDO, *options, "connect", server.url, "--transport", "http", "--era", era)
        call = ["tools/call", "run_code", "--tool-args-json", json.dumps({"code": ASK})]
        asked = node(MCPDO, *options, *call)["elicitationPending"]
        assert asked["message"] == "Please confirm", asked
        result = node(MCPDO, *options, "elicitation/respond", asked["elicitationId"], "ok:=true")
        assert "state-ok: true" in json.dumps(result["structuredContent"]), result


def request(server, **params):
    """Sends one request of revision 2026-07-28, which has no sessions."""
    params["_meta"] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    }
    params.update(name="run_code", arguments={"code": ASK})
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "run_code",
    }
    sent = urllib.request.Request(server.url, json.dumps(message).encode(), headers)
    with urllib.request.urlopen(sent) as response:
        lines = [line.removeprefix("data: ") for line in response.read().decode().splitlines()]
    return json.loads([line for line in lines if line.startswith("{")][-1])["result"]


def moves(first, second):
    """A program begins on one server, whose process ends, and continues on another."""
    asked = request(first)
    assert asked["resultType"] == "input_required", asked
    began = time.monotonic()
    while first.workers():
        assert time.monotonic() - began < 30, "a worker waits for the user"
        time.sleep(0.01)
    first.process.kill()
    [key] = asked["inputRequests"]
    answers = {key: {"action": "accept", "content": {"ok": True}}}
    result = request(second, inputResponses=answers, requestState=asked["requestState"])
    assert "state-ok: true" in json.dumps(result["structuredContent"]), result


async def python_client(server):
    for mode in ("legacy", "auto"):
        async with Client(server.url, mode=mode) as client:
            reports = []

            async def report(progress, total, message):
                reports.append(progress)

            code = "for (let n = 0; n < 3; n++) await tools.math.add({ a: n, b: 1 })\nreturn 'done'"
            result = await client.call_tool("run_code", {"code": code}, progress_callback=report)
            assert result.structured_content == {"value": "done"}, result
            await asyncio.sleep(0.1)
            assert reports == sorted(reports) and len(reports) >= 3, reports

            failed = await client.call_tool("run_code", {"code": "await tools.math.ad({})"})
            assert failed.is_error and "did you mean tools.math.add?" in failed.content[0].text, failed

            running = asyncio.ensure_future(client.call_tool("run_code", {"code": "await tools.sleep({ ms: 60_000 })"}))
            while not server.workers():
                await asyncio.sleep(0.01)
            running.cancel()
            began = time.monotonic()
            while server.workers():
                assert time.monotonic() - began < 30, "the worker still runs"
                await asyncio.sleep(0.002)
            print(f"{mode}: the worker was gone {1000 * (time.monotonic() - began):.0f} ms after the cancellation")


servers = [Server(), Server()]
try:
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HOME=home, MCP_INSPECTOR_SECRET_STORE="memory")
        exports = subprocess.run(["node", MCPDO, "private"], capture_output=True, text=True, check=True).stdout
        for line in exports.splitlines():
            name, value = line.removeprefix("export ").split("=", 1)
            os.environ[name] = value.strip("'")
        try:
            inspector(servers[0])
            questions(servers[0])
        finally:
            subprocess.run(["node", MCPDO, "daemon", "stop"], check=True, stdout=subprocess.DEVNULL)
    asyncio.run(python_client(servers[0]))
    moves(*servers)
finally:
    for server in servers:
        server.process.kill()
        server.process.wait()
print("listed, called, cancelled and asked, in both eras")
