// The list of tools, with search and filters.

import { h, pageLink, uniqueId } from "./dom.js";
import { parseQuery, Search } from "./search.js";

const FILTERS = [["read-only", "read-only"], ["destructive", "destructive"], ["idempotent", "idempotent"], ["open-world", "open world"], ["deprecated", "deprecated"]];
const MAX_TAGS = 40;

/** Keeps one row of the filters, and moves the others behind a button. */
function oneRow(filters, chips) {
  const more = h("button", { type: "button", class: "chip more", "aria-expanded": "false" });
  let isOpen = false;
  const fold = () => {
    for (const chip of chips) chip.hidden = false;
    more.hidden = true;
    const wraps = (element) => element.offsetTop > chips[0].offsetTop + chips[0].offsetHeight / 2;
    const all = chips.filter(wraps).length;
    if (all === 0) return;
    more.hidden = false;
    more.textContent = isOpen ? "Less" : `${all} more`;
    more.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) return;
    for (let last = chips.length - 1; last > 0 && (wraps(more) || last >= chips.length - all); last -= 1) {
      // A filter that is set stays visible.
      if (chips[last].getAttribute("aria-pressed") !== "true") chips[last].hidden = true;
    }
    more.textContent = `${chips.filter((chip) => chip.hidden).length} more`;
  };
  more.addEventListener("click", () => {
    isOpen = !isOpen;
    fold();
  });
  filters.append(more);
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === width) return;
    width = contentRect.width;
    fold();
  }).observe(filters);
  return fold;
}

/** Creates the list. `say` announces the number of tools found. */
export function catalog(tools, say) {
  const search = new Search(tools);
  const id = uniqueId("search");
  const input = h("input", {
    id, type: "search", placeholder: "Search tools", autocomplete: "off", spellcheck: "false", "aria-keyshortcuts": "/",
  });
  const found = h("p", { class: "found" });
  const nav = h("nav", { "aria-label": "Tools" });
  const filters = h("div", { class: "filters", role: "group", "aria-label": "Filters" });

  const labels = [
    ...FILTERS.filter(([hint]) => tools.some((tool) => tool.hints?.includes(hint))).map(([hint, label]) => [`is:${hint}`, label]),
    ...commonTags(tools).map((tag) => [`tag:${tag}`, `#${tag}`]),
  ];
  const chips = labels.map(([term, label]) => {
    const chip = h("button", { type: "button", class: "chip", "aria-pressed": "false" }, label);
    chip.addEventListener("click", () => {
      const terms = input.value.split(/\s+/).filter((one) => one !== "");
      const has = terms.includes(term);
      input.value = (has ? terms.filter((one) => one !== term) : [...terms, term]).join(" ");
      refresh();
    });
    return [term, chip];
  });
  filters.append(...chips.map(([, chip]) => chip));
  const fold = chips.length > 0 ? oneRow(filters, chips.map(([, chip]) => chip)) : () => {};

  const links = new Map(tools.map((tool) => [tool.name, entry(tool)]));
  let current = null;

  function refresh() {
    const hits = search.find(input.value);
    const isSorted = parseQuery(input.value).words.length === 0;
    nav.replaceChildren(...(isSorted ? grouped(hits, links) : [list(hits, links)]));
    const terms = input.value.split(/\s+/);
    for (const [term, chip] of chips) chip.setAttribute("aria-pressed", String(terms.includes(term)));
    fold();
    found.textContent = input.value.trim() === "" ? count(tools.length) : `${hits.length} of ${count(tools.length)}`;
    if (hits.length === 0 && tools.length > 0) nav.append(h("p", { class: "none" }, "No tool matches. Search for other words, or remove a filter."));
    return hits;
  }
  input.addEventListener("input", () => {
    const hits = refresh();
    say(`${hits.length} tools`);
  });
  input.addEventListener("keydown", (event) => {
    const first = nav.querySelector("a");
    if (event.key === "Enter" && first) first.click();
    if (event.key === "ArrowDown" && first) {
      first.focus();
      event.preventDefault();
    }
    if (event.key === "Escape") {
      input.value = "";
      refresh();
    }
  });
  nav.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    const all = [...nav.querySelectorAll("a")];
    const next = all.indexOf(document.activeElement) + by;
    (next < 0 ? input : all[next])?.focus();
    event.preventDefault();
  });
  refresh();
  return {
    element: h("div", { class: "catalog" },
      h("div", { class: "search", role: "search" }, h("label", { class: "visually-hidden", for: id }, "Search tools"), input, h("kbd", { "aria-hidden": "true" }, "/")),
      filters, found, nav),
    input,
    /** Searches for words, and lists what they find. */
    find(words) {
      input.value = words;
      refresh();
      input.focus();
    },
    /** Marks the open tool. */
    select(name) {
      if (current) links.get(current)?.querySelector("a").removeAttribute("aria-current");
      current = name;
      const link = links.get(name)?.querySelector("a");
      link?.setAttribute("aria-current", "page");
      if (link?.isConnected) link.scrollIntoView({ block: "nearest" });
    },
  };
}

function count(n) {
  return n === 1 ? "1 tool" : `${n} tools`;
}

function commonTags(tools) {
  const counts = new Map();
  for (const tool of tools) for (const tag of tool.tags ?? []) if (!/\s/.test(tag)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MAX_TAGS).map(([tag]) => tag);
}

/** Returns the name of a tool below its namespace. */
export function shortName(tool) {
  const name = tool.id.replace(/:\d[^:]*$/, "");
  return tool.namespace ? name.slice(tool.namespace.length + 1) : name;
}

/** Returns the hints of a tool that a person should see before opening it. */
export function marks(tool) {
  const shown = ["destructive", "deprecated"].filter((hint) => tool.hints?.includes(hint));
  return shown.map((hint) => [" ", h("span", { class: `mark ${hint}` }, hint)]);
}

/** Groups tools by namespace, in their order. */
export function byNamespace(tools) {
  const groups = new Map();
  for (const tool of tools) {
    const namespace = tool.namespace ?? "";
    if (!groups.has(namespace)) groups.set(namespace, []);
    groups.get(namespace).push(tool);
  }
  return groups;
}

function entry(tool) {
  const label = [h("span", { class: "tool-name" }, shortName(tool)), marks(tool)];
  return h("li", {}, pageLink(`tool/${encodeURIComponent(tool.name)}`, {}, label, tool.summary ? h("span", { class: "summary" }, tool.summary.slice(0, 160)) : null));
}

function list(tools, links) {
  return h("ul", {}, tools.map((tool) => links.get(tool.name)));
}

function grouped(tools, links) {
  return [...byNamespace(tools)].map(([namespace, members]) => {
    const id = uniqueId("group");
    const title = h("h2", { id, class: "group-name" }, namespace || "without namespace", " ", h("small", {}, members.length));
    return h("section", { "aria-labelledby": id }, title, list(members, links));
  });
}
