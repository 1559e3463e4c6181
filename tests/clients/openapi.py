"""Programs that know OpenAPI and not MCP: a validator, a generated client, and the code of Open WebUI."""

import ast
import asyncio
import base64
import copy
import importlib
import json
import logging
import os
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp
from openapi_spec_validator import OpenAPIV31SpecValidator

EXAMPLES, TOKEN = os.environ["EXAMPLES"], "0123456789abcdef"
TOOLS_OF_WEBUI, WORK = sys.argv[1:]


@contextmanager
def serving():
    """A server with a token, which is stopped afterwards."""
    arguments = [EXAMPLES, "serve", "--http", "127.0.0.1:0", "--openapi"]
    environment = {**os.environ, "SERVE_TOKEN": TOKEN}
    server = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        line = next(line for line in server.stderr if "/openapi.json" in line)
        yield line.split()[-1].removesuffix("/openapi.json")
    finally:
        server.terminate()
        server.communicate()


def validated(document):
    OpenAPIV31SpecValidator(document).validate()
    assert document["openapi"] == "3.1.0" and len(document["paths"]) > 20, len(document["paths"])
    return document


def fetched(url):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def refused_without_a_token(url):
    try:
        urllib.request.urlopen(url)
        raise AssertionError("a document without a token")
    except urllib.error.HTTPError as error:
        assert error.code == 401 and json.load(error)["error"]["kind"] == "unauthorized", error


def generated(url, document):
    """Generates a client, and calls a tool with it: its result, and what is wrong in a call."""
    (path, config) = (f"{WORK}/openapi.json", f"{WORK}/openapi.yaml")
    with open(path, "w") as file:
        json.dump(document, file)
    with open(config, "w") as file:
        file.write("post_hooks: []\n")
    command = ["openapi-python-client", "generate", "--path", path, "--config", config, "--meta", "none"]
    command += ["--output-path", f"{WORK}/generated_tools"]
    warned = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    # The generator knows no choice that contains itself, as conditions of this tool do.
    without = [line for line in warned.splitlines() if "will not be generated" in line]
    assert len(without) == 1 and "/tools/csv_query_csv" in without[0], warned
    sys.path.insert(0, WORK)
    client = importlib.import_module("generated_tools").AuthenticatedClient(base_url=url, token=TOKEN)
    slug = importlib.import_module("generated_tools.api.text.text_slugify")
    models = importlib.import_module("generated_tools.models")
    answer = slug.sync_detailed(client=client, body=models.TextSlugifyBody(title="Größe of Cats"))
    assert answer.status_code == 200, answer
    wrong = models.TextSlugifyBody(title="x")
    wrong.max_length = "ten"
    answer_to_wrong = slug.sync_detailed(client=client, body=wrong)
    error = answer_to_wrong.parsed.error
    assert answer_to_wrong.status_code == 422 and error.kind == "invalid_arguments", answer_to_wrong
    assert [violation.pointer for violation in error.violations] == ["/max_length"], error
    return answer.parsed


def functions_of_webui():
    """Returns the functions of Open WebUI that read a document and call its operations, with the settings of its defaults."""
    wanted = ("resolve_schema", "convert_openapi_to_tool_payload", "get_tool_server_data", "execute_tool_server")
    with open(TOOLS_OF_WEBUI) as file:
        parsed = ast.parse(file.read())
    functions = [part for part in parsed.body if getattr(part, "name", None) in wanted]
    assert len(functions) == len(wanted)

    class JSONCodec:
        loads, JSONDecodeError = json.loads, json.JSONDecodeError

    known = {
        **{module.__name__: module for module in (aiohttp, base64, copy)},
        **{"Any": Any, "quote": quote, "urlencode": urlencode, "JSONCodec": JSONCodec, "log": logging.Logger("webui", logging.CRITICAL)},
        "ENABLE_TOOL_SERVERS": True,
        "OPENAPI_HTTP_METHODS": {"get", "put", "post", "delete", "options", "head", "patch", "trace"},
        "AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER_DATA": 10,
        "AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER": 10,
        "AIOHTTP_CLIENT_SESSION_TOOL_SERVER_SSL": True,
        "AIOHTTP_CLIENT_ALLOW_REDIRECTS": False,
    }
    exec(compile(ast.Module(functions, []), TOOLS_OF_WEBUI, "exec"), known)
    return [known[name] for name in wanted[1:]]


async def webui(url):
    convert, fetch, execute = functions_of_webui()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    document = await fetch(f"{url}/openapi.json", headers)
    tools = {tool["name"]: tool for tool in convert(document)}
    assert tools.keys() == {path.removeprefix("/tools/") for path in document["paths"]}
    for tool in tools.values():
        parameters = json.dumps(tool["parameters"])
        assert tool["description"] and "$ref" not in parameters and '"required"' in parameters, tool
    slug = tools["text_slugify"]["parameters"]
    assert slug["required"] == ["title"] and slug["properties"]["title"]["type"] == "string", slug
    server = {"openapi": document}
    result, _ = await execute(url, headers, {}, "text_slugify", {"title": "Größe of Cats"}, server)
    wrong, _ = await execute(url, headers, {}, "text_slugify", {"title": [], "no": 1}, server)
    assert "HTTP error 422" in wrong["error"] and "/no" in wrong["error"], wrong
    return result


with serving() as url:
    document = validated(fetched(f"{url}/openapi.json"))
    refused_without_a_token(f"{url}/openapi.json")
    exported = subprocess.run([EXAMPLES, "export", "--format", "openapi"], check=True, stdout=subprocess.PIPE).stdout
    assert validated(json.loads(exported))["paths"].keys() == document["paths"].keys()
    by_client, by_webui = generated(url, document), asyncio.run(webui(url))
    assert by_client == by_webui == "groesse-of-cats", (by_client, by_webui)
print(f"a validator, a generated client and Open WebUI: {len(document['paths'])} tools")
