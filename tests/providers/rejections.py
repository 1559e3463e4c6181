"""Checks exported definitions against reports of rejected requests, independently of the rules of the program.

`rejections.py FOLDER…`: each folder has the files that `fixture_exports` writes. Each rule has the report that it is
from; none of the definitions may break one."""

import json
import pathlib
import re
import sys

OPENAI = ["openai", "openai-chat", "openai-namespaces"]
STRICT = ["openai--strict", "openai-chat--strict", "openai-namespaces--strict"]
ANTHROPIC = ["anthropic", "anthropic--strict", "anthropic-deferred"]
MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")


def types(node):
    kinds = node.get("type", [])
    return [kind.lower() for kind in (kinds if isinstance(kinds, list) else [kinds])]


def nodes(schema, root=True):
    if not isinstance(schema, dict):
        return
    yield schema, root
    for key, value in schema.items():
        if key in MAPS and isinstance(value, dict):
            subs = value.values()
        elif key in LISTS and isinstance(value, list):
            subs = value
        else:
            subs = [value] if key in SINGLE else []
        for sub in subs:
            yield from nodes(sub, False)


def patterns(node):
    return [node.get("pattern", ""), *node.get("patternProperties", {})]


def lookaround(node, _):
    return any(re.search(r"\(\?[=!<]|\\[1-9]", pattern) for pattern in patterns(node))


def root_choice(node, root):
    return root and any(key in node for key in ("anyOf", "oneOf", "allOf"))


def bad_bounds(node, _):
    return any(isinstance(node.get(key), bool) for key in ("exclusiveMinimum", "exclusiveMaximum"))


# For each report: the formats, and a function of a schema in the definition, and true for the root, that finds the fault.
SCHEMAS = {
    "sigoden/aichat#1049: array schema missing items": (
        OPENAI + STRICT, lambda node, _: "array" in types(node) and not isinstance(node.get("items"), dict)),
    "spring-projects/spring-ai#4776: object schema missing properties": (
        OPENAI + STRICT, lambda node, root: root and "properties" not in node),
    "farion1231/cc-switch#5490: schema must be of type object": (
        OPENAI + STRICT + ANTHROPIC, lambda node, root: root and node.get("type") != "object"),
    "vercel/ai#21037: regex lookaround is not supported": (OPENAI + STRICT, lookaround),
    "OpenAI: must not have enum, const or not at the top level": (
        OPENAI + STRICT + ANTHROPIC, lambda node, root: root and any(key in node for key in ("enum", "const", "not"))),
    "dearlordylord/huly-mcp#66: no oneOf, allOf or anyOf at the top level": (OPENAI + STRICT + ANTHROPIC, root_choice),
    "anthropics/claude-code#79418: property keys should match": (
        ANTHROPIC, lambda node, root: root and any(
            not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", key) for key in node.get("properties", {}))),
    "anthropics/claude-code#63673: draft 2020-12, bounds": (ANTHROPIC + OPENAI + STRICT, bad_bounds),
    "anthropics/claude-code#63673: draft 2020-12, tuples": (
        ANTHROPIC + OPENAI, lambda node, _: isinstance(node.get("items"), list)),
    "acomagu/vscode-as-mcp-server#6: required is a list": (
        ANTHROPIC + OPENAI + STRICT, lambda node, _: not isinstance(node.get("required", []), list)),
}
# The same of definitions in strict mode.
STRICT_SCHEMAS = {
    "Part-DB/Part-DB-server#1540: additionalProperties is false": (
        STRICT + ANTHROPIC, lambda node, _: "object" in types(node) and node.get("additionalProperties") is not False),
    "kevinwatt/mysql-mcp#5: required includes every key": (
        STRICT, lambda node, _: set(node.get("properties", {})) != set(node.get("required", []))
        and "object" in types(node)),
    "TanStack/ai#976: propertyNames is not permitted": (
        STRICT, lambda node, _: any(key in node for key in (
            "propertyNames", "allOf", "oneOf", "not", "if", "patternProperties", "minLength", "uniqueItems"))),
    "can1357/oh-my-pi#206: uri is not a valid format": (
        STRICT, lambda node, _: node.get("format") in ("uri", "uri-reference", "regex", "int32")),
    "camel-ai/camel#3001: $ref cannot have keywords": (
        STRICT, lambda node, root: not root and "$ref" in node and len(node) > 1),
}


def definitions(tools):
    for tool in tools:
        # The search tool of the provider beside deferred tools.
        if tool.get("type", "").startswith("tool_search"):
            continue
        for definition in tool.get("functionDeclarations", tool.get("tools", [tool.get("function", tool)])):
            schema = next((definition[key] for key in ("parameters", "input_schema") if key in definition), None)
            yield definition["name"], definition.get("strict") is True, schema


n_checked, broken = 0, []
for folder in sys.argv[1:]:
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        if path.stem not in OPENAI + STRICT + ANTHROPIC:
            continue
        for name, strict, schema in definitions(json.loads(path.read_text())):
            n_checked += 1
            if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", name):
                broken.append(f"{path.name} {name}: google-gemini/gemini-cli#7869: invalid function name")
            for report, (formats, breaks) in [*SCHEMAS.items(), *(STRICT_SCHEMAS.items() if strict else ())]:
                found = path.stem in formats and any(breaks(*node) for node in nodes(schema))
                broken.extend([f"{path.name} {name}: {report}"] if found else [])

for line in broken[:40]:
    print(line)
n_rules = len(SCHEMAS) + len(STRICT_SCHEMAS) + 1
print(f"{n_checked} exported definitions, {n_rules} rules of reports, {len(broken)} broken")
sys.exit(bool(broken))
