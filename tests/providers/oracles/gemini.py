"""Gemini generateContent."""

from google.genai import types

from .typed import Mismatch, check_name

API = "gemini"
STOP_REASONS = {reason.value for reason in types.FinishReason}


def call(name, arguments, **more):
    return {"functionCall": {"name": name, "args": arguments, **more}}


def response(*parts, reason="STOP"):
    return {"responseId": "r_1", "candidates": [{"content": {"role": "model", "parts": list(parts)},
                                                 "finishReason": reason, "index": 0}]}


TEXT = {"text": "Let me see."}
REPLIES = {
    "one call": response(call("add", {"a": 1, "b": 2})),
    "a call with an id": response(call("add", {"a": 1}, id="x1")),
    "text and two calls": response(TEXT, {**call("add", {"a": "é"}), "thoughtSignature": "c2ln"}, call("find", {})),
    "two calls of a tool": response(call("add", {"a": 1}), call("add", {"a": 2})),
    "no arguments": response({"functionCall": {"name": "find"}}),
    "thoughts": response({"text": "Hm.", "thought": True}, {**call("add", {"a": [1, None]}), "thoughtSignature": "cw=="}),
    "code of the provider": response(
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}, call("add", {"a": 1})),
    "an unknown tool": response(call("subtract", {})),
}
STREAMS = {
    "a call in one chunk": [response(TEXT, reason=None), response(call("add", {"a": 1}))],
    "calls in two chunks": [response(call("add", {"a": 1}), reason=None), response(call("find", {}))],
}



def hostile(name, arguments):
    return response({"text": ""}, call(name, arguments))


validate = types.GenerateContentResponse.model_validate


def parsed(reply):
    # The package forbids keys that it does not know, and reads a reply field by field.
    candidates = [{"content": each["content"]} for each in reply.get("candidates", []) if "content" in each]
    return types.GenerateContentResponse.model_validate({"candidates": candidates})


def read(reply):
    """Returns the calls and the text according to the official types."""
    reply = parsed(reply)
    parts = (reply.candidates[0].content.parts if reply.candidates and reply.candidates[0].content else None) or []
    calls = [part.function_call for part in parts if part.function_call]
    text = "".join(part.text for part in parts if part.text and not part.thought)
    return [(call.id, call.name, call.args or {}) for call in calls], text


def same(found, expected):
    """An id that the reply does not have is derived."""
    calls = [(call[0] if other[0] else None, *call[1:]) for call, other in zip(found[0], expected[0])]
    return len(found[0]) == len(expected[0]) and (calls, found[1]) == expected


def accumulate(events):
    """Joins the chunks, each of which is a whole reply."""
    parts = []
    for event in events:
        reply = parsed(event)
        if reply.candidates and reply.candidates[0].content:
            parts.extend(reply.candidates[0].content.parts or [])
    if any(part.function_call and (part.function_call.partial_args or part.function_call.will_continue) for part in parts):
        raise NotImplementedError("arguments in pieces")
    parts = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in parts]
    return response(*parts)


def check_messages(messages):
    """Raises an error if the contents break a rule of the API."""
    calls = []
    for number, each in enumerate(messages):
        content = types.Content.model_validate(each, strict=False)
        if content.role != ("model" if number % 2 == 0 else "user"):
            raise Mismatch(f"content {number} is of {content.role}")
        found = [part.function_call for part in content.parts if part.function_call]
        if content.role == "model":
            calls = found
            for each_call in calls:
                check_name(each_call.name, "_.:-", first="(?=[a-zA-Z_])")
            if any(part.text == "" and not part.thought_signature for part in content.parts):
                raise Mismatch("must have a text parameter")
            continue
        answers = [part.function_response for part in content.parts if part.function_response]
        if found or len(answers) != len(calls):
            raise Mismatch("the number of function response parts is not that of function call parts")
        for answer, answered in zip(answers, calls):
            if (answer.name, answer.id) != (answered.name, answered.id):
                raise Mismatch(f"{answer.name} {answer.id} answers {answered.name} {answered.id}")
            if list(answer.response or {}) not in (["output"], ["error"]):
                raise Mismatch(f"a response of {answer.response}")
        calls = []
    if calls:
        raise Mismatch("no results")


def breaks(messages):
    """Yields changes that break a rule."""
    parts = messages[-1]["parts"]
    result = parts[0]["functionResponse"]
    yield "a name with a space", lambda: messages[0]["parts"][-1]["functionCall"].update(name="a b")
    yield "arguments as text", lambda: messages[0]["parts"][-1]["functionCall"].update(args="{}")
    yield "a missing result", lambda: parts.pop(0)
    yield "a doubled result", lambda: parts.append(parts[0])
    yield "another name", lambda: result.update(name="other")
    yield "another id", lambda: result.update(id="other")
    yield "a text as response", lambda: result.update(response="3")
    yield "another key", lambda: result.update(response={"result": 3})
    yield "an unknown key", lambda: result.update(is_error=True)
    yield "a message of a tool", lambda: messages[-1].update(role="tool")
    yield "two contents", lambda: messages.append({"role": "user", "parts": [parts.pop(0)]})
