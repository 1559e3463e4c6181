"""The Inspector's `mcpdo` runs tools as tasks and answers their questions, in both eras, over HTTP and stdio."""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

URL, FIXTURE = os.environ["URL"], os.environ["FIXTURE"]
EXTENSION = "io.modelcontextprotocol/tasks"


class Connection:
    """A connection that a daemon keeps open between commands. It runs one command at a time."""

    def __init__(self, name, era, *server):
        self.options = ["--format", "json", "--connection", name]
        assert self.run("connect", *server, "--era", era)["protocolEra"] == era

    def run(self, *arguments, exits=0):
        command = ["node", sys.argv[1], *self.options, *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert ran.returncode == exits, f"{arguments}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return json.loads(ran.stdout or ran.stderr)

    def call(self, name, arguments, exits=0):
        return self.run("tools/call", name, "--task", "--tool-args-json", json.dumps(arguments), exits=exits)

    def answer(self, asked, *answer):
        return self.run("elicitation/respond", asked["elicitationPending"]["elicitationId"], *answer)


def text(result):
    return result["content"][0]["text"]


def calls(era, connection):
    assert text(connection.call("only_as_a_task", {"ms": 300})) == "300"
    if era == "legacy":
        # The Inspector does not request the result of a failed task.
        failed = connection.call("failing_job", {}, exits=1)
        assert failed["error"]["message"] == "failing_job: the job has failed", failed
    else:
        failed = connection.call("failing_job", {}, exits=5)
        assert failed["isError"] and text(failed) == "failing_job: the job has failed", failed
    asked = connection.call("confirm_delete", {"filename": "a.txt"})
    assert asked["elicitationPending"]["message"] == "Delete a.txt?", asked
    assert text(connection.answer(asked, "confirm:=false")) == "a.txt kept"
    asked = connection.call("test_tool_with_task", {})
    assert text(connection.answer(asked, "name:=Ada")) == "Task completed for Ada"


def start(name, arguments):
    """Starts a task without waiting for its end, which `mcpdo` cannot do, and returns its id."""
    capabilities = {"extensions": {EXTENSION: {}}, "elicitation": {"form": {}}}
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    params = {"name": name, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    with urllib.request.urlopen(urllib.request.Request(URL, json.dumps(message).encode(), headers)) as response:
        lines = response.read().decode().splitlines()
    lines = [line.removeprefix("data: ") for line in lines]
    messages = [json.loads(line) for line in lines if line.startswith("{")]
    return messages[-1]["result"]["taskId"]


def polls(era, connection):
    """Requests of a client that has the id of a task only."""

    def status(task):
        return connection.run("tasks/get", task)["task"]["status"]

    running = start("only_as_a_task", {"ms": 60_000})
    assert status(running) == "working"
    assert connection.run("tasks/cancel", running)["cancelled"] is True
    assert status(running) == "cancelled"
    waiting = start("confirm_delete", {"filename": "b.txt"})
    while status(waiting) == "working":
        time.sleep(0.02)
    if era == "modern":
        assert status(waiting) == "input_required"
        answers = {"question-1": {"action": "accept", "content": {"confirm": False}}}
        connection.run("tasks/update", waiting, "--input-responses", json.dumps(answers))
    else:
        # The second response after the question opened brings it.
        connection.answer(connection.run("tasks/get", waiting), "confirm:=false")
    assert text(connection.run("tasks/result", waiting)) == "b.txt kept"
    assert status(waiting) == "completed"
    ended = start("only_as_a_task", {"ms": 300})
    assert text(connection.run("tasks/result", ended)) == "300"


def over_http(era):
    connection = Connection(f"{era}-http", era, URL, "--transport", "http")
    calls(era, connection)
    polls(era, connection)


def over_stdio(era):
    calls(era, Connection(f"{era}-stdio", era, FIXTURE))


with tempfile.TemporaryDirectory() as home:
    os.environ.update(HOME=home, MCP_INSPECTOR_SECRET_STORE="memory")
    exports = subprocess.run(["node", sys.argv[1], "private"], capture_output=True, text=True, check=True).stdout
    for line in exports.splitlines():
        name, value = line.removeprefix("export ").split("=", 1)
        os.environ[name] = value.strip("'")
    try:
        with ThreadPoolExecutor() as threads:
            tried = [threads.submit(trial, era) for trial in (over_http, over_stdio) for era in ("legacy", "modern")]
        for trial in tried:
            trial.result()
    finally:
        subprocess.run(["node", sys.argv[1], "daemon", "stop"], check=True, stdout=subprocess.DEVNULL)
print("both eras, over HTTP and stdio")
