// Compares the types of the installed npm packages of the providers with a list, and names what is new or gone.
//
// `news.mjs [--update]`, in a folder with the packages and `typescript` 6: the list is `sdk_types_npm.json` beside this
// script, in the form of that of `news.py`. The compiler resolves the types; a variant has the name of its `type`.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const here = process.cwd();
const require = createRequire(path.join(here, "package.json"));
const ts = require("typescript");
const LIST = new URL("sdk_types_npm.json", import.meta.url);

const OPENAI = "openai/resources/responses/responses";
const ANTHROPIC = "@anthropic-ai/sdk/resources/messages/messages";
const MISTRAL = "@mistralai/mistralai/models/components";

/** The module, and the types of it whose variants or fields are compared. */
const UNIONS = {
  [OPENAI]: ["ResponseOutputItem", "ResponseInputItem", "Tool", "ResponseStreamEvent", "ResponseStatus"],
  "openai/resources/chat/completions/completions": ["ChatCompletionMessageParam", "ChatCompletionTool"],
  [ANTHROPIC]: ["ContentBlock", "ContentBlockParam", "ToolUnion", "RawMessageStreamEvent", "StopReason"],
  "@google/genai": ["FinishReason", "BlockedReason", "Behavior"],
  [MISTRAL]: ["ConversationResponseOutput", "InputEntries", "ConversationEventsData"],
  "cohere-ai": ["Cohere.ChatFinishReason", "Cohere.ChatMessageV2", "Cohere.V2ChatStreamResponse"],
  "@aws-sdk/client-bedrock-runtime": ["StopReason", "ContentBlock", "ToolResultContentBlock", "ContentBlockDelta"],
  "@openrouter/sdk/models": ["ChatFinishReasonEnum", "ReasoningDetailUnion"],
};
const FIELDS = {
  [OPENAI]: ["FunctionTool"],
  "openai/resources/chat/completions/completions": ["ChatCompletionMessage"],
  "openai/resources/shared": ["FunctionDefinition"],
  [ANTHROPIC]: ["Tool", "Message"],
  "@google/genai": ["FunctionDeclaration", "Tool", "Part", "FunctionCall", "FunctionResponse", "Schema"],
  [MISTRAL]: ["ToolCall", "FunctionT", "AssistantMessage", "FunctionResultEntry"],
  "cohere-ai": ["Cohere.ToolV2Function", "Cohere.AssistantMessageResponse"],
  "@aws-sdk/client-bedrock-runtime": ["ToolSpecification"],
  ollama: ["Message", "Tool", "ToolCall"],
  "@openrouter/sdk/models": ["ChatAssistantMessage", "ChatToolMessage"],
};

/** The probes: each is an alias of a type. */
const probes = [UNIONS, FIELDS].flatMap((table) =>
  Object.entries(table).flatMap(([module, names]) => names.map((name) => ({ module, name, isUnion: table === UNIONS }))),
);
const file = path.join(here, "probe.ts");
writeFileSync(file, probes.map(({ module, name }, at) => `export type T${at} = import("${module}").${name};\n`).join(""));
const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, strict: true,
  target: ts.ScriptTarget.ES2022, skipLibCheck: true, types: [] };
const program = ts.createProgram([file], options);
const checker = program.getTypeChecker();
const aliases = program.getSourceFile(file).statements.filter(ts.isTypeAliasDeclaration);

/** Returns the name of a variant: a literal, the literal of its discriminant, or that of the type. */
const nameOf = (type) => {
  if (type.isLiteral()) return String(type.value);
  for (const field of ["type", "role", "eventType"]) {
    const property = checker.getPropertyOfType(type, field);
    const kinds = property ? checker.getTypeOfSymbol(property) : undefined;
    const literals = (kinds?.isUnion() ? kinds.types : [kinds]).filter((kind) => kind?.isLiteral());
    if (literals.length) return literals.map((kind) => String(kind.value)).sort().join("|");
  }
  // The members of AWS have one field each that may be there.
  const present = checker.getPropertiesOfType(type).filter((field) => !(field.flags & ts.SymbolFlags.Optional));
  const tag = present.length === 1 ? present[0].name : undefined;
  return type.aliasSymbol?.name ?? tag ?? type.symbol?.name ?? checker.typeToString(type);
};

const types = {};
const missing = [];
for (const [at, { module, name, isUnion }] of probes.entries()) {
  const type = checker.getTypeAtLocation(aliases[at].name);
  const found = isUnion
    ? (type.isUnion() ? type.types : [type]).map(nameOf)
    : checker.getPropertiesOfType(type).map((property) => property.name);
  if (type.flags & ts.TypeFlags.Any || found.length === 0) missing.push(`${module}:${name}`);
  else types[`${module}:${name}`] = [...new Set(found)].sort();
}
const packages = [...new Set(probes.map(({ module }) => module.split("/").slice(0, module.startsWith("@") ? 2 : 1).join("/")))];
const versionOf = (name) => JSON.parse(readFileSync(path.join(here, "node_modules", name, "package.json"))).version;
const found = { versions: Object.fromEntries(packages.map((name) => [name, versionOf(name)])), types };

if (process.argv.includes("--update")) writeFileSync(LIST, `${JSON.stringify(found, null, 2)}\n`);
const known = JSON.parse(readFileSync(LIST, "utf8"));
const news = missing.map((name) => `${name} is gone`);
for (const name of [...new Set([...Object.keys(types), ...Object.keys(known.types)])].sort()) {
  const [now, before] = [new Set(types[name] ?? []), new Set(known.types[name] ?? [])];
  news.push(...[...now].filter((value) => !before.has(value)).map((value) => `${name}: ${value} is new`));
  news.push(...[...before].filter((value) => !now.has(value)).map((value) => `${name}: ${value} is gone`));
}
news.forEach((line) => console.log(line));
const n_values = Object.values(types).reduce((sum, values) => sum + values.length, 0);
console.log(`npm: ${n_values} variants and fields of ${Object.keys(types).length} types, ${news.length} differences`);
process.exit(news.length ? 1 : 0);
