// Reads input schemas, as nodes of `json.js`, for forms. What a form cannot express is of the kind `any`, which is edited
// as JSON. Nothing is validated here: the server does that, and its violations name the field.

import { at, entriesAt, itemsAt, same, textAt } from "./json.js";

const MAX_REFERENCES = 32;

function isObject(node) {
  return node?.type === "object";
}

/** Follows a pointer such as `#/$defs/Node`. */
function follow(pointer, root) {
  if (!pointer.startsWith("#")) return undefined;
  let steps;
  try {
    steps = decodeURIComponent(pointer.slice(1)).split("/").slice(1);
  } catch {
    return undefined;
  }
  let node = root;
  for (const step of steps) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    node = node?.type === "array" ? at(node, Number(key)) : at(node, key);
  }
  return node;
}

/** Combines two schemas, of which the first takes precedence; `undefined` if that needs more than putting both together. */
function combined(first, second) {
  const entries = [...first.entries];
  for (const [keyword, value] of second.entries) {
    const known = entries.findIndex(([other]) => other === keyword);
    if (known < 0) {
      entries.push([keyword, value]);
    } else if (keyword === "properties" && isObject(value) && isObject(entries[known][1])) {
      const own = entries[known][1].entries;
      const others = value.entries.filter(([name]) => !own.some(([mine]) => mine === name));
      entries[known] = [keyword, { type: "object", entries: [...own, ...others] }];
    } else if (keyword === "required" && value.type === "array" && entries[known][1].type === "array") {
      entries[known] = [keyword, { type: "array", items: [...entries[known][1].items, ...value.items] }];
    } else if (!same(value, entries[known][1]) && !["title", "description", "$id", "examples", "default"].includes(keyword)) {
      return undefined;
    }
  }
  return { type: "object", entries };
}

function without(node, keyword) {
  return { type: "object", entries: node.entries.filter(([name]) => name !== keyword) };
}

/** Follows references and merges `allOf`. Returns an empty schema for what cannot be read. */
export function resolved(schema, root) {
  const empty = { type: "object", entries: [] };
  let node = schema;
  for (let n = 0; n < MAX_REFERENCES; n += 1) {
    if (!isObject(node)) return empty;
    const reference = textAt(node, "$ref");
    if (reference !== undefined) {
      const target = follow(reference, root);
      node = isObject(target) ? (combined(without(node, "$ref"), target) ?? empty) : empty;
      continue;
    }
    const parts = itemsAt(node, "allOf");
    if (parts.length === 0) return node;
    let merged = without(node, "allOf");
    for (const part of parts) {
      merged = isObject(part) && merged ? combined(merged, resolved(part, root)) : undefined;
    }
    node = merged ?? empty;
  }
  return empty;
}

/** Returns the types that a schema names. */
function typesOf(schema) {
  const type = at(schema, "type");
  if (type?.type === "string") return [type.value];
  return itemsAt(schema, "type").map((item) => item.value);
}

const isNull = (schema, root) => {
  const found = resolved(schema, root);
  return typesOf(found).join() === "null" || at(found, "const")?.type === "null";
};

function withType(schema, type) {
  const entries = without(schema, "type").entries;
  return { type: "object", entries: [["type", { type: "string", value: type }], ...entries] };
}

/** Returns the branches of a choice between schemas, or an empty list. */
function branchesOf(schema) {
  const branches = itemsAt(schema, "anyOf").length > 0 ? itemsAt(schema, "anyOf") : itemsAt(schema, "oneOf");
  const keyword = itemsAt(schema, "anyOf").length > 0 ? "anyOf" : "oneOf";
  // Branches such as `{"required": ["a"]}` restrict an object and are no choice between values.
  const restricts = branches.every((branch) => isObject(branch) && branch.entries.every(([name]) => name === "required" || name === "not"));
  return restricts ? [] : branches.map((branch) => ({ branch, keyword }));
}

/**
 * Reads a schema: `{kind, nullable, schema, …}`, where `kind` is `object`, `array`, `choice`, `flags`, `union`, `boolean`,
 * `number`, `string`, `null` or `any`.
 */
export function read(raw, root) {
  let schema = resolved(raw, root);
  let nullable = false;
  const about = { title: textAt(schema, "title"), description: textAt(schema, "description"), default: at(schema, "default") };
  const done = (kind, more = {}) => ({ kind, nullable, schema, ...about, isSecret: isSecret(schema), ...more });

  if (at(schema, "const")) return done("choice", { options: [{ node: at(schema, "const") }] });
  const values = itemsAt(schema, "enum");
  if (values.length > 0) {
    nullable = values.some((value) => value.type === "null");
    const names = itemsAt(schema, "enumNames").map((name) => name.value);
    const options = values.map((node, idx) => ({ node, label: names[idx] })).filter(({ node }) => node.type !== "null");
    return options.length === 0 ? done("null") : done("choice", { options });
  }

  let branches = branchesOf(schema);
  if (branches.length > 0) {
    nullable = branches.some(({ branch }) => isNull(branch, root)) || typesOf(schema).includes("null");
    branches = branches.filter(({ branch }) => !isNull(branch, root));
    const rest = without(schema, branches[0]?.keyword ?? "anyOf");
    const whole = branches.map(({ branch }) => combined(resolved(branch, root), rest) ?? resolved(branch, root));
    if (whole.length === 1) {
      const only = read(whole[0], root);
      const description = about.description ?? only.description;
      return { ...only, nullable: nullable || only.nullable, default: about.default ?? only.default, description };
    }
    if (whole.every((branch) => at(branch, "const"))) {
      return done("choice", { options: whole.map((branch) => ({ node: at(branch, "const"), label: textAt(branch, "title") })) });
    }
    return whole.length === 0 ? done("null") : done("union", { branches: whole.map((branch, idx) => ({ schema: branch, label: label(branch, branches[idx].branch, root, idx) })) });
  }

  const types = typesOf(schema);
  nullable = types.includes("null");
  const named = types.filter((type) => type !== "null");
  if (named.length > 1) {
    if (named.length === 2 && named.includes("integer") && named.includes("number")) return done("number");
    return done("union", { branches: named.map((type) => ({ schema: withType(schema, type), label: type })) });
  }
  const [type = implied(schema)] = named;
  if (type === "object") return done("object", objectOf(schema));
  if (type === "array") return arrayOf(schema, root, done);
  if (type === "integer" || type === "number") return done("number", { isInteger: type === "integer" });
  if (type === "boolean" || type === "string") return done(type);
  return done(types.length > 0 && named.length === 0 ? "null" : "any");
}

/** Guesses the type of a schema that does not name it. */
function implied(schema) {
  if (isObject(at(schema, "properties"))) return "object";
  if (isObject(at(schema, "items"))) return "array";
  return undefined;
}

function objectOf(schema) {
  const additional = at(schema, "additionalProperties");
  const isClosed = additional?.type === "boolean" && !additional.value;
  const properties = entriesAt(schema, "properties");
  return {
    properties,
    required: new Set(itemsAt(schema, "required").map((name) => name.value)),
    additional: isObject(additional) ? additional : { type: "object", entries: [] },
    takesMore: !isClosed && (additional !== undefined || at(schema, "patternProperties") !== undefined || properties.length === 0),
  };
}

function arrayOf(schema, root, done) {
  const items = at(schema, "items") ?? { type: "object", entries: [] };
  if (at(schema, "prefixItems") || !isObject(items)) return done("any");
  const item = read(items, root);
  if (at(schema, "uniqueItems")?.value === true && item.kind === "choice" && item.options.length <= 40) {
    return done("flags", { options: item.options });
  }
  const isFlags = item.kind === "choice" && item.options.length <= 12 && at(items, "anyOf");
  return isFlags ? done("flags", { options: item.options }) : done("array", { items });
}

/** Returns the name of a branch: its title, its discriminator, the name of its definition, or its type. */
function label(schema, raw, root, idx) {
  const title = textAt(schema, "title");
  if (title) return title;
  for (const [name, property] of entriesAt(schema, "properties")) {
    const only = textAt(resolved(property, root), "const");
    if (only !== undefined) return `${name}: ${only}`;
  }
  const reference = textAt(raw, "$ref");
  if (reference) return reference.slice(reference.lastIndexOf("/") + 1);
  const names = entriesAt(schema, "properties").slice(0, 3).map(([name]) => name);
  if (names.length > 0) return `{${names.join(", ")}}`;
  return kindName(read(schema, root)) || `form ${idx + 1}`;
}

/**
 * Returns the names of the properties that are secret anywhere in a schema. A value may be anywhere in arguments that are not
 * valid yet, so a name is secret everywhere.
 */
export function secretNames(schema) {
  const names = new Set();
  const visit = (node, name) => {
    if (node?.type === "array") node.items.forEach((item) => visit(item, name));
    if (!isObject(node)) return;
    if (name !== null && isSecret(resolved(node, schema))) names.add(name);
    for (const [keyword, value] of node.entries) {
      const named = ["properties", "$defs", "definitions"].includes(keyword) && isObject(value);
      if (!named) visit(value, name);
      else for (const [key, inner] of value.entries) visit(inner, keyword === "properties" ? key : null);
    }
  };
  visit(schema, null);
  return names;
}

function isSecret(schema) {
  return at(schema, "writeOnly")?.value === true || textAt(schema, "format") === "password";
}

/** Returns the name of a kind for people. */
export function kindName(shape) {
  const format = textAt(shape.schema, "format");
  switch (shape.kind) {
    case "number":
      return shape.isInteger ? "integer" : "number";
    case "string":
      return format ? format : "string";
    case "array":
    case "flags":
      return "list";
    case "choice":
      return "one of";
    case "union":
      return "one of several forms";
    case "any":
      return "any JSON";
    default:
      return shape.kind;
  }
}

const LIMITS = [
  ["minimum", "≥ "], ["exclusiveMinimum", "> "], ["maximum", "≤ "], ["exclusiveMaximum", "< "], ["multipleOf", "multiple of "],
  ["minLength", "at least ", " characters"], ["maxLength", "at most ", " characters"], ["pattern", "matches "],
  ["minItems", "at least ", " items"], ["maxItems", "at most ", " items"],
];

/** Returns the limits of a shape in words. The page itself checks none of them. */
export function limitsOf({ kind, schema }) {
  const words = [];
  // A pattern is checked by every server, and a format by those whose types or settings do.
  const isHint = kind === "string" && textAt(schema, "format") && !at(schema, "pattern") && !isSecret(schema);
  if (isHint) words.push("the format is a hint: the server decides");
  for (const [keyword, before, after = ""] of LIMITS) {
    const limit = at(schema, keyword);
    if (limit?.type === "number") words.push(before + limit.text + (limit.text === "1" ? after.replace(/s$/, "") : after));
    if (limit?.type === "string") words.push(before + limit.value);
  }
  return words;
}
