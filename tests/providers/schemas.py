"""Has Python's jsonschema check every schema of the exports in the folders, and ask it about a value.

    python schemas.py FOLDER…
"""

import json
import pathlib
import sys
from collections import Counter

import jsonschema
from jsonschema.validators import validator_for

# Where the schemas of a tool are.
PLACES = {
    "mcp": lambda tool: [tool.get("inputSchema"), tool.get("outputSchema")],
    "openai": lambda tool: [tool["parameters"], tool.get("output_schema")],
    "openai-chat": lambda tool: [tool["function"]["parameters"]],
    "anthropic": lambda tool: [tool["input_schema"]],
    "gemini-interactions": lambda tool: [tool["parameters"]],
    "gemini": lambda tool: [
        declaration.get(place)
        for declaration in tool["functionDeclarations"]
        for place in ("parametersJsonSchema", "responseJsonSchema")
    ],
}

dialects = Counter()
for folder in map(pathlib.Path, sys.argv[1:]):
    seen = set()
    for file in sorted(folder.glob("*.json")):
        form = file.stem.removesuffix("--strict")
        if form not in PLACES:
            continue
        exported = json.loads(file.read_text())
        tools = exported["tools"] if isinstance(exported, dict) else exported
        for schema in (schema for tool in tools for schema in PLACES[form](tool) if schema is not None):
            dialect = validator_for(schema, default=jsonschema.Draft202012Validator)
            dialect.check_schema(schema)
            # What it refers to is only looked for when there is a value.
            for value in ({}, {name: None for name in schema.get("properties", {})}):
                list(dialect(schema).iter_errors(value))
            dialects[dialect.__name__] += 1
            seen.add(form)
    assert seen == set(PLACES), f"every format has schemas in {folder}: {seen}"
print(f"{dialects.total()} schemas taken by Python's jsonschema: {dict(dialects)}")
