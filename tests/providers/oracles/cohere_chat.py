"""Cohere, version 2 of chat."""

import json

from cohere.types import AssistantChatMessageV2, ChatFinishReason, ToolChatMessageV2
from cohere.v2.types import V2ChatResponse
from pydantic import TypeAdapter

from .typed import Mismatch, check_name, check_object_text, literals

API = "cohere"
STOP_REASONS = literals(ChatFinishReason)


def call(call_id, name, arguments):
    arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def response(*calls, reason="TOOL_CALL", **message):
    message = {"role": "assistant", **({"tool_calls": list(calls)} if calls else {}), **message}
    return {"id": "c14c80c3", "finish_reason": reason, "message": message, "usage": {"tokens": {"output_tokens": 1}}}


TEXT = {"type": "text", "text": "Let me see."}
REPLIES = {
    "one call": response(call("add_1", "add", {"a": 1, "b": 2}), tool_plan="I will add."),
    "thinking, text and two calls": response(
        call("add_1", "add", {"a": "é"}), call("find_1", "find", {}),
        content=[{"type": "thinking", "thinking": "Hm."}, TEXT]),
    "a citation": response(call("add_1", "add", {}), content=[TEXT], citations=[
        {"start": 0, "end": 3, "text": "Let", "type": "TEXT_CONTENT", "content_index": 0, "sources": [
            {"type": "tool", "id": "add_0:0", "tool_output": {"sum": 3}}]}]),
    "nulls": response(call("add_1", "add", {}), tool_plan=None, content=None, citations=None),
    "an unknown tool": response(call("subtract_1", "subtract", {})),
}


def hostile(name, arguments):
    reply = response(call("add_1", name, "{}"))
    reply["message"]["tool_calls"][0]["function"]["arguments"] = arguments
    return reply


def event(kind, index=None, **message):
    return {"type": kind, **({} if index is None else {"index": index}), "delta": {"message": message}}


def streamed(index, call_id, name, *pieces):
    """Returns the events of a call."""
    return [event("tool-call-start", index, tool_calls=call(call_id, name, "")),
            *(event("tool-call-delta", index, tool_calls={"function": {"arguments": piece}}) for piece in pieces),
            {"type": "tool-call-end", "index": index}]


START = {"id": "c14c80c3", "type": "message-start", "delta": {"message": {
    "role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}}}
END = {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"output_tokens": 1}}}}
STREAMS = {
    "a plan and two calls": [
        START, event("tool-plan-delta", tool_plan="I will"), event("tool-plan-delta", tool_plan=" add."),
        *streamed(0, "add_1", "add", '{"a"', ": 1}"), *streamed(1, "find_1", "find", "{}"), END],
    "thinking, text and a call without arguments": [
        START, event("content-start", 0, content={"type": "thinking", "thinking": ""}),
        event("content-delta", 0, content={"thinking": "Hm."}), {"type": "content-end", "index": 0},
        event("content-start", 1, content={"type": "text", "text": ""}),
        event("content-delta", 1, content={"text": "Let me "}), event("content-delta", 1, content={"text": "see."}),
        {"type": "content-end", "index": 1}, *streamed(0, "find_1", "find"), END],
}

validate = TypeAdapter(V2ChatResponse).validate_python


def arguments(text):
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def read(reply):
    """Returns the calls and the text according to the official types."""
    message = validate(reply).message
    calls = [(each.id, each.function.name, arguments(each.function.arguments)) for each in message.tool_calls or []]
    return calls, "".join(part.text for part in message.content or [] if part.type == "text")


def accumulate(events):
    """Joins the events. The package has no function that does."""
    calls, content, plan, reason = {}, {}, "", None
    for event in events:
        index, message = event.get("index"), event.get("delta", {}).get("message", {})
        if event["type"] == "tool-plan-delta":
            plan += message["tool_plan"]
        elif event["type"] == "content-start":
            content[index] = dict(message["content"])
        elif event["type"] == "content-delta":
            for field, text in message["content"].items():
                content[index][field] += text
        elif event["type"] == "tool-call-start":
            calls[index] = message["tool_calls"]
            calls[index] = call(calls[index]["id"], calls[index]["function"]["name"], "")
        elif event["type"] == "tool-call-delta":
            calls[index]["function"]["arguments"] += message["tool_calls"]["function"]["arguments"]
        elif event["type"] == "message-end":
            reason = event["delta"]["finish_reason"]
    return response(*calls.values(), reason=reason, tool_plan=plan, content=list(content.values()))


def check_messages(messages):
    """Raises an error if the messages break a rule of the API."""
    kinds = {"assistant": AssistantChatMessageV2, "tool": ToolChatMessageV2}
    for message in messages:
        if message["role"] not in kinds:
            raise Mismatch(f"the role of {message}")
        kind = kinds[message["role"]]
        TypeAdapter(kind).validate_python(message)
        if set(message) - set(kind.model_fields) or None in message.values():
            raise Mismatch(f"unknown keys or nulls in {message}")
    calls = messages[0].get("tool_calls", [])
    for each in calls:
        check_name(each["function"]["name"])
        check_object_text(each["function"]["arguments"])
    if [message["tool_call_id"] for message in messages[1:]] != [each["id"] for each in calls]:
        raise Mismatch("each call has one result, in order")
    for message in messages[1:]:
        if not isinstance(message["content"], str) or not message["content"].strip():
            raise Mismatch("a result is a text")


def breaks(messages):
    """Yields changes that break a rule."""
    result = messages[-1]
    yield "a missing result", lambda: messages.remove(result)
    yield "a doubled result", lambda: messages.append(dict(result))
    yield "another id", lambda: result.update(tool_call_id="add_0")
    yield "a user message", lambda: messages.append({"role": "user", "content": "Go on."})
    yield "an object as content", lambda: result.update(content={"sum": 3})
    yield "no content", lambda: result.pop("content")
    yield "an unknown key", lambda: result.update(name="add")
    yield "a null", lambda: messages[0].update(content=None)
