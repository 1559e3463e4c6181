// The start page: what was called lately, and all tools, or the namespaces of a large catalog.

import { byNamespace, marks, shortName } from "./catalog.js";
import { h, pageLink, uniqueId } from "./dom.js";
import { calledTools } from "./history.js";

const MAX_RECENT = 6;
/** A larger catalog is shown as its namespaces. */
const MAX_TOOLS = 60;
const KEYS = [["/", "search"], ["↓ ↑", "move through the list"], ["Ctrl Enter", "call the tool"], ["Esc", "cancel the call"]];

function card(tool, name) {
  const title = h("span", { class: "card-title" }, h("span", { class: "tool-name" }, name), marks(tool));
  return h("li", {}, pageLink(`tool/${encodeURIComponent(tool.name)}`, { class: "card" }, title, tool.summary ? h("span", { class: "card-text" }, tool.summary.slice(0, 300)) : null));
}

function section(title, cards) {
  const id = uniqueId("start");
  return h("section", { "aria-labelledby": id }, h("h3", { id }, title), h("ul", { class: "cards" }, cards));
}

function namespaceCard(namespace, tools, find) {
  const names = tools.slice(0, 6).map(shortName).join(", ");
  const title = h("span", { class: "card-title" }, h("span", { class: "tool-name" }, namespace), " ", h("small", {}, `${tools.length} ${tools.length === 1 ? "tool" : "tools"}`));
  const text = h("span", { class: "card-text" }, tools.length > 6 ? `${names}, …` : names);
  return h("li", {}, h("button", { type: "button", class: "card", onclick: () => find(namespace) }, title, text));
}

/** Creates the page. `find` searches the list; `missing` is the name of a tool that an address names and no tool has. */
export function startView({ tools, missing, find }) {
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0);
  const n = tools.length;
  const facts = n === 0 ? "This server has no tools." : `${n} ${n === 1 ? "tool" : "tools"}, whose definitions cost a model about ${tokens.toLocaleString("en")} tokens.`;
  const title = h("h2", { class: "view-title" }, missing ? `There is no tool named ${missing}` : n === 0 ? "No tools" : "Choose a tool");
  const head = h("header", { class: "tool-head" }, title, h("p", { class: "lead" }, facts));
  if (n === 0) return h("div", { class: "welcome" }, head);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const recent = calledTools().map((name) => byName.get(name)).filter((tool) => tool).slice(0, MAX_RECENT);
  const groups = [...byNamespace(tools)];
  const lists = n <= MAX_TOOLS || groups.length === 1
    ? groups.map(([namespace, members]) => section(namespace || "Tools", members.slice(0, MAX_TOOLS).map((tool) => card(tool, shortName(tool)))))
    : [section("Namespaces", groups.map(([namespace, members]) => namespaceCard(namespace, members, find)))];
  return h("div", { class: "welcome" }, head,
    recent.length > 0 ? section("Called lately", recent.map((tool) => card(tool, tool.id.replace(/:\d[^:]*$/, "")))) : null,
    lists,
    h("dl", { class: "keys" }, KEYS.map(([key, what]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)))));
}
