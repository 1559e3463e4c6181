// JSON with exact numbers. A node keeps the text of a number, since 9007199254740993 is not a number of JavaScript.
//
//   {type: "object", entries: [[key, node]]}, {type: "array", items: [node]}, {type: "string", value},
//   {type: "number", text}, {type: "boolean", value}, {type: "null"}

const MAX_DEPTH = 400;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;

export class JsonError extends Error {}

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail(message) {
    const before = this.text.slice(0, this.at);
    const line = before.split("\n").length;
    const column = this.at - before.lastIndexOf("\n");
    throw new JsonError(`${message} at line ${line}, column ${column}`);
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [null];
    if (found !== null) this.at += found.length;
    return found;
  }

  /** Skips white space and returns the next character. */
  peek() {
    this.match(SPACE);
    return this.text[this.at];
  }

  take(character) {
    if (this.peek() !== character) this.fail(`expected ${character}`);
    this.at += 1;
  }

  word(word, node) {
    if (!this.text.startsWith(word, this.at)) this.fail("expected a value");
    this.at += word.length;
    return node;
  }

  string() {
    let end = this.at + 1;
    for (;;) {
      end = this.text.indexOf('"', end);
      if (end < 0) this.fail("the string does not end");
      let escapes = 0;
      while (this.text[end - 1 - escapes] === "\\") escapes += 1;
      if (escapes % 2 === 0) break;
      end += 1;
    }
    const quoted = this.text.slice(this.at, end + 1);
    try {
      const value = JSON.parse(quoted);
      this.at = end + 1;
      return value;
    } catch {
      return this.fail("the string has an invalid character or escape");
    }
  }

  value(depth) {
    if (depth > MAX_DEPTH) this.fail(`nested deeper than ${MAX_DEPTH}`);
    const first = this.peek();
    switch (first) {
      case "{":
        return this.object(depth);
      case "[":
        return this.array(depth);
      case '"':
        return { type: "string", value: this.string() };
      case "t":
        return this.word("true", { type: "boolean", value: true });
      case "f":
        return this.word("false", { type: "boolean", value: false });
      case "n":
        return this.word("null", { type: "null" });
    }
    const text = this.match(NUMBER);
    if (text === null) this.fail("expected a value");
    return { type: "number", text };
  }

  object(depth) {
    const entries = [];
    const keys = new Set();
    this.take("{");
    if (this.peek() !== "}") {
      for (;;) {
        if (this.peek() !== '"') this.fail("expected a key in quotes");
        const key = this.string();
        if (keys.has(key)) this.fail(`the key ${JSON.stringify(key)} appears twice`);
        keys.add(key);
        this.take(":");
        entries.push([key, this.value(depth + 1)]);
        if (this.peek() !== ",") break;
        this.at += 1;
      }
    }
    this.take("}");
    return { type: "object", entries };
  }

  array(depth) {
    const items = [];
    this.take("[");
    if (this.peek() !== "]") {
      for (;;) {
        items.push(this.value(depth + 1));
        if (this.peek() !== ",") break;
        this.at += 1;
      }
    }
    this.take("]");
    return { type: "array", items };
  }
}

/** Parses a JSON text. Throws a `JsonError` with the place of the first mistake. */
export function parse(text) {
  const parser = new Parser(text);
  const node = parser.value(0);
  if (parser.peek() !== undefined) parser.fail("expected the end");
  return node;
}

/** Writes a node, with the numbers as they were read. */
export function write(node, indent = 0, level = 0) {
  const [open, between, close, colon] = indent
    ? ["\n" + " ".repeat(indent * (level + 1)), ",\n" + " ".repeat(indent * (level + 1)), "\n" + " ".repeat(indent * level), ": "]
    : ["", ",", "", ":"];
  switch (node.type) {
    case "object": {
      if (node.entries.length === 0) return "{}";
      const entries = node.entries.map(([key, value]) => JSON.stringify(key) + colon + write(value, indent, level + 1));
      return "{" + open + entries.join(between) + close + "}";
    }
    case "array": {
      if (node.items.length === 0) return "[]";
      return "[" + open + node.items.map((item) => write(item, indent, level + 1)).join(between) + close + "]";
    }
    case "string":
      return JSON.stringify(node.value);
    case "number":
      return node.text;
    case "boolean":
      return String(node.value);
    default:
      return "null";
  }
}

/** Returns true if two nodes have the same tokens, in the same order. */
export function same(a, b) {
  return write(a) === write(b);
}

/** Converts a node to a value of JavaScript, which rounds numbers. */
export function plain(node) {
  switch (node?.type) {
    case "object": {
      const object = Object.create(null);
      for (const [key, value] of node.entries) object[key] = plain(value);
      return object;
    }
    case "array":
      return node.items.map(plain);
    case "number":
      return Number(node.text);
    case "null":
      return null;
    default:
      return node?.value;
  }
}

/** Returns the value of a key, or of a path of keys and positions. */
export function at(node, ...path) {
  for (const step of path) {
    if (node?.type === "object") node = node.entries.find(([key]) => key === step)?.[1];
    else if (node?.type === "array") node = node.items[step];
    else return undefined;
  }
  return node;
}

/** Returns the string at a path, if there is one. */
export function textAt(node, ...path) {
  const found = at(node, ...path);
  return found?.type === "string" ? found.value : undefined;
}

/** Returns true if the node at a path is `true`. */
export function isTrue(node, ...path) {
  return at(node, ...path)?.value === true;
}

/** Returns the entries of the object at a path. */
export function entriesAt(node, ...path) {
  const found = at(node, ...path);
  return found?.type === "object" ? found.entries : [];
}

/** Returns the items of the array at a path. */
export function itemsAt(node, ...path) {
  const found = at(node, ...path);
  return found?.type === "array" ? found.items : [];
}
