"""Anthropic Messages."""

from anthropic._models import construct_type_unchecked
from anthropic.lib.streaming import _messages
from anthropic.types import Message, MessageParam, StopReason, ToolResultBlockParam
from anthropic.types.beta import BetaMessageParam, BetaStopReason

from .typed import Mismatch, check, check_name, literals

API = "anthropic"
STOP_REASONS = literals(StopReason | BetaStopReason)


def tool_use(call_id, name, arguments, **more):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments, **more}


def message(*content, stop="tool_use"):
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": list(content),
            "stop_reason": stop, "stop_sequence": None, "usage": usage}


TEXT = {"type": "text", "text": "Let me see."}
REPLIES = {
    "one call": message(tool_use("toolu_1", "add", {"a": 1, "b": 2})),
    "text and two calls": message(TEXT, tool_use("toolu_1", "add", {"a": 1}), tool_use("toolu_2", "find", {})),
    "calls at the end of a turn": message(tool_use("toolu_1", "add", {"a": 1}), stop="end_turn"),
    "a direct caller": message(tool_use("toolu_1", "add", {}, caller={"type": "direct"})),
    "a calling program": message(
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "1"}},
        tool_use("toolu_1", "add", {"a": 1}, caller={"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}),
    ),
    "thinking": message(
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        tool_use("toolu_1", "add", {"a": {"b": [1, None, True, 1.5, "é"]}}),
    ),
    "an unknown tool": message(tool_use("toolu_1", "subtract", {})),
}


def hostile(name, arguments):
    return message({"type": "text", "text": "\n"}, tool_use("toolu:1", name, arguments))


validate = Message.model_validate


def read(reply):
    """Returns the calls and the text according to the official types."""
    content = construct_type_unchecked(type_=Message, value=reply).content
    calls = [(block.id, block.name, block.input) for block in content if block.type == "tool_use"]
    return calls, "".join(block.text for block in content if block.type == "text")


def accumulate(events):
    """Returns the reply that the official package makes of a stream."""
    reply, buffers = None, {}
    for event in events:
        reply = _messages.accumulate_event(event=event, current_snapshot=reply, json_bufs=buffers)
    return reply.to_dict(mode="json")


def check_messages(messages):
    """Raises an error if the messages break a rule of the API."""
    ids = []
    for number, each in enumerate(messages):
        role = "assistant" if number % 2 == 0 else "user"
        if each["role"] != role:
            raise Mismatch(f"message {number} is not of {role}")
        # Some blocks are still in beta.
        check(each, MessageParam | BetaMessageParam, unknown_keys=True)
        if role == "assistant":
            uses = [block for block in each["content"] if block["type"] == "tool_use"]
            for use in uses:
                check_name(use["id"])
                check_name(use["name"])
                if not isinstance(use["input"], dict):
                    raise Mismatch("Input should be a valid dictionary")
            if not all(block["text"].strip() for block in each["content"] if block["type"] == "text"):
                raise Mismatch("text content blocks must contain non-whitespace text")
            ids = [block["id"] for block in uses]
            continue
        by_program = [block["id"] for block in uses if block.get("caller", {"type": "direct"})["type"] != "direct"]
        for block in each["content"]:
            check_result(block, by_program)
        if sorted(block["tool_use_id"] for block in each["content"]) != sorted(ids):
            raise Mismatch("`tool_use` ids were found without `tool_result` blocks immediately after")
        ids = []
    if ids:
        raise Mismatch("no results")


def check_result(block, by_program):
    check(block, ToolResultBlockParam)
    content = block.get("content", "x")
    if content == "" or content == []:
        raise Mismatch("empty content")
    kinds = {part["type"] for part in content} if isinstance(content, list) else {"text"}
    if any(part["type"] == "text" and not part["text"].strip() for part in content if isinstance(content, list)):
        raise Mismatch("text content blocks must contain non-whitespace text")
    if kinds != {"text"} and (block.get("is_error") or block["tool_use_id"] in by_program):
        raise Mismatch("only text is allowed")


def breaks(messages):
    """Yields changes that break a rule."""
    results = messages[-1]["content"]
    yield "a missing result", lambda: results.pop()
    yield "a doubled result", lambda: results.append(results[0])
    yield "another id", lambda: results[0].update(tool_use_id="toolu_0")
    yield "no id", lambda: results[0].pop("tool_use_id")
    yield "another type", lambda: results[0].update(type="function_call_output")
    yield "an unknown key", lambda: results[0].update(name="add")
    yield "a number as content", lambda: results[0].update(content=3)
    yield "empty text", lambda: results[0].update(content=[{"type": "text", "text": " "}])
    yield "an unknown image", lambda: results[0].update(content=[{"type": "image", "source": {
        "type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zy8+"}}])
    yield "a message of a tool", lambda: messages[-1].update(role="tool")
    yield "no call", lambda: messages[0]["content"].pop()
    yield "a name with a dot", lambda: messages[0]["content"][-1].update(name="functions.add")
    yield "a long name", lambda: messages[0]["content"][-1].update(name="x" * 300)
    yield "a blank text", lambda: messages[0]["content"].insert(0, {"type": "text", "text": "\n"})
    yield "arguments as text", lambda: messages[0]["content"][-1].update(input="{}")
