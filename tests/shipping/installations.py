"""Reads the configurations of clients as these do: `installations.py PROGRAMS WORK`."""

import asyncio
import json
import os
import sys

import jsonschema

from readers import READERS, node, run, tools

PROGRAMS, HOME = sys.argv[1:]
PROGRAM = f"{PROGRAMS}/toolkit-examples"
CLAUDE = f"{READERS}/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
PROJECT = f"{HOME}/project"
os.makedirs(f"{HOME}/bin")
os.makedirs(PROJECT)
ENVIRONMENT = {
    "HOME": HOME,
    "PATH": f"{HOME}/bin:{os.environ['PATH']}",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


def here(*command):
    return run(*command, env=ENVIRONMENT, cwd=PROJECT)


def install(*arguments):
    here(PROGRAM, "install", *arguments, "--yes", "--env", f"EXAMPLES_ROOT={PROJECT}")


async def discovered(client, path, expected):
    """Starts the server that VS Code finds in the configuration of another client."""
    assert client["path"] == path, client
    (server,) = client["servers"]
    launch = server["launch"]
    assert server["label"] == "toolkit-examples", server
    assert await tools(launch["command"], launch["args"], launch["env"]) == expected


async def main():
    expected = await tools(PROGRAM, ["serve"], None)
    for client in ("claude-desktop", "cursor", "vscode"):
        install(client)
    read = node("vscode.mjs", HOME)
    await discovered(read["claudeDesktop"], f"{HOME}/.config/Claude/claude_desktop_config.json", expected)
    await discovered(read["cursor"], f"{HOME}/.cursor/mcp.json", expected)

    validator = jsonschema.Draft7Validator(read["schema"])
    configuration = json.load(open(f"{HOME}/.config/Code/User/mcp.json"))
    validator.validate(configuration)
    server = configuration["servers"]["toolkit-examples"]
    assert await tools(server["command"], server["args"], server["env"]) == expected
    url = ["vscode", "--http", "https://example.com/mcp", "--token-env", "TOKEN", "--print"]
    validator.validate(json.loads(here(PROGRAM, "install", *url)))
    # With inputs for credentials.
    validator.validate(json.loads(here(f"{PROGRAMS}/fixture_tools", "install", "vscode", "--print")))
    assert not validator.is_valid({"servers": {"x": {"type": "stdio", "url": "https://example.com"}}})

    n_clients = 3
    if os.path.exists(CLAUDE):
        os.symlink(CLAUDE, f"{HOME}/bin/claude")
        install("claude-code")
        listed = here("claude", "mcp", "list")
        assert f"toolkit-examples: {PROGRAM} serve - ✔ Connected" in listed, listed
        install("claude-code")
        # With references to variables that are not set.
        here(f"{PROGRAMS}/fixture_tools", "install", "claude-code", "--yes")
        listed = here("claude", "mcp", "list")
        assert f"fixture_tools: {PROGRAMS}/fixture_tools serve - ✔ Connected" in listed, listed
        here(PROGRAM, "uninstall", "claude-code", "--yes")
        assert "toolkit-examples" not in here("claude", "mcp", "list")
        install("claude-code", "--scope", "project")
        shown = here("claude", "mcp", "get", "toolkit-examples")
        assert "Project config" in shown and PROGRAM in shown, shown
        n_clients += 1
    else:
        print("skipped 1 check: there is no Claude Code for this machine")
    print(f"{n_clients} clients read what was installed, and the servers answer")


asyncio.run(main())
