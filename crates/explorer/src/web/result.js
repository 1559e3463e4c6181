// The content of a result: text, images, audio, resources and structured data. All of it is untrusted.

import { h, webLink } from "./dom.js";
import { at, isTrue, itemsAt, parse, same, textAt, write } from "./json.js";
import { readResource } from "./mcp.js";
import { tree } from "./tree.js";

const MAX_TEXT = 200_000;
const MAX_BLOCKS = 200;
const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml", "image/bmp"]);
const SOUNDS = /^audio\/[\w.+-]+$/;

/** Writes a number of bytes for people. */
export function bytes(n) {
  if (n < 1000) return `${n} B`;
  if (n < 1_000_000) return `${(n / 1000).toFixed(1)} kB`;
  return `${(n / 1_000_000).toFixed(1)} MB`;
}

function decoded(base64) {
  const text = atob(base64);
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Offers bytes as a file that the browser does not open. */
function download(data, name) {
  const button = h("button", { type: "button", class: "quiet" }, "Download");
  button.addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
    const link = h("a", { download: name.replace(/[^\w.-]+/g, "_").slice(-80) || "content" });
    link.setAttribute("href", url);
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  });
  return button;
}

function text(content, name) {
  const isLong = content.length > MAX_TEXT;
  const shown = h("pre", { tabindex: 0, class: "text" }, h("code", {}, isLong ? content.slice(0, MAX_TEXT) : content));
  if (!isLong) return shown;
  const note = `The first ${MAX_TEXT} of ${content.length} characters.`;
  return h("div", {}, shown, h("p", { class: "note" }, note, " ", download(new TextEncoder().encode(content), name)));
}

function media(tag, type, data, label) {
  const element = tag === "img" ? h("img", { alt: label }) : h("audio", { controls: true, "aria-label": label });
  // A script in an SVG image does not run in an `img` element.
  const url = URL.createObjectURL(new Blob([data], { type }));
  element.setAttribute("src", url);
  element.addEventListener(tag === "img" ? "load" : "loadeddata", () => setTimeout(() => URL.revokeObjectURL(url), 60_000), { once: true });
  return element;
}

function binary(block, kind) {
  const type = (textAt(block, "mimeType") ?? "").toLowerCase();
  let data;
  try {
    data = decoded(textAt(block, "data") ?? textAt(block, "blob") ?? "");
  } catch {
    return h("p", { class: "note" }, `${kind} whose data is not base64`);
  }
  const label = `${kind}, ${type || "unknown type"}, ${bytes(data.length)}`;
  const content = IMAGES.has(type) ? media("img", type, data, label) : SOUNDS.test(type) ? media("audio", type, data, label) : hex(data);
  return h("figure", {}, content, h("figcaption", {}, label, " ", download(data, kind)));
}

function hex(data) {
  const head = Array.from(data.subarray(0, 256), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return h("pre", { tabindex: 0 }, h("code", {}, data.length > 256 ? `${head} …` : head));
}

function resource(content) {
  const uri = textAt(content, "uri") ?? "";
  const type = textAt(content, "mimeType");
  const caption = h("p", { class: "uri" }, h("code", {}, uri), type ? ` ${type}` : "");
  const body = at(content, "blob") ? binary(content, "resource") : text(textAt(content, "text") ?? "", uri);
  return h("div", {}, caption, body);
}

function link(block) {
  const uri = textAt(block, "uri") ?? "";
  const title = textAt(block, "title") ?? textAt(block, "name") ?? uri;
  const place = h("div", { "aria-live": "polite" });
  const read = h("button", { type: "button", class: "quiet" }, "Read");
  read.addEventListener("click", async () => {
    read.disabled = true;
    try {
      const contents = await readResource(uri);
      place.replaceChildren(...contents.items.slice(0, MAX_BLOCKS).map(resource));
    } catch (error) {
      place.replaceChildren(h("p", { class: "note" }, error.message));
    }
    read.disabled = false;
  });
  const address = h("p", { class: "uri" }, webLink(uri), textAt(block, "mimeType") ? ` ${textAt(block, "mimeType")}` : "");
  const about = textAt(block, "description");
  return h("div", {}, h("p", {}, h("strong", {}, title), " ", read), about ? h("p", {}, about) : null, address, place);
}

function block(content, idx) {
  const type = textAt(content, "type");
  const [name, body] = {
    text: () => ["Text", text(textAt(content, "text") ?? "", `text-${idx}.txt`)],
    image: () => ["Image", binary(content, "image")],
    audio: () => ["Audio", binary(content, "audio")],
    resource: () => ["Resource", resource(at(content, "resource"))],
    resource_link: () => ["Link", link(content)],
  }[type]?.() ?? ["Content", tree(content)];
  return h("section", { class: `block ${type ?? ""}` }, h("h4", {}, name), body);
}

/** Returns true if a text block only repeats the structured data. */
function repeats(content, structured) {
  if (textAt(content, "type") !== "text") return false;
  try {
    return same(parse(textAt(content, "text")), structured) || same(parse(textAt(content, "text")), at(structured, "result") ?? structured);
  } catch {
    return textAt(content, "text") === textAt(structured, "result");
  }
}

/** Renders the result of a call. */
export function renderResult(result) {
  const structured = at(result, "structuredContent");
  const blocks = itemsAt(result, "content");
  const isError = isTrue(result, "isError");
  const out = h("div", { class: "content" });
  if (structured && !isError) {
    const raw = write(structured, 2);
    const copy = copyButton(raw, "Copy JSON");
    out.append(h("section", { class: "block structured" }, h("h4", {}, "Data ", copy), tree(structured)));
  }
  const shown = structured ? blocks.filter((content) => !repeats(content, structured)) : blocks;
  out.append(...shown.slice(0, MAX_BLOCKS).map(block));
  if (shown.length > MAX_BLOCKS) out.append(h("p", { class: "note" }, `${shown.length - MAX_BLOCKS} more blocks are not shown.`));
  if (blocks.length === 0 && !structured) out.append(h("p", { class: "note" }, "The tool returned nothing."));
  return out;
}

/** Creates a button that copies a text. */
export function copyButton(content, label = "Copy") {
  const button = h("button", { type: "button", class: "quiet copy" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(typeof content === "function" ? content() : content);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select the text to copy it";
    }
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}
