// The control of each kind of value. A control has `element`, `get`, `set` (false if it cannot express a value), and as
// needed `input` (the element that messages belong to), `slots`, `focus` and `clear`.

import { arrayControl, flagsControl } from "./lists.js";
import { h } from "./dom.js";
import { parse, same, textAt, write } from "./json.js";
import { mapControl, unionControl } from "./objects.js";

/** A mistake that keeps a form from being sent: text that is not JSON. */
export class FieldError extends Error {
  constructor(slot, message) {
    super(message);
    this.slot = slot;
  }
}

const MAX_DEPTH = 8;
const MAX_RADIOS = 5;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const PLACEHOLDERS = {
  "date-time": "2026-01-31T12:00:00Z", date: "2026-01-31", time: "12:00:00Z", email: "ann@example.org",
  uri: "https://example.org/", uuid: "123e4567-e89b-12d3-a456-426614174000", duration: "PT30S",
};

/** Creates the control of a kind. */
export function buildControl(slot, kind) {
  const isDeep = slot.depth >= MAX_DEPTH;
  const builders = {
    string: textControl, number: numberControl, boolean: booleanControl, choice: choiceControl, null: nullControl,
    flags: flagsControl,
    object: isDeep ? anyControl : mapControl,
    array: isDeep ? anyControl : arrayControl,
    union: isDeep ? anyControl : unionControl,
  };
  const control = (builders[kind] ?? anyControl)(slot);
  return { kind, ...control };
}

function listen(slot, input) {
  input.addEventListener("input", () => slot.touched());
  return input;
}

function placeholder(slot) {
  return PLACEHOLDERS[textAt(slot.shape.schema, "format")];
}

function textControl(slot) {
  const { shape, id } = slot;
  const isBytes = textAt(shape.schema, "contentEncoding") === "base64" || textAt(shape.schema, "format") === "byte";
  const attributes = { id, autocomplete: "off", spellcheck: "false", placeholder: placeholder(slot) };
  const input = shape.isSecret
    ? h("input", { ...attributes, type: "password", autocomplete: "new-password" })
    : h("textarea", { ...attributes, rows: 1 });
  listen(slot, input);
  return {
    element: isBytes ? h("div", { class: "with-file" }, input, filePicker(slot, input)) : input,
    input,
    get: () => ({ type: "string", value: input.value }),
    set(node) {
      if (node.type !== "string") return false;
      input.value = node.value;
      // Line breaks are normalized, and unpaired surrogates replaced.
      return input.value === node.value;
    },
    clear: () => (input.value = ""),
    focus: () => input.focus(),
  };
}

function filePicker(slot, input) {
  const picker = h("input", { type: "file", "aria-label": `File for ${slot.name}` });
  picker.addEventListener("change", async () => {
    const bytes = new Uint8Array(await picker.files[0].arrayBuffer());
    const parts = [];
    for (let at = 0; at < bytes.length; at += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
    input.value = btoa(parts.join(""));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return picker;
}

/** Numbers are sent as they are typed. A text that is no number is sent as a text, so that the server names the mistake. */
function numberControl(slot) {
  const attributes = { id: slot.id, type: "text", inputmode: slot.shape.isInteger ? "numeric" : "decimal" };
  const input = listen(slot, h("input", { ...attributes, autocomplete: "off", class: "number" }));
  return {
    element: input,
    input,
    get() {
      const text = input.value.trim();
      if (text === "") return undefined;
      return NUMBER.test(text) ? { type: "number", text } : { type: "string", value: text };
    },
    set(node) {
      if (node.type !== "number") return false;
      input.value = node.text;
      return true;
    },
    clear: () => (input.value = ""),
    focus: () => input.focus(),
  };
}

function booleanControl(slot) {
  return choices(slot, [{ node: { type: "boolean", value: true } }, { node: { type: "boolean", value: false } }]);
}

function choiceControl(slot) {
  const [only, ...others] = slot.shape.options;
  if (slot.required && others.length === 0) {
    // Nothing to choose, as for the discriminator of a branch.
    const shown = h("code", { class: "constant" }, labelOf(only));
    return { element: shown, get: () => only.node, set: (node) => same(node, only.node) };
  }
  return choices(slot, slot.shape.options);
}

function labelOf({ node, label }) {
  return label ?? (node.type === "string" ? node.value : write(node));
}

function choices(slot, options) {
  return options.length <= MAX_RADIOS ? radios(slot, options) : selection(slot, options);
}

function radios(slot, options) {
  const inputs = options.map((_, idx) => {
    const input = h("input", { type: "radio", name: slot.id, value: idx, id: idx === 0 ? slot.id : undefined });
    return listen(slot, input);
  });
  const labels = options.map((option, idx) => h("label", { class: "radio" }, inputs[idx], h("span", {}, labelOf(option))));
  const element = h("div", { class: "radios", role: "radiogroup", "aria-labelledby": `${slot.id}-label` }, labels);
  return {
    element,
    input: element,
    get: () => options[inputs.findIndex((input) => input.checked)]?.node,
    set(node) {
      const found = options.findIndex((option) => same(option.node, node));
      if (found >= 0) inputs[found].checked = true;
      return found >= 0;
    },
    clear: () => inputs.forEach((input) => (input.checked = false)),
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0]).focus(),
  };
}

function selection(slot, options) {
  const input = h(
    "select",
    { id: slot.id },
    h("option", { value: "" }, "Choose…"),
    options.map((option, idx) => h("option", { value: idx }, labelOf(option))),
  );
  listen(slot, input);
  return {
    element: input,
    input,
    get: () => (input.value === "" ? undefined : options[Number(input.value)].node),
    set(node) {
      const found = options.findIndex((option) => same(option.node, node));
      if (found >= 0) input.value = String(found);
      return found >= 0;
    },
    clear: () => (input.value = ""),
    focus: () => input.focus(),
  };
}

function nullControl() {
  return { element: h("code", {}, "null"), get: () => ({ type: "null" }), set: (node) => node.type === "null" };
}

/** JSON text, for values of any kind. */
export function anyControl(slot) {
  const label = slot.isGroup || slot.bare ? { "aria-label": `${slot.name} as JSON` } : {};
  const input = listen(slot, h("textarea", { id: slot.id, rows: 2, class: "json", spellcheck: "false", placeholder: "JSON", ...label }));
  return {
    element: input,
    input,
    get() {
      if (input.value.trim() === "") return undefined;
      try {
        return parse(input.value);
      } catch (error) {
        throw new FieldError(slot, `not JSON: ${error.message}`);
      }
    },
    set(node) {
      input.value = write(node, 2);
      return true;
    },
    clear: () => (input.value = ""),
    focus: () => input.focus(),
  };
}
