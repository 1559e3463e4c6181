// A field of a form: one place in the arguments. Its state is explicit: not sent, `null`, a value, or JSON, since an absent
// value, `null` and an empty text are three different arguments.

import { buildControl } from "./controls.js";
import { h, uniqueId, visible } from "./dom.js";
import { same } from "./json.js";
import { kindName, limitsOf, read } from "./schema.js";
import { prose } from "./prose.js";

/** The length from which a description of a field is collapsed. */
const HELP_BUDGET = 320;

/** Returns true for a default that says the same as an absent value. */
function isEmpty(node) {
  return node.type === "null" || node.entries?.length === 0 || node.items?.length === 0;
}

export class Slot {
  /**
   * `place` has the schema, the name to show, and whether the value is required; `depth` counts the nesting. A `bare` slot
   * has no head: the root of a form and the branch of a choice.
   */
  constructor({ schema, root, name, required = false, depth = 0, bare = false, buttons = [], parent = null }) {
    Object.assign(this, { root, name, required, depth, bare, parent });
    this.shape = read(schema, root);
    this.id = uniqueId("field");
    this.control = null;
    this.raw = null;
    this.isGroup = ["object", "array", "union", "flags"].includes(this.shape.kind);
    this.states = this.createStates();
    this.body = h("div", { class: "field-body" });
    this.problem = h("p", { class: "field-error", id: `${this.id}-error`, hidden: true });
    this.element = this.createElement(buttons);
    this.state = "absent";
    const { kind, default: preset } = this.shape;
    if (preset && !this.bare && !isEmpty(preset)) {
      this.set(preset);
      this.element.classList.add("is-default");
    } else if (required && kind === "choice" && this.shape.options.length === 1) this.set(this.shape.options[0].node);
    else if (this.bare || (required && this.isGroup)) this.enter("value");
    else this.enter("absent");
  }

  /** Creates a field inside this one. */
  child(place) {
    return new Slot({ root: this.root, depth: this.depth + 1, parent: this, ...place });
  }

  createStates() {
    const options = [["value", "Value"], ["absent", "Not sent"]];
    if (this.shape.nullable || this.shape.kind === "null") options.push(["null", "null"]);
    options.push(["json", "JSON"]);
    const change = () => {
      this.change(this.states.value);
      this.control?.focus?.();
    };
    return h(
      "select",
      { class: "state", "aria-label": `How to send ${this.name}`, title: "Send a value, nothing, null or JSON", onchange: change },
      options.map(([value, label]) => h("option", { value }, label)),
    );
  }

  createElement(buttons) {
    if (this.bare) return h("div", { class: "bare" }, this.body, this.problem);
    const { shape, name, id } = this;
    const kind = h("span", { class: "kind" }, kindName(shape));
    const need = this.required ? h("span", { class: "required" }, "required") : null;
    // The menu shows its state only where that is not obvious.
    const special = h("span", { class: "special", "aria-hidden": "true" });
    this.special = special;
    const preset = h("span", { class: "preset" }, "default");
    const label = this.isGroup
      ? h("legend", { class: "label", id: `${id}-label` }, name)
      : h("label", { class: "label", for: id, id: `${id}-label` }, name);
    const help = [];
    if (shape.description) help.push(prose(shape.description, { style: "help", budget: HELP_BUDGET }));
    const limits = limitsOf(shape);
    if (limits.length > 0) help.push(h("p", { class: "limits" }, limits.join(", ")));
    const details = h("div", { class: "field-help", id: `${id}-help` }, help);
    const head = h("div", { class: "field-head" }, kind, need, preset, h("span", { class: "grow" }), special, buttons);
    if (this.isGroup) {
      head.append(this.states);
      return h("fieldset", { class: "field group", "aria-describedby": `${id}-help` }, label, head, details, this.body, this.problem);
    }
    head.prepend(label);
    // With the keyboard, the value comes before the way to send it.
    return h("div", { class: "field single" }, head, details, this.body, this.problem, this.states);
  }

  /** Changes the state as the user wants, keeping the value where both states have it. */
  change(state) {
    let node;
    try {
      node = this.get();
    } catch {
      node = undefined;
    }
    this.element.classList.remove("is-default");
    this.enter(state);
    if (node && node.type !== "null" && (state === "json" || state === "value")) {
      if (!this.control.set(node) && state === "value") this.set(node);
    }
    this.element.dispatchEvent(new Event("input", { bubbles: true }));
  }

  enter(state) {
    this.state = state;
    this.states.value = state;
    this.element.dataset.state = state;
    if (this.special) this.special.textContent = { null: "null", json: "as JSON" }[state] ?? "";
    const isWritten = state === "value" || state === "json" || (state === "absent" && !this.isGroup);
    const kind = state === "json" ? "any" : this.shape.kind;
    if (!isWritten) {
      this.control = null;
      const add = () => {
        this.change("value");
        this.focus();
      };
      const isAbsent = state === "absent";
      this.body.replaceChildren(...(isAbsent ? [h("button", { type: "button", class: "add", "aria-label": `Add ${this.name}`, onclick: add }, "Add")] : []));
    } else if (!this.control || this.control.kind !== kind) {
      this.control = buildControl(this, kind);
      this.body.replaceChildren(this.control.element);
    }
    if (state === "absent" && this.control) this.control.clear?.();
    this.mark(null);
  }

  /** Reacts to a change of the own control. */
  touched() {
    this.element.classList.remove("is-default");
    if (this.state === "absent") {
      this.state = "value";
      this.states.value = "value";
      this.element.dataset.state = "value";
    }
    this.mark(null);
  }

  /** Returns the value as a node, or `undefined` if nothing is sent. */
  get() {
    if (this.state === "absent") return undefined;
    if (this.state === "null") return { type: "null" };
    return this.control.get();
  }

  /** Sets the value. What the control cannot express exactly is edited as JSON. */
  set(node) {
    if (node === undefined) return this.enter("absent");
    if (node.type === "null" && (this.shape.nullable || this.shape.kind === "null") && !this.bare) return this.enter("null");
    this.control = null;
    this.enter("value");
    let isExact = false;
    try {
      isExact = this.control.set(node) && same(this.control.get(), node);
    } catch {
      isExact = false;
    }
    if (!isExact) {
      this.enter("json");
      this.control.set(node);
    }
  }

  /** Returns the fields inside this one, with their steps in pointers. */
  slots() {
    return this.control?.slots?.() ?? [];
  }

  /** Shows the field, where an object around it has collapsed its optional fields. */
  reveal() {
    for (let slot = this; slot.parent; slot = slot.parent) slot.parent.control?.reveal?.(slot);
  }

  /** Shows or removes a message at the field. */
  mark(message) {
    if (message !== null) this.reveal();
    this.problem.hidden = message === null;
    this.problem.textContent = message === null ? "" : visible(message);
    const target = this.target();
    if (message === null) {
      target.removeAttribute("aria-invalid");
      target.removeAttribute("aria-errormessage");
    } else {
      if (target !== this.element) target.setAttribute("aria-invalid", "true");
      target.setAttribute("aria-errormessage", this.problem.id);
    }
    this.element.classList.toggle("has-error", message !== null);
    this.describe(message !== null);
  }

  describe(hasError) {
    const input = this.control?.input ?? (this.isGroup && !this.bare ? this.element : null);
    if (!input) return;
    const ids = [this.bare ? null : `${this.id}-help`, hasError ? this.problem.id : null].filter((id) => id !== null);
    if (ids.length > 0) input.setAttribute("aria-describedby", ids.join(" "));
    else input.removeAttribute("aria-describedby");
  }

  target() {
    return this.control?.input ?? this.element;
  }

  focus() {
    this.reveal();
    if (this.control?.focus) this.control.focus();
    else this.states.focus();
    this.element.scrollIntoView({ block: "nearest" });
  }
}
