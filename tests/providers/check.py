"""Reads the exports in a folder with the providers' own types, and asks their strict normalisers for a change."""

import copy
import json
import pathlib
import sys

import jsonschema
from agents.strict_schema import ensure_strict_json_schema
from anthropic import transform_schema
from anthropic.types import ToolParam, ToolSearchToolBm25_20251119Param
from cohere.types import ToolV2, ToolV2Function
from google.genai import types as gemini
from google.genai._gaos.types.interactions.function import Function
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionTool, FunctionToolParam, NamespaceTool, NamespaceToolParam, ToolSearchToolParam
from pydantic import TypeAdapter

FOLDER = pathlib.Path(sys.argv[1])
n_checked = 0


def exported(name):
    global n_checked
    tools = json.loads((FOLDER / f"{name}.json").read_text())
    n_checked += len(tools)
    assert tools, name
    return tools


def sound(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object", schema


def without_types_of_enums(schema):
    """The official SDK leaves out the type beside an enum; its documents allow both."""
    if isinstance(schema, list):
        return [without_types_of_enums(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: without_types_of_enums(value) for key, value in schema.items()}
    if "enum" in kept:
        kept.pop("type", None)
    return kept


for strict in ("", "--strict"):
    n_strict = 0
    for tool in exported("openai" + strict):
        FunctionTool.model_validate(tool, strict=True)
        sound(tool["parameters"])
        if tool["strict"]:
            n_strict += 1
            assert ensure_strict_json_schema(copy.deepcopy(tool["parameters"])) == tool["parameters"], tool["name"]
    assert (n_strict > 0) == bool(strict)
    for tool in exported("openai-chat" + strict):
        TypeAdapter(ChatCompletionFunctionToolParam).validate_python(tool)
        sound(tool["function"]["parameters"])

    n_strict = 0
    for tool in exported("anthropic" + strict):
        TypeAdapter(ToolParam).validate_python(tool)
        sound(tool["input_schema"])
        for example in tool.get("input_examples", []):
            jsonschema.validate(example, tool["input_schema"])
        if tool.get("strict"):
            n_strict += 1
            transformed = transform_schema(copy.deepcopy(tool["input_schema"]))
            assert without_types_of_enums(transformed) == without_types_of_enums(tool["input_schema"]), tool["name"]
    assert (n_strict > 0) == bool(strict)

n_searches = 0
for tool in exported("anthropic-deferred"):
    if tool.get("type", "custom") != "custom":
        # The last one of each catalog.
        n_searches += 1
        TypeAdapter(ToolSearchToolBm25_20251119Param).validate_python(tool)
    else:
        TypeAdapter(ToolParam).validate_python(tool)
        assert tool["defer_loading"] is True
assert n_searches > 0

for strict in ("", "--strict"):
    n_namespaces = 0
    namespaces = exported("openai-namespaces" + strict)
    for tool in namespaces:
        if strict and tool["type"] == "tool_search":
            TypeAdapter(ToolSearchToolParam).validate_python(tool)
            continue
        functions = [tool]
        if tool["type"] == "namespace":
            n_namespaces += 1
            NamespaceTool.model_validate(tool, strict=True)
            TypeAdapter(NamespaceToolParam).validate_python(tool)
            functions = tool["tools"]
        for function in functions:
            TypeAdapter(FunctionToolParam).validate_python(function)
            sound(function["parameters"])
            assert function.get("defer_loading") is (True if strict else None), function["name"]
            if function["strict"]:
                schema = function["parameters"]
                assert ensure_strict_json_schema(copy.deepcopy(schema)) == schema, function["name"]
        assert len({function["name"] for function in functions}) == len(functions)
    assert n_namespaces > 1

for tool in exported("gemini"):
    for declaration in gemini.Tool.model_validate(tool).function_declarations:
        sound(declaration.parameters_json_schema)
for tool in exported("gemini-interactions"):
    Function.model_validate(tool)
    assert set(tool) <= set(Function.model_fields), tool
    sound(tool["parameters"])
for tool in exported("openai-chat"):
    TypeAdapter(ToolV2).validate_python(tool)
    assert set(tool["function"]) <= set(ToolV2Function.model_fields), tool

print(f"{n_checked} tools read by the providers' own packages")
