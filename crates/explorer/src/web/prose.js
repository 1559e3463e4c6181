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

/** Renders a description. */
export function prose(text, style = "") {
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
  return out;
}
