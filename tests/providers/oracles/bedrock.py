"""Bedrock Converse."""

import json

import botocore.session
from botocore.validate import ParamValidator

from .typed import Mismatch, check_name

API = "bedrock"
MODEL = botocore.session.get_session().get_service_model("bedrock-runtime")
REPLY = MODEL.operation_model("Converse").output_shape
STREAM = MODEL.shape_for("ConverseStreamOutput")
REQUEST = MODEL.operation_model("Converse").input_shape
STOP_REASONS = set(MODEL.shape_for("StopReason").enum)
# Padding.
UNKNOWN = {"p"}


def call(call_id, name, arguments, **more):
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments, **more}}


def response(*content, stop="tool_use"):
    return {"output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": stop,
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}, "metrics": {"latencyMs": 1}}


TEXT = {"text": "Let me see."}
REASONING = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}
REPLIES = {
    "one call": response(call("tooluse_1", "add", {"a": 1, "b": 2})),
    "text and two calls": response(TEXT, call("tooluse_1", "add", {"a": "é"}), call("tooluse_2", "find", {})),
    "reasoning": response(REASONING, call("tooluse_1", "add", {"a": [1, None, {"b": 1.5}]})),
    "calls at the end of a turn": response(call("tooluse_1", "add", {}), stop="end_turn"),
    "an unknown tool": response(call("tooluse_1", "subtract", {})),
}


def hostile(name, arguments):
    return response({"text": "\n"}, call("tooluse/1", name, arguments))


def start(index, call_id, name):
    return {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": call_id, "name": name}}}}


def delta(index, **delta):
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}


def stop(index):
    return {"contentBlockStop": {"contentBlockIndex": index}}


STREAMS = {
    "text and two calls at once": [
        {"messageStart": {"role": "assistant"}}, delta(0, text="Let "), delta(0, text="me see."), stop(0),
        start(1, "tooluse_1", "add"), start(2, "tooluse_2", "find"), delta(1, toolUse={"input": '{"a": '}),
        delta(2, toolUse={"input": ""}), delta(1, toolUse={"input": "1}"}), stop(1), stop(2),
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}, "metrics": {"latencyMs": 1}}},
    ],
}


def check_shape(value, shape):
    report = ParamValidator().validate(value, shape)
    if report.has_errors():
        raise Mismatch(report.generate_report())


def validate(reply):
    check_shape(reply, REPLY)


def read(reply):
    """Returns the calls and the text according to the service model."""
    content = reply["output"]["message"]["content"]
    uses = [block["toolUse"] for block in content if "toolUse" in block]
    uses = [use for use in uses if use.get("type") != "server_tool_use"]
    calls = [(use["toolUseId"], use["name"], use["input"]) for use in uses]
    return calls, "".join(block.get("text", "") for block in content)


def accumulate(events):
    """Joins the events, each of which is one of the service model."""
    blocks, reason = {}, None
    for event in events:
        (kind, payload), = event.items()
        kind = kind.removeprefix("<:event-type>")
        payload = {key: value for key, value in payload.items() if key not in UNKNOWN}
        # The service model lags behind the counts.
        if kind != "metadata":
            check_shape({kind: payload}, STREAM)
        index = payload.get("contentBlockIndex")
        if kind == "contentBlockStart":
            if "toolUse" in payload["start"]:
                blocks[index] = {"toolUse": {**payload["start"]["toolUse"], "input": ""}}
        elif kind == "contentBlockDelta":
            block = blocks.setdefault(index, {})
            if "text" in payload["delta"]:
                block["text"] = block.get("text", "") + payload["delta"]["text"]
            if "toolUse" in payload["delta"]:
                block["toolUse"]["input"] += payload["delta"]["toolUse"]["input"]
        elif kind == "messageStop":
            reason = payload["stopReason"]
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
    return response(*(block for _, block in sorted(blocks.items())), stop=reason)


def check_messages(messages):
    """Raises an error if the messages break a rule of the API."""
    ids = []
    for number, each in enumerate(messages):
        if each["role"] != ("assistant" if number % 2 == 0 else "user"):
            raise Mismatch(f"message {number} is of {each['role']}")
        check_shape({"modelId": "m", "messages": [each]}, REQUEST)
        if each["role"] == "assistant":
            uses = [block["toolUse"] for block in each["content"] if "toolUse" in block]
            ids = [use["toolUseId"] for use in uses if use.get("type") != "server_tool_use"]
            for use in uses:
                check_name(use["toolUseId"], "_.:-")
                check_name(use["name"])
                if not isinstance(use["input"], dict):
                    raise Mismatch("Provide a json object for toolUse.input")
            if not all(block.get("text", "x").strip() for block in each["content"]):
                raise Mismatch("The text field in the ContentBlock object is blank")
            continue
        results = [block.get("toolResult") for block in each["content"]]
        if None in results:
            raise Mismatch("text beside results")
        if sorted(result["toolUseId"] for result in results) != sorted(ids):
            raise Mismatch(f"Expected toolResult blocks for the following Ids: {ids}")
        if not all(result["content"] for result in results):
            raise Mismatch("empty content")
        if not all(isinstance(block.get("json", {}), dict) for result in results for block in result["content"]):
            raise Mismatch("JSON that is not an object")
        if not all(block.get("text", "x").strip() for result in results for block in result["content"]):
            raise Mismatch("blank text")
        ids = []
    if ids:
        raise Mismatch("no results")


def breaks(messages):
    """Yields changes that break a rule."""
    blocks = messages[-1]["content"]
    result = blocks[0]["toolResult"]
    use = messages[0]["content"][-1]["toolUse"]
    yield "a name with a dot", lambda: use.update(name="functions.add")
    yield "arguments as a list", lambda: use.update(input=[1])
    yield "a blank text", lambda: messages[0]["content"].insert(0, {"text": "\n"})
    yield "a missing result", lambda: blocks.pop()
    yield "a doubled result", lambda: blocks.append(blocks[0])
    yield "another id", lambda: result.update(toolUseId="tooluse_0")
    yield "no content", lambda: result.pop("content")
    yield "a text as content", lambda: result.update(content="3")
    yield "empty content", lambda: result.update(content=[])
    yield "an array as JSON", lambda: result.update(content=[{"json": [1]}])
    yield "two kinds in a block", lambda: result.update(content=[{"json": {}, "text": "3"}])
    yield "an unknown key", lambda: result.update(is_error=True)
    yield "text beside results", lambda: blocks.append({"text": "Go on."})
    yield "a message of a tool", lambda: messages[-1].update(role="tool")
