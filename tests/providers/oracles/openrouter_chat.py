"""OpenRouter, whose chat is that of OpenAI with details of the reasoning."""

import json

from openrouter.components import ChatAssistantMessage, ChatResult, ChatStreamChunk, ChatToolMessage
from openrouter.components.chatfinishreasonenum import ChatFinishReasonEnum

from .openai_chat import breaks, check_messages as check_chat, completion as of_openai, call, hostile
from .typed import Mismatch, literals

API = "openrouter"
STOP_REASONS = literals(ChatFinishReasonEnum)


def completion(*calls, details=(), **more):
    reply = {**of_openai(*calls, **more), "system_fingerprint": None}
    if details:
        reply["choices"][0]["message"]["reasoning_details"] = list(details)
    return reply


TEXT = {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0}
SUMMARY = {"type": "reasoning.summary", "summary": "Adding.", "format": "openai-responses-v1", "index": 1}
ENCRYPTED = {"type": "reasoning.encrypted", "data": "ZGF0YQ==", "id": "rs_1", "format": "openai-responses-v1", "index": 2}
SERVER = {"type": "reasoning.server_tool_call", "arguments": "{}", "result": "3", "tool_name": "openrouter:fusion",
          "index": 3}
REPLIES = {
    "one call": completion(call("call_1", "add", {"a": 1, "b": 2})),
    "details": completion(call("call_1", "add", {}), details=[TEXT, SUMMARY, ENCRYPTED, SERVER]),
    "two encrypted details": completion(
        call("call_1", "add", {}), call("call_2", "find", {}), details=[ENCRYPTED, {**ENCRYPTED, "id": "rs_2"}]),
    "an unknown tool": completion(call("call_1", "subtract", {})),
}


def chunk(delta, reason=None):
    return {"id": "gen-1", "object": "chat.completion.chunk", "created": 0, "model": "m", "provider": "p",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason, "native_finish_reason": reason}]}


def piece(index, arguments, **function):
    return {"index": index, "id": f"call_{index}", "type": "function", "function": {"arguments": arguments, **function}}


STREAMS = {
    "details in pieces, and two calls": [
        chunk({"role": "assistant", "content": "", "reasoning": "H",
               "reasoning_details": [{"type": "reasoning.text", "text": "H", "index": 0}]}),
        chunk({"content": "", "reasoning": "m.",
               "reasoning_details": [{"type": "reasoning.text", "text": "m.", "signature": "c2ln", "index": 0}]}),
        chunk({"content": "", "reasoning_details": [ENCRYPTED]}),
        chunk({"content": None, "reasoning_details": [{**ENCRYPTED, "id": "rs_2"}]}),
        chunk({"content": "Let me see."}),
        chunk({"tool_calls": [piece(0, "", name="add")]}), chunk({"tool_calls": [piece(0, '{"a"')]}),
        chunk({"tool_calls": [piece(0, ": 1}")]}), chunk({"tool_calls": [piece(1, "{}", name="find")]}),
        chunk({"content": ""}, "tool_calls"),
    ],
}

validate = ChatResult.model_validate


def arguments(text):
    try:
        return json.loads(text or "{}") or {}
    except ValueError:
        return text


def read(reply):
    """Returns the calls and the text according to the official types."""
    message = validate(reply).choices[0].message
    calls = [(each.id, each.function.name, arguments(each.function.arguments)) for each in message.tool_calls or []]
    return calls, message.content or ""


def accumulate(events):
    """Joins the chunks, which the official types read. The package has no function that does."""
    calls, content = {}, ""
    for event in events:
        for choice in ChatStreamChunk.model_validate(event).choices:
            content += choice.delta.content or ""
            for each in choice.delta.tool_calls or []:
                known = calls.setdefault(each.index, call(each.id, "", ""))["function"]
                known["name"] += each.function.name or ""
                known["arguments"] += each.function.arguments
    return completion(*calls.values(), content=content)


def check_messages(messages):
    """Raises an error if the messages break a rule of the API."""
    check_chat(messages)
    ChatAssistantMessage.model_validate(messages[0])
    for detail in messages[0].get("reasoning_details", []):
        if not detail["type"].startswith("reasoning.") or ENCRYPTED["data"] * 2 in detail.get("data", ""):
            raise Mismatch(f"not a detail: {detail}")
    for message in messages[1:]:
        if message["role"] == "tool":
            ChatToolMessage.model_validate(message)
