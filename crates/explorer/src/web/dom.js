// Creates elements. Texts of tools, servers and results are untrusted: they become text nodes or one of the attributes
// below, never markup, code or addresses.

const ATTRIBUTES = new Set([
  "accept", "alt", "autocomplete", "checked", "class", "cols", "controls", "d", "dir", "disabled", "download", "fill", "for",
  "height", "hidden", "id", "inputmode", "label", "lang", "list", "max", "min", "multiple", "name", "open", "placeholder",
  "preserveAspectRatio", "readonly", "role", "rows", "rx", "scope", "selected", "spellcheck", "step", "tabindex", "title",
  "type", "value", "viewBox", "width", "x", "y",
]);

const INVISIBLE =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Cs}/u;
const EACH_INVISIBLE = new RegExp(INVISIBLE.source, "gu");
const SVG = "http://www.w3.org/2000/svg";

function codePoint(character) {
  return "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
}

/** Replaces characters that are invisible or reorder others by their code points, for attributes and options. */
export function visible(text) {
  return INVISIBLE.test(text) ? text.replace(EACH_INVISIBLE, (one) => `[${codePoint(one)}]`) : text;
}

/** Returns a text as nodes, in which invisible characters are marked. */
export function shown(text) {
  if (!INVISIBLE.test(text)) return document.createTextNode(text);
  const nodes = document.createDocumentFragment();
  let from = 0;
  for (const match of text.matchAll(EACH_INVISIBLE)) {
    nodes.append(text.slice(from, match.index));
    const mark = document.createElement("span");
    mark.className = "invisible";
    mark.textContent = codePoint(match[0]);
    nodes.append(mark);
    from = match.index + match[0].length;
  }
  nodes.append(text.slice(from));
  return nodes;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === false || value === null || value === undefined) continue;
    else if (ATTRIBUTES.has(name) || /^(aria|data)-[a-z-]+$/.test(name)) {
      const text = value === true ? "" : String(value);
      element.setAttribute(name, name === "value" || name === "id" || name === "for" ? text : visible(text));
    } else throw new Error(`the attribute ${name} is not allowed`);
  }
  const plain = element.localName === "option" || element.localName === "textarea" || element.localName === "title";
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else element.append(plain ? visible(String(child)) : shown(String(child)));
  }
  return element;
}

/** Creates an element. `onclick` and so on are listeners; all other attributes must be allowed. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Creates an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Creates a link to a web page of somebody else, or a text if the address is not one of a web page. */
export function webLink(address, text = address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return h("span", {}, text);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return h("span", {}, text);
  const link = h("a", {}, text);
  link.setAttribute("href", url.href);
  link.setAttribute("rel", "noopener noreferrer nofollow");
  link.setAttribute("target", "_blank");
  return link;
}

/** Creates a link within the page. */
export function pageLink(fragment, attributes, ...children) {
  const link = h("a", attributes, ...children);
  link.setAttribute("href", "#" + fragment);
  return link;
}

/** Returns an id that no other element has. */
export function uniqueId(prefix) {
  uniqueId.last = (uniqueId.last ?? 0) + 1;
  return `${prefix}-${uniqueId.last}`;
}

/** Announces something to screen readers, at most once per second. */
export function announcer() {
  const region = h("p", { class: "visually-hidden", role: "status" });
  let timer = null;
  let next = "";
  const say = () => {
    region.textContent = next;
    timer = setTimeout(() => {
      timer = null;
      if (region.textContent !== next) say();
    }, 1000);
  };
  return {
    region,
    announce(text) {
      next = visible(text);
      if (timer === null) say();
    },
  };
}
