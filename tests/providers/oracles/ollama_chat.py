"""Ollama `/api/chat`."""

from ollama import ChatResponse, Message

from .typed import Mismatch

API = "ollama"


def call(name, arguments):
    return {"function": {"name": name, "arguments": arguments}}


def response(*calls, content="", done=True):
    message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = list(calls)
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done,
            **({"done_reason": "stop"} if done else {})}


REPLIES = {
    "one call": response(call("add", {"a": 1, "b": 2})),
    "text and two calls": response(call("add", {"a": "é"}), call("find", {}), content="Let me see."),
    "two calls of a tool": response(call("add", {"a": 1}), call("add", {"a": 2})),
    "an unknown tool": response(call("subtract", {})),
}


def hostile(name, arguments):
    return response(call(name, arguments))


STREAMS = {
    "a call before the end": [response(call("add", {"a": 1}), done=False), response()],
    "calls in two chunks": [response(content="Let me see.", done=False), response(call("add", {"a": 1}), done=False),
                            response(call("add", {"a": 2}), done=False), response()],
}

validate = ChatResponse.model_validate


def read(reply):
    """Returns the calls and the text according to the official types."""
    message = ChatResponse.model_validate(reply).message
    calls = [(None, each.function.name, dict(each.function.arguments)) for each in message.tool_calls or []]
    return calls, message.content or ""


def same(found, expected):
    """The official types have no ids."""
    return ([(None, *call[1:]) for call in found[0]], found[1]) == expected


def accumulate(events):
    """Joins the chunks."""
    chunks = [ChatResponse.model_validate(event) for event in events]
    calls = [each for chunk in chunks for each in chunk.message.tool_calls or []]
    calls = [call(each.function.name, dict(each.function.arguments)) for each in calls]
    return response(*calls, content="".join(chunk.message.content or "" for chunk in chunks))


def check_messages(messages):
    """Raises an error if the messages break a rule of the API."""
    for message in messages:
        Message.model_validate(message)
    results = messages[1:]
    for message in results:
        if message["role"] != "tool" or set(message) - {"role", "content", "tool_name", "tool_call_id", "images"}:
            raise Mismatch(f"not a result: {message}")
        if not message["content"]:
            raise Mismatch("empty content")
    names = [each["function"]["name"] for each in messages[0].get("tool_calls", [])]
    if [message["tool_name"] for message in results] != names:
        raise Mismatch("the results are not in the order of the calls")


def breaks(messages):
    """Yields changes that break a rule."""
    result = messages[-1]
    yield "a missing result", lambda: messages.remove(result)
    yield "a doubled result", lambda: messages.append(dict(result))
    yield "another name", lambda: result.update(tool_name="other")
    yield "an object as content", lambda: result.update(content={"sum": 3})
    yield "an unknown key", lambda: result.update(is_error=True)
    yield "a user message", lambda: result.update(role="user")
