"""Streams and replies that others recorded."""

import ast
import json
import os
import pathlib

FOLDER = pathlib.Path(os.environ.get("TOOLKIT_FIXTURES", "../fixtures")) / "exchanges"


def events(text):
    """Returns the events of a stream of server-sent events."""
    lines = (line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:"))
    return [json.loads(line) for line in lines if line != "[DONE]"]


def anthropic_streams(sdist):
    """Returns the streams in the source distribution of `anthropic`."""
    paths = [*sdist.glob("tests/lib/streaming/fixtures/*.txt"), *sdist.glob("tests/fixtures/*/*.sse")]
    return {path.name: events(path.read_text()) for path in sorted(paths)}


def anthropic_replies(sdist):
    """Returns the complete replies in the source distribution of `anthropic`."""
    replies = {}
    for path in sorted(sdist.glob("tests/lib/**/__inline_snapshot__/**/*.json")):
        found = json.loads(path.read_text())
        found = found if isinstance(found, list) else [found]
        for number, reply in enumerate(found):
            reply = json.loads(reply) if isinstance(reply, str) else reply
            if isinstance(reply, dict) and reply.get("type") == "message":
                replies[f"{path.stem}#{number}"] = reply
    return replies


def openai_replies(sdist, kind):
    """Returns the complete replies that the tests of `openai` quote: `chat.completion` or `response`."""
    replies = {}
    for path in sorted(sdist.glob("tests/lib/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            quoted = getattr(node, "value", None)
            if isinstance(node, ast.Constant) and isinstance(quoted, str) and quoted.lstrip().startswith("{"):
                try:
                    reply = json.loads(quoted)
                except ValueError:
                    continue
                if reply.get("object") == kind and (reply.get("choices") or reply.get("output")):
                    replies[f"{path.name}:{node.lineno}"] = reply
    return replies


def recorded(api):
    """Yields the recorded replies of an API, where the recordings are."""
    names = {"responses": "openai-responses", "bedrock": "bedrock-converse", "mistral": "chat"}
    for path in sorted(FOLDER.glob("*.jsonl")):
        with path.open() as lines:
            for line in lines:
                exchange = json.loads(line)
                is_mistral = "cassettes/mistral/" in exchange["path"] or "api.mistral.ai" in exchange["url"]
                is_own = exchange["api"] == names.get(api, api) and is_mistral == (api == "mistral")
                if is_own and exchange["status"] == 200 and "c" in exchange["calls"]:
                    yield f"{path.stem}/{exchange['path']}#{exchange['n']}", exchange
