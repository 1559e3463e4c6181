"""Mistral chat."""

import json
import re

from mistral_common.protocol.instruct.messages import AssistantMessage, ToolMessage, UserMessage
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct import validator
from mistralai.client.models import (
    ChatCompletionChoice,
    ChatCompletionResponse,
    CompletionChunk,
    CompletionResponseStreamChoice,
    ToolMessage as SentToolMessage,
)

from .typed import Mismatch, check_name, check_object_text, literals

API = "mistral"
STOP_REASONS = literals(ChatCompletionChoice.model_fields["finish_reason"].annotation) | literals(
    CompletionResponseStreamChoice.model_fields["finish_reason"].annotation)
VALIDATORS = [getattr(validator, f"MistralRequestValidatorV{number}") for number in (3, 5, 11, 13, 15)]


def call(call_id, name, arguments, **more):
    return {"id": call_id, "function": {"name": name, "arguments": arguments}, **more}


def completion(*calls, content="", reason="tool_calls"):
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return {"id": "cmpl-1", "object": "chat.completion", "created": 1, "model": "mistral",
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


REPLIES = {
    "one call": completion(call("D681PevKs", "add", '{"a": 1, "b": 2}')),
    "arguments as an object": completion(call("D681PevKs", "add", {"a": 1})),
    "two calls": completion(call("D681PevKs", "add", '{"a": "é"}'), call("D681PevKt", "find", "{}")),
    "no id": completion(call("null", "add", "{}")),
    "an unknown tool": completion(call("D681PevKs", "subtract", "{}")),
}


def hostile(name, arguments):
    return completion(call("call_1", name, arguments))


def chunk(delta, reason=None):
    return {"id": "cmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "mistral",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


STREAMS = {
    "a call in one chunk": [chunk({"role": "assistant", "content": ""}),
                            chunk({"tool_calls": [call("D681PevKs", "add", '{"a": 1}', index=0)]}, "tool_calls")],
    "two calls in one chunk": [chunk({"tool_calls": [call("D681PevKs", "add", "{}", index=0),
                                                     call("D681PevKt", "find", "{}", index=1)]}, "tool_calls")],
}

validate = ChatCompletionResponse.model_validate


def arguments(value):
    try:
        return json.loads(value or "{}") if isinstance(value, str) else value
    except ValueError:
        return value


def text(content):
    if isinstance(content, str):
        return content
    parts = content or []
    return "".join(getattr(part, "text", "") for part in parts if getattr(part, "type", None) == "text")


def read(reply):
    """Returns the calls and the text according to the official types."""
    message = ChatCompletionResponse.model_validate(reply).choices[0].message
    calls = [(each.id, each.function.name, arguments(each.function.arguments)) for each in message.tool_calls or []]
    return calls, text(message.content)


def same(found, expected):
    """An id that the API would reject is replaced."""
    is_sound = re.compile("[a-zA-Z0-9]{9}").fullmatch
    calls = [(call[0] if is_sound(other[0]) else other[0], *call[1:]) for call, other in zip(found[0], expected[0])]
    return len(found[0]) == len(expected[0]) and (calls, found[1]) == expected


def accumulate(events):
    """Joins the chunks."""
    calls, content, reason = {}, "", "stop"
    for event in events:
        for choice in CompletionChunk.model_validate(event).choices:
            content += text(choice.delta.content or "")
            reason = choice.finish_reason or reason
            for each in choice.delta.tool_calls or []:
                known = calls.setdefault(each.index, call(each.id, "", ""))
                known["function"]["name"] += each.function.name or ""
                known["function"]["arguments"] += each.function.arguments
    return completion(*calls.values(), content=content, reason=reason)


def check_messages(messages):
    """Raises an error if the messages break a rule of the API."""
    for message in messages[1:]:
        SentToolMessage.model_validate(message)
        if set(message) - {"role", "content", "tool_call_id", "name"}:
            raise Mismatch(f"unknown keys in {message}")
    texts = [message for message in messages if not isinstance(message.get("content") or "", str)]
    if texts:
        raise Mismatch(f"{texts[0]} is not a text")
    kinds = {"assistant": AssistantMessage, "tool": ToolMessage}
    parsed = [UserMessage(content="Go on.")]
    for message in messages:
        kind = kinds.get(message["role"], UserMessage)
        known = {key: value for key, value in message.items() if key in kind.model_fields}
        if known.get("tool_calls"):
            known["tool_calls"] = [{"id": each["id"], "function": {
                "name": each["function"]["name"], "arguments": each["function"]["arguments"]}}
                for each in known["tool_calls"]]
        parsed.append(kind.model_validate(known))
    # The first validator is older than replies with both text and calls.
    for check in VALIDATORS[1:] if messages[0].get("content") and messages[0].get("tool_calls") else VALIDATORS:
        check().validate_messages([message.model_copy(deep=True) for message in parsed])
    for each in messages[0].get("tool_calls") or []:
        check_name(each["function"]["name"])
        if not isinstance(each["function"]["arguments"], dict):
            check_object_text(each["function"]["arguments"])
    ids = [each["id"] for each in messages[0].get("tool_calls") or []]
    if [message["tool_call_id"] for message in messages[1:]] != ids:
        raise Mismatch("Not the same number of function calls and responses")


def breaks(messages):
    """Yields changes that break a rule."""
    result = messages[-1]
    yield "a missing result", lambda: messages.remove(result)
    yield "a doubled result", lambda: messages.append(dict(result))
    yield "a long id", lambda: result.update(tool_call_id="call_0123456789")
    yield "a user message", lambda: messages.append({"role": "user", "content": "Go on."})
    yield "an object as content", lambda: result.update(content={"sum": 3})
    yield "an unknown key", lambda: result.update(is_error=True)
