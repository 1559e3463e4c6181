"""Writes the requests that the official packages send, or compares them with those of a file.

`sent.py FILE [--write]`: `crates/providers/tests/it/requests/recorded.rs` compares the file with the requests of this
project, field by field. No request is sent: the packages get a transport that only records."""

import json
import os
import pathlib
import sys
import warnings

warnings.simplefilter("ignore")
os.environ["AWS_BEARER_TOKEN_BEDROCK"] = "key"

import anthropic
import botocore.session
import cohere
import httpx
import httpx2
import ollama
import openai
from google import genai
from google.genai import types
from mistralai.client import Mistral

PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
              "required": ["a", "b"], "additionalProperties": False}
ANSWER = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"],
          "additionalProperties": False}
ADD = {"name": "math_add", "description": "Adds two integers."}

# What a program wants. An API that has no field for it has no request, and must be an error here.
INTENTS = {
    "a question": {},
    "instructions": {"system": "Be brief."},
    "a limit": {"max_tokens": 500},
    "a stream": {"stream": True},
    "tools": {"tools": True},
    "tools and instructions in a stream": {"tools": True, "system": "Be brief.", "stream": True, "max_tokens": 4000},
    "any choice": {"tools": True, "choice": "auto"},
    "a call is required": {"tools": True, "choice": "required"},
    "no call": {"tools": True, "choice": "none"},
    "one tool": {"tools": True, "choice": {"tool": "math_add"}},
    "one call at a time": {"tools": True, "sequential": True},
    "one call at a time, required": {"tools": True, "sequential": True, "choice": "required"},
    "no thinking": {"thinking": "off"},
    "little thinking": {"thinking": "low"},
    "much thinking": {"thinking": "high", "max_tokens": 4000},
    "tokens of thinking": {"thinking": 2000, "max_tokens": 4000},
    "a cache": {"cache": True, "system": "Be brief.", "tools": True},
    "a typed answer": {"answer": True},
    "a typed answer within limits": {"answer": True, "max_tokens": 500, "thinking": "low"},
    "a typed answer beside tools": {"answer": True, "tools": True},
}
QUESTION = "What is 2 + 3?"
MODEL = "model-1"


class Unsupported(Exception):
    """The API has no field for it."""


class Recorded(Exception):
    """The request was recorded instead of sent."""


recorded = []


def record(request):
    recorded.append((request.method, str(request.url), dict(request.headers), request.content))
    raise Recorded


def only(value, allowed):
    if value not in allowed:
        raise Unsupported
    return value


def unsupported(*conditions):
    if any(conditions):
        raise Unsupported


def openai_functions():
    return [{"type": "function", "function": {**ADD, "parameters": PARAMETERS}}]


def effort(intent):
    thinking = intent.get("thinking")
    unsupported(isinstance(thinking, int))
    return {"off": "none"}.get(thinking, thinking)


def anthropic_messages(intent):
    client = anthropic.Anthropic(api_key="key", max_retries=0,
                                 http_client=httpx2.Client(transport=httpx2.MockTransport(record)))
    more = {}
    choice = intent.get("choice")
    if choice:
        more["tool_choice"] = {"auto": {"type": "auto"}, "required": {"type": "any"}, "none": {"type": "none"}}[choice] \
            if isinstance(choice, str) else {"type": "tool", "name": choice["tool"]}
    if intent.get("sequential"):
        more["tool_choice"] = {"type": "auto", **more.get("tool_choice", {}), "disable_parallel_tool_use": True}
    thinking = intent.get("thinking")
    if thinking == "off":
        more["thinking"] = {"type": "disabled"}
    elif isinstance(thinking, int):
        more["thinking"] = {"type": "enabled", "budget_tokens": thinking}
    elif thinking:
        more["thinking"] = {"type": "adaptive"}
        more["output_config"] = {"effort": thinking}
    if intent.get("answer"):
        more.setdefault("output_config", {})["format"] = {"type": "json_schema", "schema": ANSWER}
    if intent.get("tools"):
        more["tools"] = [{**ADD, "input_schema": PARAMETERS}]
    if intent.get("cache"):
        more["cache_control"] = {"type": "ephemeral"}
    if intent.get("system"):
        more["system"] = intent["system"]
    if intent.get("stream"):
        more["stream"] = True
    client.messages.create(model=MODEL, max_tokens=intent.get("max_tokens", 8192),
                           messages=[{"role": "user", "content": QUESTION}], **more)


def openai_client():
    transport = httpx.Client(transport=httpx.MockTransport(record))
    return openai.OpenAI(api_key="key", max_retries=0, http_client=transport)


def openai_responses(intent):
    more = {}
    choice = intent.get("choice")
    if choice:
        more["tool_choice"] = choice if isinstance(choice, str) else {"type": "function", "name": choice["tool"]}
    if intent.get("sequential"):
        more["parallel_tool_calls"] = False
    if intent.get("thinking"):
        more["reasoning"] = {"effort": effort(intent)}
    if intent.get("answer"):
        more["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": ANSWER, "strict": True}}
    if intent.get("tools"):
        more["tools"] = [{"type": "function", **ADD, "parameters": PARAMETERS, "strict": False}]
    if intent.get("max_tokens"):
        more["max_output_tokens"] = intent["max_tokens"]
    if intent.get("system"):
        more["instructions"] = intent["system"]
    if intent.get("stream"):
        more["stream"] = True
    openai_client().responses.create(model=MODEL, input=[{"role": "user", "content": QUESTION}], **more)


def messages(intent):
    system = [{"role": "system", "content": intent["system"]}] if intent.get("system") else []
    return system + [{"role": "user", "content": QUESTION}]


def openai_chat(intent):
    more = {}
    choice = intent.get("choice")
    if choice:
        more["tool_choice"] = choice if isinstance(choice, str) else \
            {"type": "function", "function": {"name": choice["tool"]}}
    if intent.get("sequential"):
        more["parallel_tool_calls"] = False
    if intent.get("thinking"):
        more["reasoning_effort"] = effort(intent)
    if intent.get("answer"):
        more["response_format"] = {"type": "json_schema",
                                   "json_schema": {"name": "answer", "schema": ANSWER, "strict": True}}
    if intent.get("tools"):
        more["tools"] = openai_functions()
    if intent.get("max_tokens"):
        more["max_completion_tokens"] = intent["max_tokens"]
    if intent.get("stream"):
        more.update(stream=True, stream_options={"include_usage": True})
    openai_client().chat.completions.create(model=MODEL, messages=messages(intent), **more)


def google():
    options = types.HttpOptions(httpx_client=httpx.Client(transport=httpx.MockTransport(record)))
    return genai.Client(api_key="key", http_options=options)


def gemini(intent):
    unsupported(intent.get("sequential"))
    config = {}
    choice = intent.get("choice")
    if choice:
        names = None if isinstance(choice, str) else [choice["tool"]]
        mode = {"auto": "AUTO", "none": "NONE"}.get(choice, "ANY") if isinstance(choice, str) else "ANY"
        calling = types.FunctionCallingConfig(mode=mode, allowed_function_names=names)
        config["tool_config"] = types.ToolConfig(function_calling_config=calling)
    thinking = intent.get("thinking")
    if thinking == "off" or isinstance(thinking, int):
        config["thinking_config"] = types.ThinkingConfig(thinking_budget=0 if thinking == "off" else thinking)
    elif thinking:
        config["thinking_config"] = types.ThinkingConfig(thinking_level=thinking.upper())
    if intent.get("answer"):
        config.update(response_mime_type="application/json", response_json_schema=ANSWER)
    if intent.get("tools"):
        declaration = types.FunctionDeclaration(**ADD, parameters_json_schema=PARAMETERS)
        config["tools"] = [types.Tool(function_declarations=[declaration])]
    config["max_output_tokens"] = intent.get("max_tokens")
    config["system_instruction"] = intent.get("system")
    contents = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
    models = google().models
    call = models.generate_content_stream if intent.get("stream") else models.generate_content
    list(call(model=MODEL, contents=contents, config=types.GenerateContentConfig(**config)))


def gemini_interactions(intent):
    unsupported(intent.get("sequential"), intent.get("thinking") == "off")
    more, config = {}, {}
    choice = intent.get("choice")
    if choice:
        config["tool_choice"] = {"required": "any"}.get(choice, choice) if isinstance(choice, str) else \
            {"allowed_tools": {"mode": "any", "tools": [choice["tool"]]}}
    if intent.get("thinking"):
        config["thinking_level"] = effort(intent)
    if intent.get("max_tokens"):
        config["max_output_tokens"] = intent["max_tokens"]
    if config:
        more["generation_config"] = config
    if intent.get("answer"):
        more["response_format"] = {"type": "text", "mime_type": "application/json", "schema": ANSWER}
    if intent.get("tools"):
        more["tools"] = [{"type": "function", **ADD, "parameters": PARAMETERS}]
    if intent.get("system"):
        more["system_instruction"] = intent["system"]
    if intent.get("stream"):
        more["stream"] = True
    step = {"type": "user_input", "content": [{"type": "text", "text": QUESTION}]}
    google().interactions.create(model=MODEL, input=[step], store=False, **more)


def bedrock(intent):
    thinking = intent.get("thinking")
    unsupported(intent.get("sequential"), intent.get("choice") == "none", thinking == "off", isinstance(thinking, int))
    client = botocore.session.get_session().create_client("bedrock-runtime", region_name="us-east-1")

    def before(request, **_):
        headers = {name.lower(): value.decode() if isinstance(value, bytes) else str(value)
                   for name, value in request.headers.items()}
        recorded.append((request.method, request.url, headers, request.body))
        raise Recorded

    client.meta.events.register("before-send.bedrock-runtime", before)
    point = {"cachePoint": {"type": "default"}}
    points = [point] if intent.get("cache") else []
    more = {}
    if intent.get("tools"):
        spec = {**ADD, "inputSchema": {"json": PARAMETERS}}
        more["toolConfig"] = {"tools": [{"toolSpec": spec}, *points]}
    choice = intent.get("choice")
    if choice:
        more["toolConfig"]["toolChoice"] = {"auto": {"auto": {}}, "required": {"any": {}}}[choice] \
            if isinstance(choice, str) else {"tool": {"name": choice["tool"]}}
    if intent.get("system"):
        more["system"] = [{"text": intent["system"]}, *points]
    if intent.get("max_tokens"):
        more["inferenceConfig"] = {"maxTokens": intent["max_tokens"]}
    if thinking:
        more["outputConfig"] = {"effort": thinking}
    if intent.get("answer"):
        schema = {"jsonSchema": {"name": "answer", "schema": json.dumps(ANSWER, separators=(",", ":"), sort_keys=True)}}
        more.setdefault("outputConfig", {})["textFormat"] = {"type": "json_schema", "structure": schema}
    call = client.converse_stream if intent.get("stream") else client.converse
    call(modelId=MODEL, messages=[{"role": "user", "content": [{"text": QUESTION}, *points]}], **more)


def mistral_client():
    return Mistral(api_key="key", client=httpx.Client(transport=httpx.MockTransport(record)))


def mistral(intent):
    unsupported(intent.get("cache"))
    more = {}
    choice = intent.get("choice")
    if choice:
        more["tool_choice"] = {"required": "any"}.get(choice, choice) if isinstance(choice, str) else \
            {"type": "function", "function": {"name": choice["tool"]}}
    if intent.get("sequential"):
        more["parallel_tool_calls"] = False
    if intent.get("thinking"):
        more["reasoning_effort"] = effort(intent)
    if intent.get("answer"):
        schema = {"name": "answer", "schema": ANSWER, "strict": True}
        more["response_format"] = {"type": "json_schema", "json_schema": schema}
    if intent.get("tools"):
        more["tools"] = openai_functions()
    if intent.get("max_tokens"):
        more["max_tokens"] = intent["max_tokens"]
    chat = mistral_client().chat
    call = chat.stream if intent.get("stream") else chat.complete
    call(model=MODEL, messages=messages(intent), **more)


def mistral_conversations(intent):
    unsupported(intent.get("cache"), intent.get("sequential"), isinstance(intent.get("choice"), dict))
    more, arguments = {}, {}
    choice = intent.get("choice")
    if choice:
        arguments["tool_choice"] = {"required": "any"}.get(choice, choice)
    if intent.get("thinking"):
        arguments["reasoning_effort"] = effort(intent)
    if intent.get("answer"):
        schema = {"name": "answer", "schema": ANSWER, "strict": True}
        arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
    if intent.get("max_tokens"):
        arguments["max_tokens"] = intent["max_tokens"]
    if arguments:
        more["completion_args"] = arguments
    if intent.get("tools"):
        more["tools"] = openai_functions()
    if intent.get("system"):
        more["instructions"] = intent["system"]
    conversations = mistral_client().beta.conversations
    call = conversations.start_stream if intent.get("stream") else conversations.start
    entry = {"object": "entry", "type": "message.input", "role": "user", "content": QUESTION}
    call(model=MODEL, inputs=[entry], store=False, **more)


def cohere_chat(intent):
    unsupported(intent.get("sequential"), isinstance(intent.get("choice"), dict), intent.get("thinking") in ("low", "high"),
                intent.get("answer") and intent.get("tools"))
    more = {}
    choice = intent.get("choice")
    if choice and choice != "auto":
        more["tool_choice"] = choice.upper()
    thinking = intent.get("thinking")
    if thinking:
        more["thinking"] = cohere.Thinking(type="disabled") if thinking == "off" else \
            cohere.Thinking(type="enabled", token_budget=thinking)
    if intent.get("answer"):
        more["response_format"] = cohere.JsonObjectResponseFormatV2(json_schema=ANSWER)
    if intent.get("tools"):
        more["tools"] = openai_functions()
    if intent.get("max_tokens"):
        more["max_tokens"] = intent["max_tokens"]
    client = cohere.ClientV2(api_key="key", httpx_client=httpx.Client(transport=httpx.MockTransport(record)))
    call = client.chat_stream if intent.get("stream") else client.chat
    list(call(model=MODEL, messages=messages(intent), **more))


def ollama_chat(intent):
    unsupported(intent.get("sequential"), intent.get("choice", "auto") != "auto", isinstance(intent.get("thinking"), int))
    more = {}
    thinking = intent.get("thinking")
    if thinking:
        more["think"] = False if thinking == "off" else thinking
    if intent.get("answer"):
        more["format"] = ANSWER
    if intent.get("tools"):
        more["tools"] = openai_functions()
    if intent.get("max_tokens"):
        more["options"] = {"num_predict": intent["max_tokens"]}
    client = ollama.Client(transport=httpx.MockTransport(record))
    list(client.chat(model=MODEL, messages=messages(intent), stream=bool(intent.get("stream")), **more))


APIS = {"anthropic": anthropic_messages, "openai": openai_responses, "openai-chat": openai_chat, "gemini": gemini,
        "gemini-interactions": gemini_interactions, "bedrock": bedrock, "mistral": mistral,
        "mistral-conversations": mistral_conversations, "cohere": cohere_chat, "ollama": ollama_chat}
# Fields with the value that they have without being sent, which some packages send.
DEFAULTS = [("stream", False), ("prefix", False), ("tools", []), ("generationConfig", {})]
# Google's package writes some fields in snake_case, which `generateContent` reads as camelCase.
CAMEL = {"thinking_level": "thinkingLevel", "thinking_budget": "thinkingBudget",
         "parameters_json_schema": "parametersJsonSchema"}
HEADERS = ["anthropic-version", "authorization", "content-type", "x-api-key", "x-goog-api-key"]


def plain(api, value):
    if isinstance(value, list):
        return [plain(api, item) for item in value]
    if not isinstance(value, dict):
        return value
    # The type of a tool of Ollama's package drops a keyword that Ollama reads.
    dropped = {"additionalProperties": False} if api == "ollama" and value.keys() == {"type", "required", "properties"} else {}
    return {CAMEL.get(name, name) if api == "gemini" else name: plain(api, item)
            for name, item in {**value, **dropped}.items()
            if (name, item) not in DEFAULTS or api == "ollama" and name == "stream"}


def request(api, intent):
    """Returns what the package sends, or None if the API has no field for it."""
    recorded.clear()
    try:
        APIS[api](intent)
    except Unsupported:
        return None
    except Exception:
        # The packages wrap the exception of the transport.
        if not recorded:
            raise
    method, url, headers, body = recorded[0]
    url = url.split("#")[0]
    return {"method": method, "url": url, "headers": {name: headers[name] for name in HEADERS if name in headers},
            "body": plain(api, json.loads(body))}


requests = [{"api": api, "name": name, "intent": intent, "request": request(api, intent)}
            for api in APIS for name, intent in INTENTS.items()]
path = pathlib.Path(sys.argv[1])
if "--write" in sys.argv:
    path.write_text("[\n" + ",\n".join(json.dumps(each) for each in requests) + "\n]\n")
known = json.loads(path.read_text())
different = [f"{each['api']}, {each['name']}" for each in requests if each not in known]
print(f"requests of the official packages: {len(requests)}, {len(different)} differ from {path.name}")
print("\n".join(different), end="")
sys.exit(bool(different) or len(known) != len(requests))
