// The page: the list on one side, a tool or the recent calls on the other.

import { catalog } from "./catalog.js";
import { announcer, h, pageLink, visible } from "./dom.js";
import { parse } from "./json.js";
import { RecentCalls, recentView, summary } from "./recent.js";
import { hasToken, load, onUnauthorized, restore } from "./session.js";
import { startView } from "./start.js";
import { themeSwitch } from "./theme.js";
import { tokenView } from "./token.js";
import { toolView } from "./tool.js";

const MAX_OPEN = 20;

const side = document.getElementById("side");
const main = document.getElementById("main");
const title = side.querySelector("h1");
const { region, announce } = announcer();
const build = h("aside", { class: "build notice failed", "aria-label": "Build", hidden: true });

/** The page after the catalog was loaded. */
class Page {
  constructor(info, tools) {
    this.info = info;
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.recent = new RecentCalls();
    this.views = new Map();
    this.open = null;
    this.catalog = catalog(tools, announce);
    const calls = h("span", {}, "Recent calls");
    this.recent.listeners.add((recent) => calls.replaceChildren("Recent calls", h("small", {}, visible(summary(recent)))));
    const foot = h("div", { class: "foot" },
      info.hasCalls ? pageLink("calls", { class: "calls-link" }, calls) : null,
      h("div", { class: "settings" }, exportButton(info), themeSwitch()));
    side.replaceChildren(title, this.catalog.element, foot);
    this.callsLink = foot.querySelector(".calls-link");
    this.recent.built = showBuild;
    this.recent.reconnected = () => this.reload().catch(() => {});
    if (info.hasCalls) this.recent.follow();
    this.end = new AbortController();
    document.addEventListener("keydown", (event) => this.key(event), { signal: this.end.signal });
    this.show(false);
  }

  /** Ends the page, since another one takes its place. */
  close() {
    this.end.abort();
    this.recent.close();
    for (const view of this.views.values()) view.cancel();
  }

  key(event) {
    const isTyping = event.target.matches("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      document.body.dataset.view = "list";
      this.catalog.input.focus();
      this.catalog.input.select();
    }
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") this.open?.cancel?.();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && this.open?.run) {
      event.preventDefault();
      this.open.run();
    }
  }

  /** Shows what the fragment of the address names. */
  async show(hasMoved) {
    const fragment = location.hash.slice(1);
    this.recentView?.close();
    this.recentView = null;
    this.callsLink?.removeAttribute("aria-current");
    if (fragment === "calls" && this.info.hasCalls) {
      this.callsLink.setAttribute("aria-current", "page");
      this.catalog.select(null);
      this.recentView = recentView(this.recent);
      this.place("calls", "Recent calls", this.recentView, hasMoved);
      return;
    }
    const { name, args } = toolOf(fragment);
    const entry = this.tools.get(name);
    this.catalog.select(entry ? name : null);
    if (!entry) {
      this.open = null;
      document.body.dataset.view = "list";
      document.title = visible(this.info.title);
      main.replaceChildren(startView({ tools: [...this.tools.values()], missing: name, find: (words) => this.catalog.find(words) }));
      return;
    }
    let view = this.views.get(name);
    if (!view) {
      try {
        const details = await load(`tool?name=${encodeURIComponent(name)}`);
        view = toolView({ entry, details: parse(details), info: this.info, recent: this.recent, say: announce });
        view.details = details;
      } catch (error) {
        if (error.status === 401) return;
        main.replaceChildren(h("p", { class: "notice failed" }, error.message));
        document.body.dataset.view = "tool";
        return;
      }
      this.views.set(name, view);
      if (this.views.size > MAX_OPEN) this.forget();
    }
    // Another tool may have been chosen meanwhile.
    if (location.hash.slice(1) !== fragment) return;
    this.place("tool", entry.name, view, hasMoved);
    if (args !== null) view.fill(args);
  }

  /** Shows the tools of a server that was started again. An open form keeps its arguments. */
  async reload() {
    const { tools } = JSON.parse(await load("catalog"));
    if (JSON.stringify(tools) !== JSON.stringify([...this.tools.values()])) {
      this.tools = new Map(tools.map((tool) => [tool.name, tool]));
      const words = this.catalog.input.value;
      const list = catalog(tools, announce);
      this.catalog.element.replaceWith(list.element);
      this.catalog = list;
      if (words) list.find(words);
      announce("The tools have changed");
    }
    const { name } = toolOf(location.hash.slice(1));
    const open = this.views.get(name);
    for (const [known, view] of this.views) if (!view.isRunning()) this.views.delete(known);
    if (this.recentView || open?.isRunning()) return;
    if (open && this.tools.has(name) && (await load(`tool?name=${encodeURIComponent(name)}`)) === open.details) {
      this.views.set(name, open);
      this.catalog.select(name);
      return;
    }
    const args = open?.text();
    await this.show(false);
    if (args) this.open?.fill?.(args);
  }

  /** Forgets the tool that was opened first and does not run. */
  forget() {
    const old = [...this.views].find(([, view]) => view !== this.open && !view.isRunning());
    if (old) this.views.delete(old[0]);
  }

  place(kind, name, view, hasMoved) {
    this.open = view;
    document.body.dataset.view = kind;
    document.title = `${visible(name)} – ${visible(this.info.title)}`;
    main.replaceChildren(view.element);
    main.scrollTop = 0;
    if (hasMoved) {
      view.title.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  }
}

/** Reads `tool/NAME` and `tool/NAME?ARGUMENTS`, the address of a tool, and of one with arguments as JSON. */
function toolOf(fragment) {
  if (!fragment.startsWith("tool/")) return { name: null, args: null };
  const [name, ...rest] = fragment.slice(5).split("?");
  try {
    return { name: decodeURIComponent(name), args: rest.length > 0 ? decodeURIComponent(rest.join("?")) : null };
  } catch {
    return { name: null, args: null };
  }
}

/** Creates a button that saves the catalog as a page for reading. */
function exportButton(info) {
  const button = h("button", { type: "button", class: "quiet" }, "Export");
  button.title = "Save the catalog as a page that needs no server";
  button.addEventListener("click", async () => {
    const page = await load("export");
    const url = URL.createObjectURL(new Blob([page], { type: "application/octet-stream" }));
    const link = h("a", { download: `${info.title.replace(/[^\w.-]+/g, "-").slice(0, 60) || "tools"}.html` });
    link.setAttribute("href", url);
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  });
  return button;
}

/** Shows the errors of a build, below which the tools of the program before the change remain. */
function showBuild(errors) {
  if (errors !== null) announce("The build has failed");
  else if (!build.hidden) announce("The program is built");
  build.hidden = errors === null;
  build.replaceChildren(h("strong", {}, "The build has failed. The tools are those of the program before the change."), h("pre", { tabindex: 0 }, errors ?? ""));
}

let page = null;

/** Loads the catalog, with the token that is set now. */
async function start() {
  page?.close();
  try {
    const { info, tools } = JSON.parse(await load("catalog"));
    main.replaceChildren();
    page = new Page(info, tools);
    performance.mark("tools-shown");
  } catch (error) {
    if (error.status !== 401) main.replaceChildren(h("p", { class: "notice failed" }, `The catalog cannot be loaded: ${error.message}`));
  }
}

onUnauthorized(() => {
  document.body.dataset.view = "token";
  const message = page
    ? "The server no longer accepts the token."
    : hasToken()
      ? "The server rejected this token. Enter another one: it may be incomplete, expired, or for another server."
      : "This server requires a token.";
  const view = tokenView(message, start);
  main.replaceChildren(view.element);
  view.input.focus();
});

// A token may also be put into the address of an open page.
addEventListener("hashchange", () => (restore() ? start() : page?.show(true)));
document.body.append(build, region);
restore();
start();
