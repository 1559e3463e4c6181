// A form for arguments: fields, or JSON text. Both are edited, and each takes over what the other has.

import { FieldError } from "./controls.js";
import { h, uniqueId } from "./dom.js";
import { parse, write } from "./json.js";
import { Slot } from "./slot.js";

/** Splits a JSON pointer into its steps. */
export function stepsOf(pointer) {
  return pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export class Form {
  constructor(schema, name = "the arguments") {
    this.schema = schema;
    this.name = name;
    this.mode = "form";
    this.fields = h("div", { class: "form-fields" });
    const id = uniqueId("json");
    this.text = h("textarea", { id, class: "json whole", spellcheck: "false", rows: 12 });
    this.textError = h("p", { class: "field-error", id: `${id}-error`, role: "alert", hidden: true });
    this.json = h("div", { class: "form-json", hidden: true }, h("label", { class: "visually-hidden", for: id }, `JSON of ${name}`), this.text, this.textError);
    this.text.addEventListener("input", () => this.showTextError(null));
    // Enter in a field sends nothing.
    this.element = h("form", { class: "form", onsubmit: (event) => event.preventDefault() }, this.fields, this.json);
    this.root = null;
    this.reset();
  }

  /** Empties the form, except for defaults. */
  reset() {
    this.root = new Slot({ schema: this.schema, root: this.schema, name: this.name, bare: true, required: true });
    this.fields.replaceChildren(this.root.element);
    this.text.value = this.textOf();
    this.showTextError(null);
  }

  /** Returns the fields as indented JSON. */
  textOf() {
    const node = this.root.get();
    return node === undefined ? "{}" : write(node, 2);
  }

  showTextError(message) {
    this.textError.hidden = message === null;
    this.textError.textContent = message ?? "";
    if (message === null) this.text.removeAttribute("aria-invalid");
    else this.text.setAttribute("aria-invalid", "true");
    this.text.setAttribute("aria-describedby", this.textError.id);
  }

  /** Switches between `form` and `json`. Returns false if there is a mistake to correct first. */
  show(mode) {
    if (mode === this.mode) return true;
    try {
      if (mode === "json") this.text.value = this.textOf();
      else this.set(parse(this.text.value));
    } catch (error) {
      this.complain(error);
      return false;
    }
    this.mode = mode;
    this.fields.hidden = mode !== "form";
    this.json.hidden = mode !== "json";
    return true;
  }

  /** Shows a mistake in JSON text, and focuses it. */
  complain(error) {
    if (error instanceof FieldError) {
      error.slot.mark(error.message);
      error.slot.focus();
    } else {
      this.showTextError(error.message);
      this.text.focus();
    }
  }

  /** Returns the arguments as a node, or `null` if there is a mistake, which is shown. */
  get() {
    try {
      if (this.mode === "json") return parse(this.text.value);
      return this.root.get() ?? { type: "object", entries: [] };
    } catch (error) {
      this.complain(error);
      return null;
    }
  }

  /** Sets the arguments, in both forms. */
  set(node) {
    this.root = new Slot({ schema: this.schema, root: this.schema, name: this.name, bare: true, required: true });
    this.fields.replaceChildren(this.root.element);
    this.root.set(node);
    this.text.value = write(node, 2);
    this.showTextError(null);
  }

  /** Removes all messages. */
  clear() {
    for (const marked of this.marked ?? []) marked.mark(null);
    this.marked = [];
    this.showTextError(null);
  }

  /** Shows a message at the field of a pointer, or at the nearest one around it. Returns the field. */
  mark(pointer, message) {
    let slot = this.root;
    let isExact = true;
    for (const step of stepsOf(pointer)) {
      const found = slot.slots().find(([name]) => name === step);
      if (!found) {
        isExact = false;
        break;
      }
      if (found[1].state === "absent" || found[1].state === "null") {
        slot = found[1];
        isExact = stepsOf(pointer).at(-1) === step;
        break;
      }
      slot = found[1];
    }
    const isMarked = this.marked?.includes(slot);
    if (!isMarked) {
      slot.mark(message);
      this.marked = [...(this.marked ?? []), slot];
    }
    return { slot, isExact };
  }
}

/** Returns arguments for a link or the history: without the properties that `secrets` names. */
export function dropSecrets(secrets, node) {
  if (node?.type === "object") {
    const entries = node.entries.filter(([key]) => !secrets.has(key)).map(([key, value]) => [key, dropSecrets(secrets, value)]);
    return { type: "object", entries };
  }
  if (node?.type === "array") return { type: "array", items: node.items.map((item) => dropSecrets(secrets, item)) };
  return node;
}

/** Returns arguments for a snippet or a confirmation: without the values of the properties that `secrets` names. */
export function withoutSecrets(secrets, node) {
  if (node?.type === "object") {
    const hidden = { type: "string", value: "…" };
    const entries = node.entries.map(([key, value]) => [key, secrets.has(key) ? hidden : withoutSecrets(secrets, value)]);
    return { type: "object", entries };
  }
  if (node?.type === "array") return { type: "array", items: node.items.map((item) => withoutSecrets(secrets, item)) };
  return node;
}
