"""Mistral Conversations."""

import json

from mistralai.client.models import (
    AgentHandoffEntry,
    ConversationResponse,
    FunctionCallEntry,
    FunctionResultEntry,
    MessageOutputEntry,
    ToolExecutionEntry,
)
from mistralai.client.models.conversationevents import ConversationEventsData
from pydantic import TypeAdapter

from .typed import Mismatch, check_name, check_object_text

API = "conversations"
ENTRIES = {"function.call": FunctionCallEntry, "function.result": FunctionResultEntry, "agent.handoff": AgentHandoffEntry,
           "message.output": MessageOutputEntry, "tool.execution": ToolExecutionEntry}


def entry(kind, **fields):
    return {"object": "entry", "type": kind, **fields}


def call(call_id, name, arguments, **more):
    return entry("function.call", id=f"fc_{call_id}", tool_call_id=call_id, name=name, arguments=arguments, **more)


def response(*outputs):
    return {"object": "conversation.response", "conversation_id": "conv_1", "outputs": list(outputs),
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


MESSAGE = entry("message.output", id="msg_1", role="assistant", content=[
    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Let me see."}])
REPLIES = {
    "one call": response(call("D681PevKs", "add", '{"a": 1, "b": 2}')),
    "arguments as an object": response(call("D681PevKs", "add", {"a": 1})),
    "text and two calls": response(MESSAGE, call("D681PevKs", "add", '{"a": "é"}'), call("E681PevKs", "find", "{}")),
    "a text, and a tool of the provider": response(
        entry("tool.execution", id="te_1", name="web_search", arguments="{}", info={"found": 2}),
        entry("message.output", id="msg_1", role="assistant", content="Found."), call("D681PevKs", "add", "{}")),
    "a call that was allowed": response(call("D681PevKs", "add", "{}", confirmation_status="allowed")),
    "an unknown tool": response(call("D681PevKs", "subtract", "{}")),
}


def hostile(name, arguments):
    return response(call("D681PevKs", name, arguments))


def event(kind, index=None, **fields):
    return {"type": kind, **({} if index is None else {"output_index": index}), **fields}


def piece(index, call_id, name, json_text):
    return event("function.call.delta", index, id=f"fc_{call_id}", tool_call_id=call_id, name=name, arguments=json_text)


def text(index, content, part=0):
    return event("message.output.delta", index, id="msg_1", content=content, content_index=part, role="assistant")


START = event("conversation.response.started", conversation_id="conv_1")
DONE = event("conversation.response.done", usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
STREAMS = {
    "text and two calls": [START, text(0, "Let me "), text(0, "see."), piece(1, "D681PevKs", "add", '{"a"'),
                           piece(1, "D681PevKs", "add", ": 1}"), piece(2, "E681PevKs", "find", "{}"), DONE],
    "chunks, and a tool of the provider": [
        START, event("tool.execution.started", 0, id="te_1", name="web_search", arguments="{}"),
        event("tool.execution.done", 0, id="te_1", name="web_search", info={"found": 2}),
        text(1, {"type": "text", "text": "Found"}), text(1, {"type": "text", "text": "."}),
        piece(2, "D681PevKs", "add", '{"a": 1}'), DONE],
}

validate = ConversationResponse.model_validate


def arguments(value):
    try:
        return json.loads(value or "{}") if isinstance(value, str) else value
    except ValueError:
        return value


def text_of(content):
    if isinstance(content, str):
        return content
    return "".join(getattr(part, "text", "") for part in content if getattr(part, "type", None) == "text")


def read(reply):
    """Returns the calls and the text according to the official types."""
    outputs = validate(reply).outputs
    calls = [(each.tool_call_id, each.name, arguments(each.arguments)) for each in outputs if each.type == "function.call"]
    return calls, "".join(text_of(each.content) for each in outputs if each.type == "message.output")


def accumulate(events):
    """Joins the events, which the official types read. The package has no function that does."""
    outputs = {}
    for sent in events:
        found = TypeAdapter(ConversationEventsData).validate_python(sent)
        if found.type == "message.output.delta":
            piece = found.content if isinstance(found.content, str) else found.content.text
            known = outputs.setdefault(found.output_index, entry("message.output", id=found.id, content=""))
            known["content"] += piece
        elif found.type == "function.call.delta":
            known = outputs.setdefault(found.output_index, call(found.tool_call_id, found.name, ""))
            known["arguments"] += found.arguments
    return response(*outputs.values())


def check_messages(entries):
    """Raises an error if the entries break a rule of the API."""
    calls, results = [], []
    for each in entries:
        if each.get("type") not in ENTRIES:
            raise Mismatch(f"the type of {each}")
        kind = ENTRIES[each["type"]]
        kind.model_validate(each)
        if set(each) - set(kind.model_fields):
            raise Mismatch(f"unknown keys in {each}")
        if each["type"] == "function.call":
            calls.append(each["tool_call_id"])
            check_name(each["name"])
            if not isinstance(each["arguments"], dict):
                check_object_text(each["arguments"])
        elif each["type"] == "function.result":
            results.append(each["tool_call_id"])
            if not each["result"].strip():
                raise Mismatch("an empty result")
    if calls != results:
        raise Mismatch("each call has one result, in order")


def breaks(entries):
    """Yields changes that break a rule."""
    result = entries[-1]
    yield "a missing result", lambda: entries.remove(result)
    yield "a doubled result", lambda: entries.append(dict(result))
    yield "another id", lambda: result.update(tool_call_id="D681PevK0")
    yield "an object as result", lambda: result.update(result={"sum": 3})
    yield "an unknown key", lambda: result.update(is_error=True)
    yield "a message of chat", lambda: entries.append({"role": "tool", "content": "3"})
