// A tool: its description, its form, its call and its result.

import { ask, confirmCall } from "./ask.js";
import { h, pageLink, uniqueId } from "./dom.js";
import { Form, dropSecrets, withoutSecrets } from "./form.js";
import { callsOf, forget, remember } from "./history.js";
import { at, isTrue, itemsAt, parse, plain, textAt, write } from "./json.js";
import { argumentHeaders, call, newTrace } from "./mcp.js";
import { secretNames } from "./schema.js";
import { prose } from "./prose.js";
import { duration } from "./recent.js";
import { bytes, copyButton, renderResult } from "./result.js";
import { snippets } from "./snippets.js";
import { tree } from "./tree.js";
import { errorOf, showViolations } from "./violations.js";

const MAX_CHUNKS = 1000;
const STYLES = { ok: "ok", failed: "failed", canceled: "ended" };

/** Creates the view of a tool from its details, which are a node. */
export function toolView({ entry, details, info, recent, say }) {
  const tool = at(details, "tool");
  const schema = at(tool, "inputSchema");
  const needsTask = textAt(tool, "execution", "taskSupport") === "required";
  const form = new Form(schema);
  const secrets = secretNames(schema);
  const view = { running: null };
  const title = h("h2", { tabindex: -1, class: "view-title" }, nameOf(entry), " ", versionOf(entry));

  const runButton = h("button", { type: "button", class: "primary", "aria-keyshortcuts": "Control+Enter" }, "Call");
  const cancelButton = h("button", { type: "button", hidden: true, "aria-keyshortcuts": "Escape" }, "Cancel");
  const resetButton = h("button", { type: "button", class: "quiet" }, "Reset");
  const linkButton = copyButton(link, "Copy link");
  linkButton.title = "Copy the address of this form with its arguments, without secrets";
  const result = h("section", { class: "result", "aria-label": "Result" });
  const clearResult = () => result.replaceChildren(h("h3", {}, "Result"), h("p", { class: "empty" }, "The result of a call appears here."));
  clearResult();

  const modes = modeSwitch(form);
  const written = () => {
    try {
      return form.mode === "json" ? parse(form.text.value) : form.root.get();
    } catch {
      return undefined;
    }
  };
  const node = () => withoutSecrets(secrets, written());
  const empty = { type: "object", entries: [] };
  const id = textAt(details, "id") ?? entry.id;
  const isLinked = isTrue(details, "isLinked");
  const code = snippets(() => ({ info, isLinked, name: entry.name, id, schema, args: node() ?? empty }));
  const examples = itemsAt(details, "examples");
  const exampleButtons = examples.slice(0, 5).map((example, idx) => {
    const label = examples.length === 1 ? "Fill in the example" : `Example ${idx + 1}`;
    return h("button", { type: "button", class: "quiet", onclick: () => setArguments(example) }, label);
  });
  function setArguments(args) {
    form.set(args);
    code.update();
  }

  /** Puts the arguments into the address of the page, and returns it. */
  function link() {
    const args = write(dropSecrets(secrets, written() ?? empty));
    history.replaceState(null, "", `#tool/${encodeURIComponent(entry.name)}?${encodeURIComponent(args)}`);
    return location.href;
  }

  /** Fills in the arguments of an address, which only the user sends. */
  function fill(text) {
    try {
      setArguments(parse(text));
    } catch (error) {
      result.replaceChildren(h("h3", {}, "Result"), h("p", { class: "notice failed" }, `The arguments in the address are not JSON: ${error.message}`));
    }
  }

  const earlier = h("details", { class: "earlier" });
  function showEarlier() {
    const calls = callsOf(entry.name);
    earlier.hidden = calls.length === 0;
    const row = ({ at: time, ms, outcome, args }) => {
      const again = h("button", { type: "button", class: "quiet copy", disabled: args === null, onclick: () => fill(args) }, "Fill in");
      return h("li", {},
        h("span", { class: `outcome ${STYLES[outcome] ?? ""}` }, outcome === "ok" ? "ok" : String(outcome)),
        h("span", { class: "when" }, `${new Date(time).toLocaleTimeString()}, ${duration(ms * 1000)}`),
        h("code", {}, args === null ? "(long arguments)" : args.slice(0, 200)), again);
    };
    const clear = h("button", { type: "button", class: "quiet copy", onclick: () => { forget(entry.name); showEarlier(); } }, "Forget them");
    earlier.replaceChildren(h("summary", {}, `Earlier calls (${calls.length})`), h("ol", {}, calls.map(row)), clear);
  }
  showEarlier();
  form.element.addEventListener("input", () => code.update());
  resetButton.addEventListener("click", () => {
    form.reset();
    clearResult();
    code.update();
  });

  async function run() {
    if (view.running) return;
    form.clear();
    const args = form.get();
    if (args === null) return;
    const isDestructive = entry.hints?.includes("destructive");
    if (isDestructive && !(await confirmCall(entry.name, write(withoutSecrets(secrets, args), 2)))) return;
    const controller = new AbortController();
    let ended = "failed";
    view.running = controller;
    runButton.disabled = true;
    cancelButton.hidden = false;
    const trace = newTrace();
    const progress = progressView();
    result.replaceChildren(h("h3", {}, "Running"), progress.element);
    if (isNarrow()) result.scrollIntoView({ block: "nearest" });
    const started = performance.now();
    const clock = setInterval(() => progress.elapsed(performance.now() - started), 100);
    let sent = 0;
    const events = {
      progress: (done, total, message) => {
        progress.report(done, total, message);
        if (message) say(message);
      },
      chunk: (chunk) => progress.chunk(chunk),
      sent: (size) => (sent = size),
      ask: (requests) => ask(requests, entry.name),
    };
    try {
      const response = await call(
        { name: entry.name, args: write(args), headers: argumentHeaders(schema, args), trace, needsTask, signal: controller.signal },
        events,
      );
      const times = { total: performance.now() - started, sent, received: response.size };
      ended = isTrue(response.result, "isError") ? "failed" : "ok";
      showResponse(response.result, times, trace, progress.chunks());
    } catch (error) {
      const isCanceled = error.name === "AbortError";
      if (isCanceled) ended = "canceled";
      const message = isCanceled ? "The call was canceled." : error.message;
      say(message);
      const code = error.code ? h("span", { class: "kind" }, `JSON-RPC ${error.code}`) : null;
      result.replaceChildren(
        h("h3", {}, isCanceled ? "Canceled" : "Error"),
        h("div", { class: isCanceled ? "notice" : "notice failed" }, h("p", {}, message, " ", code)), ...progress.chunks());
    }
    clearInterval(clock);
    remember({ tool: entry.name, args: write(dropSecrets(secrets, args)), ms: performance.now() - started, outcome: ended });
    showEarlier();
    view.running = null;
    runButton.disabled = false;
    cancelButton.hidden = true;
  }

  function showResponse(outcome, times, trace, chunks) {
    const isError = isTrue(outcome, "isError");
    const error = errorOf(outcome);
    const list = isError && error ? showViolations(error, form) : null;
    const kind = textAt(error, "kind");
    const heading = isError ? (list ? "The arguments are not valid" : "The tool failed") : "Result";
    const head = h("h3", { tabindex: -1 }, heading);
    const facts = h("p", { class: "facts" });
    const server = h("span");
    const received = at(outcome, "content") ? write(at(outcome, "content")).length : 0;
    const total = Math.round(times.total * 1000);
    facts.append(
      h("span", { title: "From the click to the complete response" }, duration(total)), server,
      h("span", { title: "Size of the request and of the response" }, `${bytes(times.sent)} → ${bytes(times.received)}`),
      h("span", { title: "An estimate of what the content costs a model" }, `≈ ${Math.ceil(received / 4)} tokens`));
    recent.byTrace(trace).then((record) => {
      if (!record) return;
      const rest = Math.max(0, total - record.duration);
      server.replaceChildren(h("span", { title: "Checks of the arguments and the result, layers and the tool, as the server measured them; and the rest: HTTP, network and this page" },
        `${duration(record.duration)} in the server + ${duration(rest)} on the way`));
    });
    const parts = [head, facts];
    if (list) parts.push(h("p", { class: "note" }, "The server names what to correct. Each place leads to its field."), list);
    else if (isError) parts.push(h("div", { class: "notice failed" }, kind ? h("p", { class: "kind" }, kind.replaceAll("_", " ")) : null, renderResult(outcome)));
    else parts.push(...(chunks.length > 0 ? [h("details", {}, h("summary", {}, "Chunks"), chunks)] : []), renderResult(outcome));
    result.replaceChildren(...parts);
    result.classList.toggle("failed", isError);
    say(list ? `${list.childElementCount} violations` : heading);
    if (!list && isNarrow()) head.scrollIntoView({ block: "start" });
  }

  runButton.addEventListener("click", run);
  cancelButton.addEventListener("click", () => view.running?.abort());

  const argumentsId = uniqueId("arguments");
  const element = h("article", { class: "tool", "aria-labelledby": title.id || undefined },
    head({ title, entry, details, tool }),
    h("div", { class: "bench" },
      h("section", { class: "arguments", "aria-labelledby": argumentsId },
        h("div", { class: "section-head" }, h("h3", { id: argumentsId }, "Arguments"), h("span", { class: "grow" }), exampleButtons, modes),
        form.element,
        h("div", { class: "actions" }, runButton, cancelButton, resetButton, linkButton, h("span", { class: "hint" }, h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Enter")))),
      h("div", { class: "outcome-column" }, result, earlier)),
    h("section", { class: "use" }, h("h3", {}, "Use it elsewhere"), code.element),
    schemas(tool));
  return {
    element, title, form, run, fill,
    text: () => write(written() ?? empty),
    cancel: () => view.running?.abort(),
    isRunning: () => view.running !== null,
  };
}

/** Returns true if the result is below the form. */
function isNarrow() {
  return matchMedia("(max-width: 1099px)").matches;
}

function nameOf(entry) {
  const id = entry.id.replace(/:\d[^:]*$/, "");
  if (!entry.namespace) return h("span", { class: "tool-name" }, id);
  return h("span", { class: "tool-name" }, h("span", { class: "namespace" }, `${entry.namespace}:`), h("wbr"), id.slice(entry.namespace.length + 1));
}

function versionOf(entry) {
  const version = /:(\d[^:]*)$/.exec(entry.id)?.[1];
  return version ? h("span", { class: "version" }, version) : null;
}

const CALM = new Set(["read-only", "not-destructive"]);
const CAREFUL = new Set(["destructive", "deprecated"]);

function head({ title, entry, details, tool }) {
  const badges = (entry.hints ?? []).map((hint) => {
    const style = CALM.has(hint) ? "calm" : CAREFUL.has(hint) ? "careful" : "";
    return h("li", { class: `badge ${style}` }, hint.replaceAll("-", " "));
  });
  const tags = (entry.tags ?? []).map((tag) => h("li", { class: "badge tag" }, `#${tag}`));
  const cost = at(details, "cost");
  const tokens = (part) => plain(at(cost, part)) ?? 0;
  const timeout = plain(at(details, "timeout"));
  const replacement = textAt(details, "deprecated");
  // The figure of `cost --format mcp`.
  const facts = [`≈ ${tokens("total")} tokens (description ${tokens("description")}, input ${tokens("input")}, output ${tokens("output")})`];
  if (entry.name !== entry.id.replace(/:\d[^:]*$/, "")) facts.push(`called ${entry.name}`);
  if (timeout) facts.push(`stopped after ${duration(timeout * 1000)}`);
  const description = textAt(tool, "description") ?? entry.summary;
  return h("header", { class: "tool-head" },
    pageLink("", { class: "back" }, "← All tools"),
    title,
    entry.title ? h("p", { class: "title" }, entry.title) : null,
    badges.length + tags.length > 0 ? h("ul", { class: "badges", "aria-label": "Hints and tags" }, badges, tags) : null,
    replacement === undefined ? null : h("p", { class: "notice failed" }, "Deprecated. ", replacement),
    prose(description),
    h("p", { class: "facts" }, facts.map((fact) => h("span", {}, fact))));
}

function modeSwitch(form) {
  const modes = [["form", "Form"], ["json", "JSON"]];
  const name = uniqueId("mode");
  const inputs = modes.map(([mode, label]) => {
    const input = h("input", { type: "radio", name, value: mode, checked: mode === form.mode });
    input.addEventListener("change", () => {
      if (!form.show(mode)) inputs.forEach(([other, , node]) => (node.checked = other === form.mode));
    });
    return [mode, label, input];
  });
  return h("fieldset", { class: "modes" }, h("legend", { class: "visually-hidden" }, "Edit the arguments as"), inputs.map(([, label, input]) => h("label", {}, input, h("span", {}, label))));
}

function progressView() {
  const bar = h("progress", { "aria-label": "Progress" });
  const message = h("p", { class: "progress-message" }, "Waiting for the tool…");
  const time = h("span", { class: "elapsed" }, "0.0 s");
  const list = h("ol", { class: "chunks", hidden: true });
  let nChunks = 0;
  return {
    element: h("div", { class: "progress" }, h("div", { class: "progress-line" }, bar, time), message, list),
    elapsed: (ms) => (time.textContent = `${(ms / 1000).toFixed(1)} s`),
    report(done, total, text) {
      if (total > 0) {
        bar.setAttribute("max", total);
        bar.setAttribute("value", done);
      }
      if (text) message.replaceChildren(h("span", {}, text));
    },
    chunk(node) {
      nChunks += 1;
      list.hidden = false;
      if (nChunks <= MAX_CHUNKS) list.append(h("li", {}, tree(node)));
      message.textContent = `${nChunks} ${nChunks === 1 ? "chunk" : "chunks"}`;
    },
    chunks: () => (nChunks > 0 ? [list] : []),
  };
}

function schemas(tool) {
  const parts = [["Input schema", at(tool, "inputSchema")], ["Output schema", at(tool, "outputSchema")]];
  const shown = parts.filter(([, schema]) => schema);
  return h("section", { class: "schemas" }, h("h3", {}, "Schemas"), shown.map(([name, schema]) => {
    const details = h("details", { class: "raw" }, h("summary", {}, name));
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) details.append(tree(schema));
    });
    return details;
  }));
}
