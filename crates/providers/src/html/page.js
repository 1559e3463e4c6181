
"use strict";
// All that is needed to read is there without this script: it searches, copies, and says where one is.
document.documentElement.classList.add("js");
addEventListener("DOMContentLoaded", () => {
  const field = document.getElementById("~page-search");
  const found = document.getElementById("~page-found");
  const main = document.querySelector("main");
  const nav = document.querySelector("nav");
  const articles = [...document.querySelectorAll("article")];
  const sections = [...main.children];
  const contents = [...nav.children];
  const links = new Map([...nav.querySelectorAll("li a")].map(a => [decodeURIComponent(a.hash.slice(1)), a]));

  // Nobody reads more than this many answers, and a browser shows these at once.
  const MOST = 50;

  // What each tool says of itself, read when it is first asked for.
  let tools;
  function read() {
    return articles.map(article => {
      const said = [...article.children].filter(part => !part.matches(".raw, figure, .version"));
      const { name = "", ns = "", tags = "", is = "" } = article.dataset;
      return {
        article,
        name: name.toLowerCase(),
        ns: ns.toLowerCase(),
        tags: tags ? tags.toLowerCase().split(" ") : [],
        is: is ? is.split("|") : [],
        text: said.map(part => part.textContent).join(" ").toLowerCase(),
      };
    });
  }

  // How well a tool answers one word; 0 where it does not.
  function fit(tool, word) {
    const [, what, rest] = /^(tag|is|ns):(.+)$/.exec(word) ?? [];
    if (what === "tag") return +tool.tags.includes(rest);
    if (what === "is") return +tool.is.includes(rest);
    if (what === "ns") return +(tool.ns === rest);
    if (tool.name === word) return 32;
    if (tool.name.startsWith(word)) return 16;
    if (tool.name.includes(word)) return 12;
    if (tool.tags.includes(word) || tool.ns === word) return 8;
    if (tool.ns.includes(word)) return 4;
    return +tool.text.includes(word);
  }

  function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter(word => word);
    document.documentElement.classList.toggle("searching", words.length > 0);
    CSS.highlights?.delete("found");
    if (words.length === 0) {
      main.replaceChildren(...sections);
      nav.replaceChildren(...contents);
      for (const [id, link] of links) homes.get(id).append(link);
      found.textContent = "";
      remember("");
      return;
    }
    tools ??= read();
    const hits = [];
    for (const tool of tools) {
      let score = 0;
      if (words.every(word => { const one = fit(tool, word); score += one; return one > 0; })) hits.push({ tool, score });
    }
    hits.sort((a, b) => b.score - a.score);
    const nHits = hits.length;
    hits.length = Math.min(nHits, MOST);
    const list = document.createElement("ul");
    for (const { tool } of hits) {
      const item = document.createElement("li");
      item.append(links.get(tool.article.id));
      list.append(item);
    }
    nav.replaceChildren(list);
    nav.scrollTop = 0;
    const none = document.createElement("p");
    none.className = "none";
    none.textContent = "No tool says that.";
    main.replaceChildren(...(hits.length ? hits.map(hit => hit.tool.article) : [none]));
    scrollTo(0, 0);
    found.textContent = `${nHits} of ${articles.length} tools${nHits > MOST ? `, the best ${MOST} shown` : ""}`;
    remember(field.value);
    highlight(words, hits);
  }
  const homes = new Map([...links].map(([id, link]) => [id, link.parentElement]));

  function highlight(words, hits) {
    if (!CSS.highlights) return;
    const ranges = [];
    for (const { tool } of hits) {
      for (const part of tool.article.querySelectorAll("h3, .title, .prose, .fields")) {
        const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const text = walker.currentNode.data.toLowerCase();
          if (text.length !== walker.currentNode.data.length) continue;
          for (const word of words) {
            for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
              const range = new Range();
              range.setStart(walker.currentNode, at);
              range.setEnd(walker.currentNode, at + word.length);
              ranges.push(range);
            }
          }
        }
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  }

  // A search is an address that can be sent to somebody.
  function remember(query) {
    const address = new URL(location);
    if (query) address.searchParams.set("q", query); else address.searchParams.delete("q");
    if (query) address.hash = "";
    try { history.replaceState(null, "", address); } catch { /* some browsers refuse that to a file */ }
  }

  let waiting = 0;
  field.addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(search); });
  addEventListener("keydown", event => {
    const types = event.target.closest?.("input, textarea, [contenteditable]");
    if (event.key === "/" && !types && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
      field.select();
    } else if (event.key === "Escape" && types === field) {
      field.value = "";
      search();
    } else if (event.key === "Enter" && types === field) {
      main.querySelector("article h3 a")?.focus();
    }
  });

  // An address whose tool the search has put aside ends the search.
  function arrive() {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { /* an address that somebody mistyped */ }
    if (!id || document.getElementById(id)) return;
    field.value = "";
    search();
    document.getElementById(id)?.scrollIntoView();
  }
  addEventListener("hashchange", arrive);

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      found.textContent = `${what} copied`;
    } catch {
      found.textContent = "the browser did not let it be copied";
    }
  }
  document.addEventListener("click", event => {
    const link = event.target.closest?.("a");
    if (link?.closest(".labels")) {
      event.preventDefault();
      field.value = new URLSearchParams(link.search).get("q");
      search();
      field.focus();
    } else if (link?.closest("h3")) {
      const address = new URL(link.href);
      address.search = "";
      copy(address.href, "The link is");
    } else if (event.target.closest?.("figure button")) {
      copy(event.target.closest("figure").querySelector("code").textContent, "It is");
    }
  });
  for (const figure of document.querySelectorAll("figure")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    figure.append(button);
  }

  // The table of contents follows the reader.
  let current;
  const seen = new Set();
  const watch = new IntersectionObserver(changes => {
    for (const change of changes) {
      if (change.isIntersecting) seen.add(change.target); else seen.delete(change.target);
    }
    const [first] = [...seen].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
    const link = first && links.get(first.id);
    if (!link || link === current) return;
    current?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    current = link;
    const group = link.closest("details");
    if (group) group.open = true;
    const place = link.getBoundingClientRect();
    const frame = nav.getBoundingClientRect();
    if (place.top < frame.top || place.bottom > frame.bottom) nav.scrollTop += place.top - frame.top - frame.height / 3;
  }, { rootMargin: "-56px 0px -70% 0px" });
  articles.forEach(article => watch.observe(article));

  // A page on paper cannot be unfolded.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...main.querySelectorAll("details:not([open], .raw)")];
    folded.forEach(details => { details.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach(details => { details.open = false; }));

  field.value = new URLSearchParams(location.search).get("q") ?? "";
  if (field.value && !location.hash) search();
});
