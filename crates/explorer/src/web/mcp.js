// The page as a client of the MCP endpoint, in revision 2026-07-28.

import { at, entriesAt, parse, plain, textAt, write } from "./json.js";
import { paths, send } from "./session.js";
import { readEvents } from "./sse.js";

export const REVISION = "2026-07-28";
const TASKS = "io.modelcontextprotocol/tasks";
const MAX_ROUNDS = 10;

/** An error of the protocol, as opposed to one of the tool. */
export class ProtocolError extends Error {
  constructor(node) {
    super(textAt(node, "message") ?? "the server responded with an error");
    this.code = plain(at(node, "code"));
  }
}

let lastId = 0;

function random(nBytes) {
  const bytes = crypto.getRandomValues(new Uint8Array(nBytes));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Creates the `traceparent` of a call, by which the page finds it among the recent calls. */
export function newTrace() {
  return `00-${random(16)}-${random(8)}-01`;
}

/** Encodes the value of a header, which may contain any text. */
export function headerValue(text) {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?");
  if (isPlain) return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}?=`;
}

/** Returns the headers that repeat arguments of a tool (`x-mcp-header`). */
export function argumentHeaders(schema, args) {
  const headers = {};
  for (const [name, property] of entriesAt(schema, "properties")) {
    const value = at(args, name);
    const header = textAt(property, "x-mcp-header");
    if (header && value && value.type !== "null" && value.type !== "object" && value.type !== "array") {
      headers[`Mcp-Param-${header}`] = headerValue(value.type === "string" ? value.value : write(value));
    }
    if (value?.type === "object") Object.assign(headers, argumentHeaders(property, value));
  }
  return headers;
}

/** Returns the headers of a request. */
export function requestHeaders(method, name) {
  return {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": REVISION,
    "Mcp-Method": method,
    ...(name === undefined ? {} : { "Mcp-Name": headerValue(name) }),
  };
}

async function request(method, params, meta, { name, headers, signal, notified, sent } = {}) {
  lastId += 1;
  const capabilities = { elicitation: { form: {}, url: {} }, ...meta.capabilities };
  const fields = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": { name: "toolkit-explorer", version: "0.1.0" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...meta.fields,
  };
  const body = `{"jsonrpc":"2.0","id":${lastId},"method":${JSON.stringify(method)},"params":{${params}"_meta":${JSON.stringify(fields)}}}`;
  sent?.(body.length);
  const response = await send(paths.endpoint, {
    method: "POST",
    headers: { ...requestHeaders(method, name), ...headers },
    body,
    signal,
  });
  let answer;
  let size = 0;
  const receive = (text) => {
    size += text.length;
    const message = parse(text);
    if (at(message, "method")) notified?.(message);
    else answer = { message, text, size };
  };
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) await readEvents(response, receive);
  else receive(await response.text());
  if (!answer) throw new Error("the server ended the call without a response");
  const error = at(answer.message, "error");
  if (error) throw new ProtocolError(error);
  return { result: at(answer.message, "result"), size: answer.size };
}

/**
 * Calls a tool. `args` is JSON text, which is sent as it is. `needsTask` is true for a tool that runs only as a task.
 *
 * `events` has the functions `progress`, `chunk`, `sent`, and `ask`, which returns a promise of the answers to questions.
 */
export async function call({ name, args, headers, trace, needsTask, signal }, events) {
  const token = random(8);
  let answers = "";
  // Without the extension, a tool that may become a task reports progress instead.
  const capabilities = needsTask ? { extensions: { [TASKS]: {} } } : {};
  const notified = (message) => {
    if (textAt(message, "method") !== "notifications/progress") return;
    const params = at(message, "params");
    const chunk = at(params, "_meta", "rs.toolkit/chunk");
    if (chunk) events.chunk(chunk);
    else events.progress(plain(at(params, "progress")), plain(at(params, "total")), textAt(params, "message") ?? "");
  };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const params = `"name":${JSON.stringify(name)},"arguments":${args},${answers}`;
    const fields = { progressToken: token, traceparent: trace, "rs.toolkit/chunks": true };
    const options = { name, headers, signal, notified, sent: events.sent };
    const response = await request("tools/call", params, { fields, capabilities }, options);
    const kind = textAt(response.result, "resultType");
    if (kind === "task") return followTask(response.result, signal, events);
    if (kind !== "input_required") return response;
    const given = await events.ask(entriesAt(response.result, "inputRequests"));
    if (given === null) throw new DOMException("the user canceled the call", "AbortError");
    const state = at(response.result, "requestState");
    answers = `"inputResponses":${given},${state ? `"requestState":${write(state)},` : ""}`;
  }
  throw new Error(`the tool asked more than ${MAX_ROUNDS} times`);
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Polls a task until it ends. */
async function followTask(created, signal, events) {
  const id = textAt(created, "taskId");
  const params = `"taskId":${JSON.stringify(id)},`;
  const meta = { fields: {}, capabilities: { extensions: { [TASKS]: {} } } };
  signal?.addEventListener("abort", () => {
    request("tasks/cancel", params, meta, { name: id }).catch(() => {});
  });
  let task = created;
  for (;;) {
    const status = textAt(task, "status");
    events.progress(undefined, undefined, textAt(task, "statusMessage") ?? `task ${status}`);
    if (status === "completed") return { result: at(task, "result"), size: write(task).length };
    if (status === "failed") throw new ProtocolError(at(task, "error"));
    if (status === "cancelled") throw new DOMException("the task was canceled", "AbortError");
    if (status === "input_required") {
      const given = await events.ask(entriesAt(task, "inputRequests"));
      if (given === null) throw new DOMException("the user canceled the call", "AbortError");
      await request("tasks/update", `${params}"inputResponses":${given},`, meta, { name: id, signal });
    }
    await pause(Math.min(Math.max(plain(at(task, "pollIntervalMs")) ?? 1000, 100), 5000), signal);
    task = (await request("tasks/get", params, meta, { name: id, signal })).result;
  }
}

/** Reads a resource that a result links to. */
export async function readResource(uri) {
  const { result } = await request("resources/read", `"uri":${JSON.stringify(uri)},`, {}, { name: uri });
  return at(result, "contents");
}
