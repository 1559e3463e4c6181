"""OpenAI Responses."""

import json

from openai._models import construct_type_unchecked
from openai._types import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response, ResponseInputItemParam, ResponseStatus, ResponseStreamEvent
from openai.types.responses.response import IncompleteDetails
from openai.types.responses.response_input_param import FunctionCallOutput
from openai.types.responses import ResponseCustomToolCallOutputParam

from .typed import Mismatch, check, check_name, check_object_text, literals

API = "responses"
STOP_REASONS = literals(ResponseStatus) | {
    f"incomplete/{reason}" for reason in literals(IncompleteDetails.model_fields["reason"].annotation)}
OUTPUTS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}


def call(call_id, name, arguments, **more):
    return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name,
            "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments), "status": "completed",
            **more}


def response(*output, status="completed"):
    return {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt", "output": list(output),
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": status}


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
           "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}]}
REPLIES = {
    "one call": response(call("call_1", "add", {"a": 1, "b": 2})),
    "reasoning, text and two calls": response(
        REASONING, MESSAGE, call("call_1", "add", {"a": "é"}), call("call_2", "find", {})),
    "a namespace": response(call("call_1", "send", {"to": "me"}, namespace="mail")),
    "a calling program": response(
        {"type": "program", "id": "p_1", "call_id": "call_P", "code": "add()", "fingerprint": "f"},
        call("call_1", "add", {"a": 1}, caller={"type": "program", "caller_id": "call_P"}, status="in_progress")),
    "a custom tool": response(
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "shell", "input": "ls -l"}),
    "a tool of the provider": response(
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
        call("call_1", "add", {"a": 1})),
    "an unknown tool": response(call("call_1", "subtract", {})),
}




def hostile(name, arguments):
    return response({**call("call_1", name, "{}"), "arguments": arguments})


def event(kind, index=None, **fields):
    return {"type": f"response.{kind}", **({} if index is None else {"output_index": index}), **fields}


def streamed(index, item, *deltas):
    """Returns the events of an item."""
    started = {key: [] if key in ("content", "summary") else value for key, value in item.items()}
    if "arguments" in item:
        started.update(arguments="", status="in_progress")
    return [event("output_item.added", index, item=started), *deltas, event("output_item.done", index, item=item)]


STREAMS = {
    "reasoning, text and a call": [
        event("created", response=response(status="in_progress")),
        *streamed(0, REASONING, event("reasoning_summary_part.added", 0, summary_index=0, item_id="rs_1",
                                      part={"type": "summary_text", "text": ""}),
                  event("reasoning_summary_text.delta", 0, summary_index=0, item_id="rs_1", delta="Hm.")),
        *streamed(1, MESSAGE, event("content_part.added", 1, content_index=0, item_id="msg_1",
                                    part={"type": "output_text", "text": "", "annotations": []}),
                  event("output_text.delta", 1, content_index=0, item_id="msg_1", delta="Let me ")),
        *streamed(2, call("call_1", "add", {"a": 1}),
                  event("function_call_arguments.delta", 2, item_id="fc_call_1", delta='{"a"'),
                  event("function_call_arguments.delta", 2, item_id="fc_call_1", delta=': 1}')),
        event("completed", response=response(REASONING, MESSAGE, call("call_1", "add", {"a": 1}))),
    ],
}
validate = Response.model_validate


def read(reply):
    """Returns the calls and the text according to the official types."""
    reply = construct_type_unchecked(type_=Response, value=reply)
    calls = []
    for item in reply.output:
        if item.type == "function_call":
            calls.append((item.call_id, item.name, json.loads(item.arguments or "{}")))
        elif item.type == "custom_tool_call":
            calls.append((item.call_id, item.name, item.input))
    return calls, reply.output_text


def accumulate(events):
    """Returns the reply that the official package makes of a stream."""
    state = ResponseStreamState(input_tools=omit, text_format=omit)
    for event in events:
        state.handle_event(construct_type_unchecked(type_=ResponseStreamEvent, value=event))
    if state._completed_response is None:
        return None
    reply = state._completed_response.to_dict(mode="json")
    # ChatGPT leaves the items out at the end.
    if not reply["output"]:
        reply["output"] = [item.to_dict(mode="json") for _, item in sorted(state._completed_output.items())]
    return reply


def check_messages(items):
    """Raises an error if the items break a rule of the API."""
    waiting, has_results = {}, False
    for item in items:
        check(item, ResponseInputItemParam, unknown_keys=True)
        if item["type"] in OUTPUTS:
            if has_results:
                raise Mismatch("a call after results")
            waiting[item["call_id"]] = item
            check_name(item["name"])
            if not 1 <= len(item["call_id"]) <= 64:
                raise Mismatch("a call_id has 1 to 64 characters")
            if item["type"] == "function_call":
                check_object_text(item["arguments"])
        elif item["type"] in OUTPUTS.values():
            has_results = True
            check_result(item, waiting.pop(item["call_id"], None))
    if waiting:
        raise Mismatch(f"No tool output found for function call {', '.join(waiting)}")


def check_result(item, answered):
    if answered is None:
        raise Mismatch("No tool call found for function call output")
    if OUTPUTS[answered["type"]] != item["type"]:
        raise Mismatch("a result of another type")
    if answered["type"] == "function_call":
        if item.get("caller") != (answered.get("caller") if "caller_id" in answered.get("caller", {}) else None):
            raise Mismatch("another caller")
        check(item, FunctionCallOutput)
    else:
        check(item, ResponseCustomToolCallOutputParam)
    if item["output"] in ("", []):
        raise Mismatch("an empty output")


def breaks(items):
    """Yields changes that break a rule."""
    result = items[-1]
    call = next(item for item in items if item["type"] in OUTPUTS)
    yield "a name with a dot", lambda: call.update(name="functions.add")
    yield "a missing result", lambda: items.pop()
    yield "a doubled result", lambda: items.append(dict(result))
    yield "another id", lambda: result.update(call_id="call_0")
    yield "no output", lambda: result.pop("output")
    yield "an object as output", lambda: result.update(output={"sum": 3})
    yield "an unknown key", lambda: result.update(is_error=True)
    yield "a part of Anthropic", lambda: result.update(output=[{"type": "text", "text": "3"}])
    yield "a tool message", lambda: items.__setitem__(-1, {"role": "tool", "content": "3"})
    yield "no call", lambda: items.__delitem__(slice(0, -1))
