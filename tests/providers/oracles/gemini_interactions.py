"""Gemini Interactions."""

import json

from google.genai._gaos.types.interactions.interaction import Interaction, InteractionStatus
from google.genai._gaos.types.interactions.interactionsseevent import InteractionSSEEvent
from google.genai._gaos.types.interactions.step import _STEP_VARIANTS
from google.genai._gaos.types.interactions.functionresultsubcontent import _FUNCTION_RESULT_SUBCONTENT_VARIANTS
from pydantic import TypeAdapter

from .typed import Mismatch, check_name, literals

API = "interactions"
STOP_REASONS = literals(InteractionStatus)
KEYS = {kind: set(model.model_fields) for kind, model in _STEP_VARIANTS.items()}


def call(call_id, name, arguments):
    return {"type": "function_call", "id": call_id, "name": name, "arguments": arguments}


def interaction(*steps, status="requires_action"):
    return {"id": "int_1", "object": "interaction", "model": "gemini", "status": status, "steps": list(steps),
            "created": "2026-11-01T00:00:00Z", "updated": "2026-11-01T00:00:00Z"}


THOUGHT = {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "Hm."}]}
OUTPUT = {"type": "model_output", "content": [{"type": "text", "text": "Let me see."}]}
REPLIES = {
    "one call": interaction(call("zggx", "add", {"a": 1, "b": 2})),
    "thought, text and two calls": interaction(
        THOUGHT, OUTPUT, call("zggx", "add", {"a": "é"}), call("zggy", "find", {})),
    "calls of a completed interaction": interaction(call("zggx", "add", {}), status="completed"),
    "a tool of the provider": interaction(
        {"type": "google_search_call", "id": "gs_1", "arguments": {"queries": ["x"]}},
        {"type": "google_search_result", "call_id": "gs_1", "result": [{"search_suggestions": "x"}]},
        call("zggx", "add", {"a": 1})),
    "an unknown tool": interaction(call("zggx", "subtract", {})),
}


def hostile(name, arguments):
    return interaction(call("zggx", name, arguments))


def event(kind, index=None, **fields):
    return {"event_type": kind, **({} if index is None else {"index": index}), **fields}


def streamed(index, step, *deltas):
    """Returns the events of a step."""
    return [event("step.start", index, step=step), *(event("step.delta", index, delta=delta) for delta in deltas),
            event("step.stop", index)]


def arguments(text):
    return {"type": "arguments_delta", "arguments": text}


CREATED = event("interaction.created", interaction={"id": "int_1", "status": "in_progress"})
COMPLETED = event("interaction.completed", interaction={"id": "int_1", "status": "requires_action"})
STREAMS = {
    "thought, text and a call": [
        CREATED,
        *streamed(0, {"type": "thought"}, {"type": "thought_summary", "content": {"type": "text", "text": "Hm."}},
                  {"type": "thought_signature", "signature": "c2ln"}),
        *streamed(1, {"type": "model_output"}, {"type": "text", "text": "Let me "}, {"type": "text", "text": "see."}),
        *streamed(2, call("zggx", "add", {}), arguments('{"a"'), arguments(": 1}")), COMPLETED],
    "two calls, one of them whole": [
        CREATED, *streamed(0, call("zggx", "add", {"a": 1})), *streamed(1, call("zggy", "find", {}), arguments("{}")),
        COMPLETED],
}

validate = Interaction.model_validate


def read(reply):
    """Returns the calls and the text according to the official types."""
    steps = validate(reply).steps
    calls = [(step.id, step.name, step.arguments) for step in steps if step.type == "function_call"]
    content = [part for step in steps if step.type == "model_output" for part in step.content or []]
    return calls, "".join(part.text for part in content if part.type == "text")


def accumulate(events):
    """Joins the events, which the official types read. The package has no function that does."""
    steps, texts = {}, {}
    for sent in events:
        found = TypeAdapter(InteractionSSEEvent).validate_python(sent)
        if found.event_type == "step.start":
            steps[found.index] = dict(sent["step"])
        elif found.event_type == "step.delta":
            step, delta = steps[found.index], found.delta
            if delta.type == "arguments_delta":
                texts[found.index] = texts.get(found.index, "") + delta.arguments
            elif delta.type == "text":
                before = step.get("content", [{"text": ""}])[0]["text"]
                step["content"] = [{"type": "text", "text": before + delta.text}]
    for index, text in texts.items():
        steps[index]["arguments"] = json.loads(text)
    return interaction(*steps.values())


def check_messages(steps):
    """Raises an error if the steps break a rule of the API."""
    calls, results = [], []
    for step in steps:
        if step.get("type") not in _STEP_VARIANTS:
            raise Mismatch(f"the type of {step}")
        _STEP_VARIANTS[step["type"]].model_validate(step)
        if set(step) - KEYS[step["type"]]:
            raise Mismatch(f"unknown keys in {step}")
        if step["type"] == "function_call":
            calls.append((step["id"], step["name"]))
            check_name(step["name"], "_.:-", "(?![0-9.:-])")
        elif step["type"] == "function_result":
            results.append((step["call_id"], step["name"]))
            check_result(step["result"])
        elif step["type"] == "model_output":
            if any(part.get("text") == "" for part in step["content"]):
                raise Mismatch("an empty text")
    if calls != results:
        raise Mismatch("each call has one result, in order")


def check_result(result):
    if isinstance(result, str) and not result.strip() or result == []:
        raise Mismatch("an empty result")
    for part in result if isinstance(result, list) else []:
        if part.get("type") not in _FUNCTION_RESULT_SUBCONTENT_VARIANTS:
            raise Mismatch(f"the type of {part}")
        kind = _FUNCTION_RESULT_SUBCONTENT_VARIANTS[part["type"]]
        kind.model_validate(part)
        if set(part) - set(kind.model_fields):
            raise Mismatch(f"unknown keys in {part}")


def breaks(steps):
    """Yields changes that break a rule."""
    result = steps[-1]
    yield "a missing result", lambda: steps.remove(result)
    yield "a doubled result", lambda: steps.append(dict(result))
    yield "another id", lambda: result.update(call_id="zgg0")
    yield "another name", lambda: result.update(name="other")
    yield "a list of texts", lambda: result.update(result=["three"])
    yield "a part of generateContent", lambda: result.update(result=[{"inlineData": {}}])
    yield "no result", lambda: result.pop("result")
    yield "an unknown key", lambda: result.update(response={})
