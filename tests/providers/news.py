"""Compares the types of the installed SDKs of the providers with a list, and names what is new or gone.

`news.py [--update]`: the list is `sdk_types.json` beside this script. It has the variants of the unions of replies,
request items and tools, the fields of function tools, and the reasons to stop. `tests/providers/nightly` runs it with the
newest SDKs; `--update` writes the list, once what is new was looked at."""

import importlib
import importlib.metadata
import json
import pathlib
import sys
import typing
import warnings

import typing_extensions

warnings.simplefilter("ignore")
LIST = pathlib.Path(__file__).with_name("sdk_types.json")

# The package, and the types whose variants or fields are compared.
UNIONS = {
    "anthropic": ["anthropic.types:ContentBlock", "anthropic.types:ContentBlockParam", "anthropic.types:ToolUnionParam",
                  "anthropic.types:RawMessageStreamEvent", "anthropic.types:RawContentBlockDelta",
                  "anthropic.types:StopReason", "anthropic.types.beta:BetaStopReason",
                  "anthropic.types.beta:BetaToolUnionParam"],
    "openai": ["openai.types.responses:ResponseOutputItem", "openai.types.responses:ResponseInputItemParam",
               "openai.types.responses:ToolParam", "openai.types.responses:ResponseStreamEvent",
               "openai.types.responses:ResponseStatus", "openai.types.chat:ChatCompletionMessageParam",
               "openai.types.chat:ChatCompletionToolUnionParam"],
    "google-genai": ["google.genai.types:FinishReason", "google.genai.types:BlockedReason",
                     "google.genai.types:Behavior",
                     "google.genai._gaos.types.interactions.interaction:InteractionStatus",
                     "google.genai._gaos.types.interactions.step:StepParam",
                     "google.genai._gaos.types.interactions.stepdeltadata:StepDeltaDataTypedDict",
                     "google.genai._gaos.types.interactions.functionresultsubcontent:FunctionResultSubcontentParam"],
    "mistralai": ["mistralai.client.models:ConversationResponseOutput", "mistralai.client.models:InputEntries",
                  "mistralai.client.models:SSETypes"],
    "cohere": ["cohere.types:ChatFinishReason", "cohere.types:ChatMessageV2", "cohere.v2.types:V2ChatStreamResponse",
               "cohere.types:ToolContent"],
    "openrouter": ["openrouter.components:ChatFinishReasonEnum", "openrouter.components:ReasoningDetailUnionTypedDict"],
}
FIELDS = {
    "anthropic": ["anthropic.types:ToolParam", "anthropic.types:Message"],
    "openai": ["openai.types.responses:FunctionToolParam", "openai.types.shared_params:FunctionDefinition",
               "openai.types.chat:ChatCompletionMessage"],
    "google-genai": ["google.genai.types:FunctionDeclaration", "google.genai.types:Tool", "google.genai.types:Part",
                     "google.genai.types:FunctionCall", "google.genai.types:FunctionResponse",
                     "google.genai.types:Schema", "google.genai._gaos.types.interactions.function:Function"],
    "mistralai": ["mistralai.client.models:ToolCall", "mistralai.client.models:Function",
                  "mistralai.client.models:AssistantMessage", "mistralai.client.models:FunctionCallEntry"],
    "cohere": ["cohere.types:ToolV2Function", "cohere.types:AssistantMessageResponse"],
    "ollama": ["ollama:Message", "ollama:Tool"],
    "openrouter": ["openrouter.components:ChatAssistantMessage", "openrouter.components:ChatToolMessage"],
}
BEDROCK = ["ToolSpecification", "ContentBlock", "ToolResultContentBlock", "ContentBlockDelta", "Tool", "StopReason"]


def load(name):
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def variants(kind):
    """Returns the names of the variants of a union, or the values of an enum or a literal."""
    if hasattr(kind, "__value__"):
        return variants(kind.__value__)
    if hasattr(kind, "__members__"):
        return {member.value for member in kind}
    origin = typing.get_origin(kind)
    if origin in (typing.Annotated, typing_extensions.Annotated):
        return variants(typing.get_args(kind)[0])
    if origin in (typing.Literal, typing_extensions.Literal):
        return set(typing.get_args(kind))
    if origin is None:
        return {getattr(kind, "__name__", str(kind))}
    # Names of nested unions are those of their variants.
    return set().union(*(variants(argument) for argument in typing.get_args(kind)))


def fields(kind):
    declared = getattr(kind, "model_fields", None)
    return set(declared or typing_extensions.get_type_hints(kind))


def current():
    types, missing = {}, []
    for table, read in [(UNIONS, variants), (FIELDS, fields)]:
        for names in table.values():
            for name in names:
                try:
                    types[name] = sorted(map(str, read(load(name))))
                except (ImportError, AttributeError) as error:
                    missing.append(f"{name}: {error}")
    import botocore.session
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    for name in BEDROCK:
        shape = model.shape_for(name)
        types[f"botocore:{name}"] = sorted(getattr(shape, "enum", None) or shape.members)
    packages = [*dict.fromkeys([*UNIONS, *FIELDS]), "botocore"]
    return {"versions": {name: importlib.metadata.version(name) for name in packages}, "types": types}, missing


found, missing = current()
if "--update" in sys.argv:
    LIST.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
known = json.loads(LIST.read_text())
news = [f"{name} is gone" for name in missing]
for name in sorted(found["types"].keys() | known["types"].keys()):
    now, before = set(found["types"].get(name, [])), set(known["types"].get(name, []))
    news += [f"{name}: {value} is new" for value in sorted(now - before)]
    news += [f"{name}: {value} is gone" for value in sorted(before - now)]
for line in news:
    print(line)
print(f"{sum(map(len, found['types'].values()))} variants and fields of {len(found['types'])} types, {len(news)} differences")
sys.exit(bool(news))
