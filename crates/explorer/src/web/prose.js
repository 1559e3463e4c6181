// Descriptions, which are Markdown: paragraphs, lists, headings and code. Links and images stay text.

import { h } from "./dom.js";

const MAX_LENGTH = 20_000;

/** Splits a line into texts and code spans. */
function inline(line) {
  const parts = line.split(/(`+[^`]+`+)/);
  return parts.map((part, idx) => (idx % 2 === 1 ? h("code", {}, part.replace(/^`+ ?| ?`+$/g, "")) : emphasis(part))).flat();
}

function emphasis(text) {
  return text.split(/(\*\*[^*\n]+\*\*)/).map((part, idx) => (idx % 2 === 1 ? h("strong", {}, part.slice(2, -2)) : part));
}

/** Collapses a rendered description from the first block that exceeds the budget of characters. */
function collapse(out, budget) {
  let length = 0;
  const rest = [];
  for (const block of [...out.children]) {
    if (length >= budget) rest.push(block);
    length += block.textContent.length;
  }
  // A little more is not worth a button, and a single long block is cut by its height.
  const long = [...out.children].filter((block) => !rest.includes(block) && block.textContent.length > budget * 2);
  if (long.length === 0 && (rest.length === 0 || length < budget * 1.5)) return;
  const button = h("button", { type: "button", class: "link more", "aria-expanded": "false" }, "Show more");
  const set = (isOpen) => {
    for (const block of rest) block.hidden = !isOpen;
    for (const block of long) block.classList.toggle("cut", !isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
    button.textContent = isOpen ? "Show less" : "Show more";
  };
  button.addEventListener("click", () => set(button.getAttribute("aria-expanded") !== "true"));
  set(false);
  out.append(button);
}

/** Renders a description. From `budget` characters on, it is collapsed. */
export function prose(text, { style = "", budget = 500 } = {}) {
  const out = h("div", { class: `prose ${style}` });
  const lines = text.slice(0, MAX_LENGTH).split("\n");
  let paragraph = [];
  let list = null;
  const flush = () => {
    if (paragraph.length > 0) out.append(h("p", {}, inline(paragraph.join(" "))));
    paragraph = [];
    list = null;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const fence = /^\s*(```|~~~)/.exec(line)?.[1];
    const item = /^\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)$/.exec(line)?.[1];
    const heading = /^\s*#{1,6}\s+(.*)$/.exec(line)?.[1];
    if (fence) {
      flush();
      const end = lines.findIndex((other, idx) => idx > at && other.trim() === fence);
      const last = end < 0 ? lines.length : end;
      out.append(h("pre", { tabindex: 0 }, h("code", {}, lines.slice(at + 1, last).join("\n"))));
      at = last;
    } else if (heading !== undefined) {
      flush();
      out.append(h("p", { class: "heading" }, inline(heading)));
    } else if (item !== undefined) {
      if (!list) {
        flush();
        list = h("ul");
        out.append(list);
      }
      list.append(h("li", {}, inline(item)));
    } else if (line.trim() === "") flush();
    else if (list && /^\s/.test(line)) list.lastElementChild.append(" ", ...inline(line.trim()));
    else {
      list = null;
      paragraph.push(line.trim());
    }
  }
  flush();
  if (text.length > MAX_LENGTH) out.append(h("p", {}, "…"));
  collapse(out, budget);
  return out;
}
