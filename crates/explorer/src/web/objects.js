// Controls of objects, maps and choices between schemas.

import { h, uniqueId } from "./dom.js";
import { at, plain } from "./json.js";
import { read } from "./schema.js";

const MAX_FIELDS = 300;
/** Fewer optional fields without a value stay visible. */
const MIN_COLLAPSED = 3;
const MAX_NAMED = 4;

/**
 * Collapses the optional fields of an object that have no value, and returns the button that shows them, with `update` and
 * `reveal`. An object without other fields keeps its first ones.
 */
function optionalFields(known, isBranch) {
  const button = h("button", { type: "button", class: "optional quiet", "aria-expanded": "false" });
  let collapsed = new Set();
  // The choice of a branch has set its discriminator.
  const isChosen = (field) => isBranch && field.required && field.state === "value" && field.shape.kind === "choice" && field.shape.options.length === 1;
  const show = () => {
    for (const field of known.values()) field.element.hidden = collapsed.has(field) || isChosen(field);
    const names = [...known].filter(([, field]) => collapsed.has(field)).map(([name]) => name);
    button.hidden = names.length === 0;
    const listed = names.slice(0, MAX_NAMED).join(", ") + (names.length > MAX_NAMED ? ", …" : "");
    button.replaceChildren(h("span", {}, `${names.length} optional ${names.length === 1 ? "field" : "fields"}`), h("small", {}, listed));
  };
  button.addEventListener("click", () => {
    const [first] = collapsed;
    collapsed = new Set();
    show();
    first?.focus();
  });
  return {
    button,
    update() {
      const fields = [...known.values()];
      const isEmpty = (field) => !field.required && field.state === "absent";
      const kept = fields.every(isEmpty) ? MIN_COLLAPSED : 0;
      const empty = fields.filter(isEmpty).slice(kept);
      collapsed = new Set(empty.length < MIN_COLLAPSED ? [] : empty);
      show();
    },
    reveal(field) {
      if (collapsed.delete(field)) show();
    },
  };
}

/** An object: the properties of its schema, and rows of a name and a value for others. */
export function mapControl(slot) {
  const { shape } = slot;
  const known = new Map();
  const fields = h("div", { class: "fields" });
  for (const [name, schema] of shape.properties.slice(0, MAX_FIELDS)) {
    const field = slot.child({ schema, name, required: shape.required.has(name) });
    known.set(name, field);
    fields.append(field.element);
  }
  const optional = optionalFields(known, slot.bare && slot.parent !== null);
  optional.update();
  if (shape.properties.length === 0 && !shape.takesMore) fields.append(h("p", { class: "none" }, "No arguments."));
  const rows = h("div", { class: "rows" });
  const more = [];
  let order = [];

  const addRow = (name = "") => {
    const key = h("input", { type: "text", class: "key", "aria-label": "Name of the property", placeholder: "name", value: name });
    key.addEventListener("input", () => slot.touched());
    const remove = h("button", { type: "button", class: "quiet", "aria-label": "Remove the property" }, "Remove");
    const field = slot.child({ schema: shape.additional, name: "value", required: true, buttons: [remove] });
    const row = { key, field, element: h("div", { class: "row" }, key, field.element) };
    remove.addEventListener("click", () => {
      more.splice(more.indexOf(row), 1);
      row.element.remove();
      add.focus();
      slot.element.dispatchEvent(new Event("input", { bubbles: true }));
    });
    more.push(row);
    rows.append(row.element);
    return row;
  };
  const add = h("button", { type: "button", class: "add", onclick: () => { slot.touched(); addRow().key.focus(); } }, "Add a property");
  const element = h("div", { class: "object" }, fields, optional.button, rows, shape.takesMore ? add : null);

  const entries = () => [...[...known].map(([name, field]) => [name, field]), ...more.map((row) => [row.key.value, row.field])];
  return {
    element,
    slots: entries,
    reveal: optional.reveal,
    get() {
      const given = new Map();
      for (const [name, field] of entries()) {
        const node = field.get();
        if (node !== undefined) given.set(name, node);
      }
      // In the order in which the value was set, so that JSON that is edited stays as it is.
      const names = [...order.filter((name) => given.has(name)), ...[...given.keys()].filter((name) => !order.includes(name))];
      return { type: "object", entries: names.map((name) => [name, given.get(name)]) };
    },
    set(node) {
      if (node.type !== "object" || node.entries.length > MAX_FIELDS) return false;
      order = node.entries.map(([name]) => name);
      for (const [name, field] of known) field.set(at(node, name));
      for (const [name, value] of node.entries) {
        if (!known.has(name)) addRow(name).field.set(value);
      }
      optional.update();
      return true;
    },
    focus() {
      const [first] = entries();
      if (first) first[1].focus();
      else add.focus();
    },
  };
}

/** Returns how well a value fits a branch, from its outside only. */
function fit(branch, node, root) {
  const shape = read(branch.schema, root);
  const kinds = { object: ["object"], array: ["array", "flags"], string: ["string"], number: ["number"], boolean: ["boolean"], null: ["null"] };
  if (shape.kind === "any" || shape.kind === "union") return 1;
  if (shape.kind === "choice") return shape.options.some((option) => JSON.stringify(plain(option.node)) === JSON.stringify(plain(node))) ? 9 : 0;
  if (!kinds[node.type].includes(shape.kind)) return 0;
  if (node.type !== "object") return 2 + (shape.isInteger && /^-?\d+$/.test(node.text) ? 1 : 0);
  let score = 2;
  for (const name of shape.required) score += at(node, name) ? 2 : -4;
  for (const [name, value] of node.entries) {
    const property = at(shape.schema, "properties", name);
    const only = property && at(property, "const");
    if (only) score += JSON.stringify(plain(only)) === JSON.stringify(plain(value)) ? 20 : -20;
    else score += property ? 1 : shape.takesMore ? 0 : -3;
  }
  return score;
}

/** A choice between schemas. */
export function unionControl(slot) {
  const { shape, root } = slot;
  const id = uniqueId("branch");
  let current = null;
  const place = h("div", { class: "branch" });
  const select = h(
    "select",
    { id, class: "branches" },
    shape.branches.map((branch, idx) => h("option", { value: idx }, branch.label)),
  );
  const open = (idx) => {
    select.value = String(idx);
    current = slot.child({ schema: shape.branches[idx].schema, name: shape.branches[idx].label, bare: true });
    place.replaceChildren(current.element);
  };
  select.addEventListener("input", () => {
    open(Number(select.value));
    slot.touched();
  });
  open(0);
  return {
    element: h("div", { class: "union" }, h("label", { class: "visually-hidden", for: id }, `Form of ${slot.name}`), select, place),
    get: () => current.get(),
    set(node) {
      const ranked = shape.branches.map((branch, idx) => [fit(branch, node, root), idx]);
      ranked.sort(([a, i], [b, j]) => b - a || i - j);
      for (const [score, idx] of ranked) {
        if (score <= 0) break;
        open(idx);
        current.set(node);
        if (current.state === "value") return true;
      }
      open(ranked[0][1]);
      current.set(node);
      return true;
    },
    // The branch is at the same place in the arguments.
    slots: () => current.slots(),
    focus: () => select.focus(),
  };
}
