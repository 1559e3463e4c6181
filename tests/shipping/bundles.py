"""Reads bundles with the official packages: `bundles.py PROGRAMS WORK`."""

import asyncio
import importlib.resources
import json
import os
import sys

import jsonschema

from readers import READERS, node, run, tools

PROGRAMS, WORK = sys.argv[1:]
MCPB = ["node", f"{READERS}/node_modules/.bin/mcpb"]
os.makedirs(WORK)


async def bundle(program, options, settings):
    """Validates and unpacks the bundle of a program, and starts its server."""
    path = f"{WORK}/{program}.mcpb"
    run(f"{PROGRAMS}/{program}", "bundle", "mcpb", "-o", path, *options)
    directory = f"{WORK}/{program}"
    run(*MCPB, "unpack", path, directory)
    assert "validation passes" in run(*MCPB, "validate", f"{directory}/manifest.json")
    manifest = json.load(open(f"{directory}/manifest.json"))
    launch = node("launch.mjs", directory, json.dumps(settings))
    assert launch["command"].startswith(directory), launch
    listed = await tools(launch["command"], launch["args"], launch.get("env"))
    assert listed == {tool["name"] for tool in manifest["tools"]}, (listed, manifest["tools"])
    return manifest, launch


def registry(program, *options):
    """Validates an entry of the registry."""
    name = ["--name", "io.github.example/tools", "--description", "Tools of an example"]
    entry = json.loads(run(f"{PROGRAMS}/{program}", "bundle", "server-json", *name, *options))
    packaged = importlib.resources.files("skillsaw") / "schemas/mcp_registry/v2025_12_11/server.schema.json"
    schema = json.loads(packaged.read_text())
    assert entry["$schema"] == schema["$id"]
    validator = jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())
    validator.validate(entry)
    # The schema can reject.
    for field in ("name", "description", "version"):
        assert not validator.is_valid({key: value for key, value in entry.items() if key != field})
    return entry


async def main():
    _, launch = await bundle("toolkit-examples", ["--env", "EXAMPLES_ROOT=directory"], {"EXAMPLES_ROOT": WORK})
    assert launch["env"] == {"EXAMPLES_ROOT": WORK}, launch
    # A setting that the server needs, which the user has not entered.
    assert node("launch.mjs", f"{WORK}/toolkit-examples", "{}") is None
    options = ["--author", "Ada Lovelace <ada@example.com>", "--description", "Tools for tests", "--title", "Tools"]
    _, launch = await bundle("fixture_tools", options, {"ALMANAC_KEY": "k"})
    assert launch["env"] == {"ALMANAC_KEY": "k", "ALMANAC_TOKEN": "", "USER_ID": ""}, launch
    # The options of a program, which the user has set, and left as they are.
    notes = f"{WORK}/notes.db"
    _, launch = await bundle("fixture_options", [], {"db": notes, "frozen": True})
    expected = [f"--db={notes}", "--frozen=true", "--in-memory=false", "--order=age", "--page-size=20", "serve"]
    assert launch["args"] == expected, launch
    assert launch["env"] == {"BACKUP_KEY": ""}, launch

    url = "https://example.com/toolkit-examples-mcp.mcpb"
    mcpb = ["--mcpb", f"{WORK}/toolkit-examples.mcpb", "--mcpb-url", url]
    registry("toolkit-examples", *mcpb, "--website", "https://example.com", "--title", "Examples")
    image = ["--image", "ghcr.io/example/tools:1.0.0", "--repository", "https://github.com/example/tools"]
    registry("fixture_tools", *mcpb, *image, "--remote", "https://example.com/mcp")
    options = registry("fixture_options", *image)["packages"][0]["packageArguments"]
    assert options[1]["name"] == "--db", options
    print("3 bundles and 3 registry entries are valid, and the servers in the bundles answer")


asyncio.run(main())
