// The calls of this tab, which survive a reload of the page. The browser forgets them when the tab is closed. Results and
// secrets are not among them.

const STORED = "toolkit-explorer-calls";
const MAX_CALLS = 50;
const MAX_ARGUMENTS = 4_000;

function stored() {
  try {
    const calls = JSON.parse(sessionStorage.getItem(STORED) ?? "[]");
    return Array.isArray(calls) ? calls.filter((call) => typeof call?.tool === "string") : [];
  } catch {
    // The browser keeps nothing for this page, or something else.
    return [];
  }
}

let calls = stored();

function store() {
  try {
    if (calls.length > 0) sessionStorage.setItem(STORED, JSON.stringify(calls));
    else sessionStorage.removeItem(STORED);
  } catch {
    // The calls last as long as the page.
  }
}

/** Adds a call. `args` is JSON text without secrets, `ms` its duration, and `outcome` one of `ok`, `failed` and `canceled`. */
export function remember({ tool, args, ms, outcome }) {
  const short = args.length > MAX_ARGUMENTS ? null : args;
  calls = [{ tool, args: short, ms: Math.round(ms), outcome, at: Date.now() }, ...calls].slice(0, MAX_CALLS);
  store();
}

/** Returns the calls of one tool, the latest first. */
export function callsOf(tool) {
  return calls.filter((call) => call.tool === tool);
}

/** Returns the names of the tools that were called, the latest first. */
export function calledTools() {
  return [...new Set(calls.map((call) => call.tool))];
}

/** Forgets the calls of one tool. */
export function forget(tool) {
  calls = calls.filter((call) => call.tool !== tool);
  store();
}
