// The live list of recent calls, and their latencies.

import { h, pageLink, svg, visible } from "./dom.js";
import { bytes } from "./result.js";
import { paths, send } from "./session.js";
import { readEvents } from "./sse.js";

const MAX_CALLS = 200;
const RETRY_MS = [500, 1000, 2000, 5000, 10_000];
const CHART = { n: 60, width: 600, height: 64, gap: 2 };

/** Writes a duration in microseconds for people. */
export function duration(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1_000_000) return `${(us / 1000).toFixed(us < 10_000 ? 2 : us < 100_000 ? 1 : 0)} ms`;
  return `${(us / 1_000_000).toFixed(2)} s`;
}

/** The calls that the server has recorded, which the server sends as they change. */
export class RecentCalls {
  constructor() {
    this.calls = new Map();
    this.listeners = new Set();
    this.isConnected = false;
    /** Called when the stream has begun again, perhaps that of another process. */
    this.reconnected = () => {};
    /** Called with the errors of a build by `cargo toolkit dev`, and with null when there are none any more. */
    this.built = () => {};
    this.end = new AbortController();
  }

  /** Stops reading. */
  close() {
    this.end.abort();
  }

  /** Reads the stream of the server, and connects again after it ends. */
  async follow() {
    let wasConnected = false;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response = await send(`${paths.page}/events`, { signal: this.end.signal });
        if (response.ok) {
          attempt = 0;
          this.isConnected = true;
          this.built(null);
          this.changed();
          if (wasConnected) this.reconnected();
          wasConnected = true;
          await readEvents(response, (text) => this.receive(JSON.parse(text)));
        } else if (response.status === 404) return;
      } catch (error) {
        if (error.status === 401 || error.status === 403 || this.end.signal.aborted) return;
      }
      this.isConnected = false;
      this.changed();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]));
    }
  }

  receive(call) {
    if ("buildErrors" in call) return this.built(call.buildErrors);
    this.calls.set(call.id, call);
    if (this.calls.size > MAX_CALLS) this.calls.delete(Math.min(...this.calls.keys()));
    this.changed();
  }

  changed() {
    if (this.frame) return;
    // A burst of calls is shown once.
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      for (const listener of this.listeners) listener(this);
    });
  }

  /** Returns the record of the call with a `traceparent`, once it has ended. */
  async byTrace(trace) {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      for (const call of this.calls.values()) if (call.trace === trace && call.duration !== null) return call;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return null;
  }

  latest() {
    return [...this.calls.values()].sort((a, b) => b.id - a.id);
  }
}

/** Returns how a call is shown. A call that its user ended is no failure. */
function styleOf(call) {
  if (call.outcome === null) return "running";
  return { ok: "ok", cancelled: "ended", declined: "ended" }[call.outcome] ?? "failed";
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Returns the number of calls and their latencies in words. */
export function summary(recent) {
  const calls = recent.latest();
  const times = calls.filter((call) => call.duration !== null).map((call) => call.duration).sort((a, b) => a - b);
  if (times.length === 0) return calls.length === 0 ? "No calls yet" : `${calls.length} running`;
  const failed = calls.filter((call) => styleOf(call) === "failed").length;
  const parts = [`${calls.length} ${calls.length === 1 ? "call" : "calls"}`, `median ${duration(percentile(times, 0.5))}`];
  if (times.length >= 20) parts.push(`p95 ${duration(percentile(times, 0.95))}`);
  if (failed > 0) parts.push(`${failed} failed`);
  return parts.join(" · ");
}

function chart(calls) {
  const ended = calls.filter((call) => call.duration !== null).slice(0, CHART.n).reverse();
  const { n, width, height, gap } = CHART;
  const step = width / n;
  const most = Math.log10(Math.max(...ended.map((call) => call.duration), 100));
  const bars = ended.map((call, idx) => {
    const tall = Math.max(3, (height * Math.max(0, Math.log10(Math.max(call.duration, 1)))) / most);
    const x = (n - ended.length + idx) * step;
    const title = svg("title", {}, `${call.tool}: ${duration(call.duration)}`);
    const style = `bar ${styleOf(call)}`;
    return svg("rect", { x: x.toFixed(1), y: (height - tall).toFixed(1), width: (step - gap).toFixed(1), height: tall.toFixed(1), rx: 1, class: style }, title);
  });
  const label = `Latency of the last ${ended.length} calls, logarithmic; longest ${duration(Math.max(...ended.map((call) => call.duration)))}`;
  return h("figure", { class: "chart" },
    svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label }, bars),
    h("figcaption", {}, label));
}

function row(call) {
  const started = new Date(call.startedAt);
  const state = (call.outcome ?? "running").replace("cancelled", "canceled").replaceAll("_", " ");
  const style = styleOf(call);
  const data = (label, ...children) => h("td", { "data-label": label }, children);
  const args = call.arguments ?? "";
  return h("tr", { class: style },
    data("Started", h("span", { title: started.toISOString() }, started.toLocaleTimeString())),
    data("Tool", h("code", { title: call.tool }, call.tool.replace(/:\d[^:]*$/, ""))),
    data("Outcome", h("span", { class: `outcome ${style}` }, state)),
    data("Duration", call.duration === null ? "…" : duration(call.duration)),
    data("Size", `${bytes(call.bytesIn)} → ${call.bytesOut === null ? "…" : bytes(call.bytesOut)}`),
    data("Caller", call.caller ?? "–"),
    data("Arguments", args === "" ? "–" : args.length > 80 ? h("details", {}, h("summary", {}, h("code", {}, args.slice(0, 60), "…")), h("pre", { tabindex: 0 }, h("code", {}, args))) : h("code", {}, args)));
}

/** Creates the view of recent calls. */
export function recentView(recent) {
  const title = h("h2", { tabindex: -1, class: "view-title" }, "Recent calls");
  const note = h("p", { class: "lead" });
  const place = h("div");
  const open = new Set();
  const update = () => {
    const calls = recent.latest();
    note.textContent = visible(summary(recent)) + (recent.isConnected ? "" : " · connecting…");
    if (calls.length === 0) {
      place.replaceChildren(h("p", { class: "empty" }, "Calls of this page and of other clients appear here while they run. ", pageLink("", {}, "Choose a tool"), " to make one."));
      return;
    }
    for (const details of place.querySelectorAll("details")) {
      const id = details.closest("tr").dataset.id;
      if (details.open) open.add(id);
      else open.delete(id);
    }
    const rows = calls.map((call) => {
      const one = row(call);
      one.dataset.id = call.id;
      if (open.has(String(call.id))) one.querySelector("details")?.setAttribute("open", "");
      return one;
    });
    const head = h("thead", {}, h("tr", {}, ["Started", "Tool", "Outcome", "Duration", "Size", "Caller", "Arguments"].map((name) => h("th", { scope: "col" }, name))));
    const isTall = calls.some((call) => call.duration !== null);
    place.replaceChildren(...(isTall ? [chart(calls)] : []), h("div", { class: "table" }, h("table", { class: "calls" }, h("caption", { class: "visually-hidden" }, "Recent calls, the latest first"), head, h("tbody", {}, rows))));
  };
  recent.listeners.add(update);
  update();
  return { element: h("section", { class: "recent" }, pageLink("", { class: "back" }, "← All tools"), title, note, place), title, close: () => recent.listeners.delete(update) };
}
