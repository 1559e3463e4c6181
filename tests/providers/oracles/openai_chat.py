"""OpenAI Chat Completions."""

import json

from openai._models import construct_type_unchecked
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionAssistantMessageParam,
    ChatCompletionChunk,
    ChatCompletionToolMessageParam,
    ChatCompletionUserMessageParam,
)
from openai.types.chat.chat_completion import Choice

from .typed import Mismatch, check, check_name, check_object_text, literals

API = "chat"
STOP_REASONS = literals(Choice.model_fields["finish_reason"].annotation)


def call(call_id, name, arguments):
    arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def completion(*calls, content=None, reason="tool_calls"):
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt",
            "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}]}


REPLIES = {
    "one call": completion(call("call_1", "add", {"a": 1, "b": 2})),
    "text and two calls": completion(
        call("call_1", "add", {"a": "é"}), call("call_2", "find", {}), content="Let me see."),
    "calls at the end of a turn": completion(call("call_1", "add", {}), reason="stop"),
    "no arguments": completion(call("call_1", "find", "")),
    "a custom tool": completion({"id": "call_1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}),
    "an unknown tool": completion(call("call_1", "subtract", {})),
}


def hostile(name, arguments):
    reply = completion(call("call_1", name, "{}"))
    reply["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = arguments
    return reply


def chunk(delta, reason=None):
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "gpt",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def piece(index, arguments="", **more):
    return {"index": index, "function": {"arguments": arguments, **more.pop("function", {})}, **more}


FIRST = {"id": "call_1", "type": "function", "function": {"name": "find"}}
OTHER = {"id": "call_0", "type": "function", "function": {"name": "add"}}
# The scenarios of `tests/lib/chat/test_tool_call_deltas.py` of the package.
STREAMS = {
    "two pieces of a call in a chunk": [
        chunk({"role": "assistant", "tool_calls": [piece(0, **FIRST), piece(0, '{"path"')]}),
        chunk({"tool_calls": [piece(0, ": "), piece(0, '"."}')]}), chunk({}, "tool_calls")],
    "a role before the call": [
        chunk({"role": "assistant", "content": None}), chunk({"tool_calls": [piece(0, "{}", **FIRST)]}),
        chunk({}, "tool_calls")],
    "no calls at first": [
        chunk({"role": "assistant", "tool_calls": []}), chunk({"tool_calls": [piece(0, "{}", **FIRST)]}),
        chunk({}, "tool_calls")],
    "two calls": [
        chunk({"role": "assistant", "tool_calls": [piece(0, "{}", **OTHER)]}),
        chunk({"tool_calls": [piece(1, **FIRST), piece(1, '{"a"')]}), chunk({"tool_calls": [piece(1, ":1}")]}),
        chunk({}, "tool_calls")],
    "two calls by turns": [
        chunk({"content": "Let me see."}),
        chunk({"role": "assistant", "tool_calls": [piece(0, "{", **OTHER), piece(1, "{", **FIRST)]}),
        chunk({"tool_calls": [piece(0, '"a":'), piece(1, '"b":')]}),
        chunk({"tool_calls": [piece(1, "2}"), piece(0, "1}")]}), chunk({}, "tool_calls")],
}

validate = ChatCompletion.model_validate


def arguments(text):
    try:
        return json.loads(text or "{}") or {}
    except ValueError:
        return text


def read(reply):
    """Returns the calls and the text according to the official types."""
    message = construct_type_unchecked(type_=ChatCompletion, value=reply).choices[0].message
    calls = []
    for each in message.tool_calls or []:
        if each.type == "custom":
            calls.append((each.id, each.custom.name, each.custom.input))
        else:
            calls.append((each.id, each.function.name, arguments(each.function.arguments)))
    return calls, message.content or ""


def same(found, expected):
    """An id that the reply does not have is derived."""
    calls = [(call[0] if other[0] else other[0], *call[1:]) for call, other in zip(found[0], expected[0])]
    return len(found[0]) == len(expected[0]) and (calls, found[1]) == expected


def accumulate(events):
    """Returns the reply that the official package makes of a stream."""
    state = ChatCompletionStreamState()
    for event in events:
        state.handle_chunk(construct_type_unchecked(type_=ChatCompletionChunk, value=event))
    return state.current_completion_snapshot.to_dict(mode="json")


def check_messages(messages):
    """Raises an error if the messages break a rule of the API."""
    # Other servers write null for what is not there, and accept it.
    reply = {key: value for key, value in messages[0].items() if value is not None}
    check(reply, ChatCompletionAssistantMessageParam, unknown_keys=True)
    for each in reply.get("tool_calls", []):
        check_name(each[each["type"]]["name"])
        if each["type"] == "function":
            check_object_text(each["function"]["arguments"])
    ids, answered = [call["id"] for call in reply.get("tool_calls", [])], []
    is_after = False
    for message in messages[1:]:
        if message["role"] == "tool" and not is_after:
            check(message, ChatCompletionToolMessageParam)
            answered.append(message["tool_call_id"])
            if not message["content"]:
                raise Mismatch("empty content")
        else:
            is_after = True
            check(message, ChatCompletionUserMessageParam)
    if answered != ids:
        raise Mismatch("An assistant message with 'tool_calls' must be followed by tool messages")


def breaks(messages):
    """Yields changes that break a rule."""
    result = next(message for message in messages if message["role"] == "tool")
    yield "a missing result", lambda: messages.remove(result)
    yield "a doubled result", lambda: messages.insert(1, dict(result))
    yield "another id", lambda: result.update(tool_call_id="call_0")
    yield "no content", lambda: result.pop("content")
    yield "an object as content", lambda: result.update(content={"sum": 3})
    yield "an image as content", lambda: result.update(content=[{"type": "image_url", "image_url": {"url": "data:"}}])
    yield "an unknown key", lambda: result.update(is_error=True)
    yield "a message before the results", lambda: messages.insert(1, {"role": "user", "content": "Go on."})
