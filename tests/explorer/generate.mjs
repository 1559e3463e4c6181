// Arguments for schemas, as JSON text, with values that programs often change on the way. They need not be valid: what is
// sent has to be what was given, whatever the server says to it.

const NUMBERS = ["0", "-0", "1", "9007199254740993", "1e400", "-1.50", "1E5", "18446744073709551616"];
const STRINGS = ["", "a", "two\nlines", "tab\tand \"quotes\"", "\r\n", "null", " ", "Zürich 🦀", "\ud800", "\u202e", "<b>", "0"];

/** A generator of random numbers with a seed. */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns arguments for a schema. */
export function instance(schema, next, root = schema, depth = 0) {
  const pick = (list) => list[Math.floor(next() * list.length)];
  const any = () => pick([() => pick(NUMBERS), () => JSON.stringify(pick(STRINGS)), () => "null", () => "[]", () => '{"a":[-0]}', () => "true"])();
  if (typeof schema !== "object" || schema === null || depth > 12) return any();
  if (typeof schema.$ref === "string") {
    const target = schema.$ref.split("/").slice(1).reduce((node, key) => node?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], root);
    return instance(target, next, root, depth + 1);
  }
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return JSON.stringify(pick(schema.enum));
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches) && !branches.every((branch) => Object.keys(branch).every((key) => key === "required"))) {
    return instance({ ...schema, anyOf: undefined, oneOf: undefined, ...pick(branches) }, next, root, depth + 1);
  }
  const types = [schema.type ?? (schema.properties ? "object" : schema.items ? "array" : undefined)].flat();
  switch (pick(types)) {
    case "object": {
      const names = Object.keys(schema.properties ?? {}).filter((name) => schema.required?.includes(name) || next() < 0.6);
      const entries = names.map((name) => [name, instance(schema.properties[name], next, root, depth + 1)]);
      if (schema.additionalProperties && next() < 0.7) {
        for (const name of ["__proto__", "constructor", "", "a b"]) {
          if (next() < 0.5 && !names.includes(name)) entries.push([name, instance(schema.additionalProperties, next, root, depth + 1)]);
        }
      }
      return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
    }
    case "array":
      return `[${Array.from({ length: Math.floor(next() * 3) }, () => instance(schema.items ?? true, next, root, depth + 1)).join(",")}]`;
    case "integer":
    case "number":
      return pick(NUMBERS);
    case "string":
      return JSON.stringify(pick(STRINGS));
    case "boolean":
      return pick(["true", "false"]);
    case "null":
      return "null";
    default:
      return any();
  }
}

/** Returns a schema with keywords of every kind. */
export function schema(next, depth = 0) {
  const pick = (list) => list[Math.floor(next() * list.length)];
  const inner = () => schema(next, depth + 1);
  const kinds = [
    () => ({ type: "string", ...pick([{}, { format: "date" }, { writeOnly: true }, { maxLength: 3 }, { pattern: "(a+)+$" }]) }),
    () => ({ type: pick(["integer", "number"]), ...pick([{}, { minimum: 0 }]) }),
    () => ({ type: "boolean" }),
    () => ({ enum: pick([["a", "b"], ["a", "b", "c", "d", "e", "f", "g"], [1, "1", null], [9]]) }),
    () => ({ type: pick([["string", "null"], ["integer", "string"], ["boolean", "object", "null"]]) }),
    () => ({}),
  ];
  const deep = [
    () => ({ type: "object", properties: Object.fromEntries(["x", "y", "z/~", "ü"].slice(0, 1 + Math.floor(next() * 4)).map((name) => [name, inner()])), required: pick([[], ["x"]]), ...pick([{}, { additionalProperties: false }, { additionalProperties: inner() }]) }),
    () => ({ type: "array", items: inner(), ...pick([{}, { maxItems: 3 }]) }),
    () => ({ type: "array", items: { enum: ["r", "g", "b"] }, uniqueItems: true }),
    () => ({ [pick(["anyOf", "oneOf"])]: [inner(), inner(), ...pick([[], [{ type: "null" }]])] }),
    () => ({ type: "object", additionalProperties: inner() }),
    () => ({ allOf: [{ type: "object", properties: { p: inner() } }, { properties: { q: inner() } }] }),
    () => ({ type: "array", prefixItems: [inner()], items: inner() }),
  ];
  return pick(depth > 3 ? kinds : [...kinds, ...deep, ...deep])();
}
