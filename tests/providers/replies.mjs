// Compares streams of replies with what the official npm packages make of them.
//
// `replies.mjs PROGRAM STREAMS`: the program is `fixture_replies`; the file has the streams that `replies.py` compared.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";

import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

const [program, streams] = process.argv.slice(2);

/** Returns the body of a response with these events. */
const sse = (events) => {
  const line = (event) => (event.type ? `event: ${event.type}\n` : "");
  return events.map((event) => `${line(event)}data: ${JSON.stringify(event)}\n\n`).join("");
};

/** Returns a replacement for `fetch` that responds with these events. */
const responding = (events) => async () =>
  new Response(sse(events), { headers: { "content-type": "text/event-stream" } });

const json = (text) => {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return text;
  }
};
const request = { model: "model", max_tokens: 1, messages: [{ role: "user", content: "?" }] };

const ORACLES = {
  async anthropic(events) {
    const client = new Anthropic({ apiKey: "key", fetch: responding(events), maxRetries: 0 });
    const { content } = await client.messages.stream(request).finalMessage();
    const calls = content.filter((block) => block.type === "tool_use");
    const text = content.filter((block) => block.type === "text").map((block) => block.text);
    return { calls: calls.map(({ id, name, input }) => [id, name, input]), text: text.join("") };
  },
  async chat(events) {
    const client = new OpenAI({ apiKey: "key", fetch: responding(events), maxRetries: 0 });
    const completion = await client.chat.completions.stream(request).finalChatCompletion();
    const { content, tool_calls } = completion.choices[0].message;
    const calls = (tool_calls ?? []).map((call) => [call.id, call.function.name, json(call.function.arguments)]);
    return { calls, text: content ?? "" };
  },
  async responses(events) {
    const client = new OpenAI({ apiKey: "key", fetch: responding(events), maxRetries: 0 });
    const { output, output_text } = await client.responses.stream({ model: "model", input: "?" }).finalResponse();
    const calls = output.filter((item) => item.type === "function_call" || item.type === "custom_tool_call");
    const call = (item) => [item.call_id, item.name, item.input ?? json(item.arguments)];
    return { calls: calls.map(call), text: output_text ?? "" };
  },
  async gemini(events) {
    globalThis.fetch = responding(events);
    const client = new GoogleGenAI({ apiKey: "key" });
    const found = { calls: [], text: "" };
    for await (const chunk of await client.models.generateContentStream({ model: "model", contents: "?" })) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.functionCall) found.calls.push([undefined, part.functionCall.name, part.functionCall.args ?? {}]);
        if (part.text && !part.thought) found.text += part.text;
      }
    }
    return found;
  },
};

const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const ask = async (question) => {
  child.stdin.write(`${JSON.stringify(question)}\n`);
  return JSON.parse((await lines.next()).value);
};

const counts = { compared: 0, rejected: 0, failures: 0 };
for (const { api, name, events, names } of JSON.parse(readFileSync(streams, "utf8"))) {
  if (!(api in ORACLES)) continue;
  let theirs;
  try {
    theirs = await ORACLES[api](events);
  } catch (error) {
    // The official packages reject some streams that are read here, such as those that end early.
    counts.rejected += 1;
    console.log(`  ${api}: ${name}: ${String(error.message).slice(0, 120)}`);
    continue;
  }
  const answer = await ask({ api, names, outcomes: ["text"], events });
  const ids = (call) => (api === "gemini" ? undefined : call.id);
  // The official packages complete what was cut off; here the call does not run.
  if (answer.stop === "the reply is truncated") {
    for (const [at, call] of theirs.calls.entries()) call[2] = answer.calls[at]?.arguments;
  }
  const ours = { calls: (answer.calls ?? []).map((call) => [ids(call), call.name, call.arguments]), text: answer.text };
  counts.compared += 1;
  if (!isDeepStrictEqual(ours, theirs)) {
    counts.failures += 1;
    console.log(`${api}: ${name}\n    ours   ${JSON.stringify(ours).slice(0, 500)}\n    theirs ${JSON.stringify(theirs).slice(0, 500)}`);
  }
}
child.stdin.end();
console.log(`streams of replies against the npm packages: ${Object.entries(counts).map(([what, n]) => `${n} ${what}`).join(", ")}`);
process.exit(counts.compared === 0 || counts.failures > 0 ? 1 : 0);
