// JSON as a tree, whose branches are built when they are opened.

import { h } from "./dom.js";
import { write } from "./json.js";

const MAX_SHOWN = 100;
const MAX_TEXT = 2_000;

function size(node) {
  const n = node.type === "object" ? node.entries.length : node.items.length;
  const [one, many] = node.type === "object" ? ["field", "fields"] : ["item", "items"];
  return `${n} ${n === 1 ? one : many}`;
}

function scalar(node) {
  const text = write(node);
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text;
  return h("span", { class: `json-${node.type}` }, shown);
}

function rows(node, level) {
  const children = node.type === "object" ? node.entries : node.items.map((item, idx) => [idx, item]);
  const list = h("ul", { class: "tree" });
  const more = (from) => {
    for (const [key, value] of children.slice(from, from + MAX_SHOWN)) list.append(h("li", {}, branch(key, value, level)));
    const left = children.length - from - MAX_SHOWN;
    if (left <= 0) return;
    const next = h("button", { type: "button", class: "quiet" }, `Show more (${left} left)`);
    const item = h("li", {}, next);
    next.addEventListener("click", () => {
      item.remove();
      more(from + MAX_SHOWN);
    });
    list.append(item);
  };
  more(0);
  return list;
}

function branch(key, node, level) {
  const name = key === null ? [] : [h("span", { class: typeof key === "number" ? "json-index" : "json-key" }, String(key)), ": "];
  const isBranch = (node.type === "object" && node.entries.length > 0) || (node.type === "array" && node.items.length > 0);
  if (!isBranch) return h("span", { class: "leaf" }, name, scalar(node));
  const summary = h("summary", {}, name, h("span", { class: "size" }, size(node)));
  const details = h("details", {}, summary);
  const open = () => {
    if (details.childElementCount === 1) details.append(rows(node, level + 1));
  };
  details.addEventListener("toggle", () => details.open && open());
  const n = node.type === "object" ? node.entries.length : node.items.length;
  if (level < 2 && n <= 50) {
    open();
    details.open = true;
  }
  return details;
}

/** Renders a node. */
export function tree(node) {
  const isBranch = node.type === "object" || node.type === "array";
  return h("div", { class: "json-tree" }, isBranch ? branch(null, node, 0) : scalar(node));
}
