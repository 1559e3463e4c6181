// Controls of lists.

import { h } from "./dom.js";
import { same, write } from "./json.js";

const MAX_ITEMS = 200;

/** A list of items, which can be added, removed and moved. */
export function arrayControl(slot) {
  const { shape } = slot;
  const items = [];
  const list = h("div", { class: "items" });
  const changed = () => slot.element.dispatchEvent(new Event("input", { bubbles: true }));

  const number = () => {
    items.forEach((item, idx) => {
      item.rename(idx + 1);
      item.up.disabled = idx === 0;
      item.down.disabled = idx === items.length - 1;
    });
  };
  const move = (item, by) => {
    const from = items.indexOf(item);
    const to = from + by;
    items.splice(from, 1);
    items.splice(to, 0, item);
    list.replaceChildren(...items.map((one) => one.field.element));
    number();
    (by < 0 && to === 0 ? item.down : by > 0 && to === items.length - 1 ? item.up : by < 0 ? item.up : item.down).focus();
    changed();
  };
  const append = () => {
    const button = (label, text, onclick) => h("button", { type: "button", class: "quiet icon", "aria-label": label, onclick }, text);
    const up = button("Move up", "↑", () => move(item, -1));
    const down = button("Move down", "↓", () => move(item, 1));
    const remove = button("Remove the item", "✕", () => {
      const idx = items.indexOf(item);
      items.splice(idx, 1);
      field.element.remove();
      number();
      (items[idx] ?? items[idx - 1])?.field.focus();
      if (items.length === 0) add.focus();
      changed();
    });
    const name = `${items.length + 1}`;
    const field = slot.child({ schema: shape.items, name, required: true, buttons: [up, down, remove] });
    const rename = (position) => {
      const label = field.element.querySelector(".label");
      label.textContent = `${position}`;
    };
    const item = { field, up, down, rename };
    items.push(item);
    list.append(field.element);
    number();
    return field;
  };
  const add = h("button", { type: "button", class: "add", onclick: () => { slot.touched(); append().focus(); changed(); } }, "Add an item");
  return {
    element: h("div", { class: "array" }, list, add),
    slots: () => items.map((item, idx) => [String(idx), item.field]),
    get() {
      const nodes = items.map((item) => item.field.get());
      // An item cannot be absent. The server names it if that is a mistake.
      return { type: "array", items: nodes.map((node) => node ?? { type: "null" }) };
    },
    set(node) {
      if (node.type !== "array" || node.items.length > MAX_ITEMS) return false;
      for (const item of node.items) append().set(item);
      return true;
    },
    focus: () => (items[0] ? items[0].field.focus() : add.focus()),
  };
}

/** A list of different options, as boxes. */
export function flagsControl(slot) {
  const { options } = slot.shape;
  const boxes = options.map(() => {
    const box = h("input", { type: "checkbox" });
    box.addEventListener("input", () => slot.touched());
    return box;
  });
  const labels = options.map(({ node, label }, idx) => {
    const text = label ?? (node.type === "string" ? node.value : write(node));
    return h("label", { class: "radio" }, boxes[idx], h("span", {}, text));
  });
  return {
    element: h("div", { class: "radios" }, labels),
    get: () => ({ type: "array", items: options.filter((_, idx) => boxes[idx].checked).map(({ node }) => node) }),
    set(node) {
      if (node.type !== "array") return false;
      for (const item of node.items) {
        const idx = options.findIndex((option) => same(option.node, item));
        if (idx < 0) return false;
        boxes[idx].checked = true;
      }
      return true;
    },
    focus: () => boxes[0]?.focus(),
  };
}
