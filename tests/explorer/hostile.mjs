// A server that sends hostile texts in every field. The page shows them as text.

import assert from "node:assert/strict";
import { browser, callTool, check, counts, opened, openTool } from "./harness.mjs";

/** The number of checks that share the texts. */
const N_PARTS = 3;

const CODE = "globalThis.hacked=1;document.title='hacked'";
const MARKUP = [
  `<script>${CODE}</script>`, `</script><script>${CODE}</script>`, `<img src=x onerror="${CODE}">`, `<svg onload="${CODE}"><script>${CODE}</script></svg>`,
  `<iframe srcdoc="<script>parent.${CODE}</script>"></iframe>`, `<details open ontoggle="${CODE}">`, `<input autofocus onfocus="${CODE}">`,
  `<a href="javascript:${CODE}">x</a>`, `<base href="https://evil.example/">`, `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
  `<link rel=stylesheet href=https://evil.example/x.css>`, `<style>@import 'https://evil.example/x.css';body{display:none}</style>`,
  `<object data="data:text/html,<script>${CODE}</script>"></object>`, `<math><mtext></form><form><mglyph><style></math><img src onerror=${CODE}>`,
  `<template><img src=x onerror="${CODE}"></template>`, `<form action=https://evil.example><button>Call</button></form>`,
  `<video><source onerror="${CODE}"></video>`, `<marquee onstart="${CODE}">`,
];
const OTHER = [
  `javascript:${CODE}`, `JaVaScRiPt:${CODE}`, `data:text/html,<script>${CODE}</script>`, `vbscript:msgbox(1)`, `https://evil.example/pixel.gif`,
  `//evil.example/x`, `\${${CODE}}`, `{{constructor.constructor('${CODE}')()}}`, `<%= 7*7 %>`, `"><img src=x onerror=${CODE}>`, `' onclick='${CODE}`,
  "`code` **bold** [link](javascript:alert(1)) ![pixel](https://evil.example/p.gif)", "```html\n<script>alert(1)</script>\n```", "# heading\n- item\n> quote",
  "\u202eturned\u202c", "zero\u200bwidth\ufeff", "\u0000nul\u0007bell", "\ud800lone", "\u2028line\u2029", "__proto__", "constructor", "toString", "hasOwnProperty",
  "]]>", "-->", "<!--", "\\u003cscript\\u003e", "&lt;script&gt;", "%3Cscript%3E", "x".repeat(20_000), "🦀".repeat(2000), "a\n".repeat(500), "/", "~1~0", "#token=x", "is:read-only",
];
const WRAPS = [(text) => text, (text) => `before ${text} after`, (text) => `"${text}"`, (text) => `'${text}'`];
export const VECTORS = [...MARKUP.flatMap((text) => [...WRAPS, (one) => `${one}${one}`, (one) => `</textarea></title></select>${one}`, (one) => `\n\n${one}\n`, (one) => `[${one}](https://evil.example/)`].map((wrap) => wrap(text))), ...OTHER.flatMap((text) => [text, `${text} ${text}`])];

function schemaOf(text) {
  const leaf = { type: "string", title: text, description: text, format: text, pattern: text, default: text, examples: [text], enumNames: [text] };
  return {
    type: "object", title: text, description: text,
    properties: {
      [text]: leaf,
      choice: { description: text, enum: [text, "other"], default: text },
      many: { enum: [text, "b", "c", "d", "e", "f"] },
      nested: { type: "object", properties: { [text]: leaf }, required: [text], additionalProperties: { description: text } },
      union: { anyOf: [{ title: text, type: "object", properties: { kind: { const: text } } }, { title: `${text}2`, type: "array", items: leaf }, { $ref: text }] },
      secret: { type: "string", writeOnly: true, description: text },
    },
    required: [text, "nested", "union"],
  };
}

function contentOf(text) {
  return [
    { type: "text", text }, { type: text, text }, { type: "image", data: text, mimeType: text }, { type: "image", data: btoa("x"), mimeType: text },
    { type: "image", data: btoa(unescape(encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg"><script>${CODE}</script><image href="https://evil.example/x.png"/></svg>`))), mimeType: "image/svg+xml" },
    { type: "audio", data: btoa("x"), mimeType: text }, { type: "resource", resource: { uri: text, mimeType: text, text } },
    { type: "resource", resource: { uri: text, mimeType: "text/html", blob: btoa("<script>1</script>") } },
    { type: "resource_link", uri: text, name: text, title: text, description: text, mimeType: text }, { type: "resource_link", uri: `javascript:${CODE}`, name: text },
  ];
}

function answers(text, idx) {
  const structured = JSON.parse(`{${JSON.stringify(text)}: ${JSON.stringify(text)}, "list": [${JSON.stringify(text)}, 1e400], "__proto__": {"x": 1}}`);
  const violation = { pointer: `/${text.replaceAll("~", "~0").replaceAll("/", "~1")}`, rule: text, keyword: text, suggestion: text, allowed: [text], sent: text };
  return [
    { content: contentOf(text), structuredContent: structured },
    { content: [{ type: "text", text }], isError: true, _meta: { "rs.toolkit/error": { kind: text, retryable: false, violations: [violation, { ...violation, pointer: text }] } } },
    { content: contentOf(text), isError: true, _meta: { "rs.toolkit/error": { kind: text } } },
  ][idx % 3];
}

async function intercept(page, vectors) {
  const json = (body) => ({ contentType: "application/json", body: JSON.stringify(body) });
  const tools = vectors.map((text, idx) => ({ name: `t${idx}`, id: `${text}:${text}`, namespace: text, title: text, summary: text, tags: [text], hints: [text, "read-only"], tokens: 1 }));
  await page.route(/\/explorer\/catalog$/, (route) => route.fulfill(json({ info: { title: vectors[0], program: { name: vectors[0], command: vectors[0] }, caller: vectors[0], hasCalls: true }, tools })));
  await page.route(/\/explorer\/tool\?/, (route) => {
    const text = vectors[Number(new URL(route.request().url()).searchParams.get("name").slice(1))];
    const tool = { name: text, title: text, description: text, inputSchema: schemaOf(text), outputSchema: schemaOf(text) };
    return route.fulfill(json({ tool, cost: { total: 1, description: 1, input: 1, output: 1 }, examples: [{ [text]: text }], id: text, timeout: null, deprecated: text }));
  });
  await page.route(/\/explorer\/events$/, (route) => {
    const records = vectors.slice(0, 100).map((text, idx) => ({ id: idx + 1, tool: text, caller: text, startedAt: 0, duration: 5, outcome: idx % 2 ? text : "ok", bytesIn: 1, bytesOut: 1, arguments: text, trace: text }));
    return route.fulfill({ contentType: "text/event-stream", body: records.map((record) => `data: ${JSON.stringify(record)}\n\n`).join("") });
  });
  await page.route(/\/mcp$/, (route) => {
    const { id, params } = route.request().postDataJSON();
    const text = vectors[Number(params.name.slice(1))];
    const nth = Number(params.name.slice(1));
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: 1, total: 2, message: text } };
    const chunk = { ...progress, params: { ...progress.params, progress: 1.1, _meta: { "rs.toolkit/chunk": { [text]: text } } } };
    const last = nth % 5 === 4 ? { error: { code: -1, message: text } } : { result: answers(text, nth) };
    const messages = [progress, chunk, { jsonrpc: "2.0", id, ...last }];
    return route.fulfill({ contentType: "text/event-stream", body: messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join("") });
  });
}

/** Returns what hostile texts have achieved. */
async function damage(page) {
  return page.evaluate(() => {
    const found = [];
    if (globalThis.hacked || document.title === "hacked") found.push("a script ran");
    if (Object.prototype.x !== undefined) found.push("a prototype changed");
    for (const element of document.querySelectorAll("body *")) {
      if (/^(script|iframe|object|embed|base|meta|link|style|video|source|template|marquee|math|foreignobject)$/i.test(element.localName)) found.push(element.localName);
      for (const { name, value } of element.attributes) {
        if (name.startsWith("on") || name === "style" || name === "srcdoc") found.push(`${element.localName} ${name}`);
        if ((name === "href" || name === "src") && !/^(#|blob:|https?:)/.test(value)) found.push(`${name} ${value.slice(0, 40)}`);
      }
    }
    return [...new Set(found)];
  });
}

export function hostile(server) {
  assert.ok(VECTORS.length >= 200, `${VECTORS.length}`);
  for (let part = 0; part < N_PARTS; part += 1) {
    const vectors = VECTORS.filter((_, idx) => idx % N_PARTS === part);
    check(`${vectors.length} hostile texts in every field of definitions and results stay text (part ${part + 1})`, async () => {
      const options = { prepare: (page) => intercept(page, vectors) };
      await opened(server().origin, options, async (page) => {
        assert.deepEqual(await damage(page), []);
        for (const idx of vectors.keys()) {
          await page.evaluate((idx) => (location.hash = `tool/t${idx}`), idx);
          await page.waitForFunction((idx) => document.title.startsWith(`t${idx} `), idx);
          await page.evaluate(() => document.querySelectorAll(".tool details").forEach((one) => (one.open = true)));
          await callTool(page);
          for (const tab of idx % 20 === 0 ? await page.locator("[role=tab]").all() : []) await tab.click();
          if (idx % 10 === 0) assert.deepEqual(await damage(page), [], `vector ${idx}: ${vectors[idx].slice(0, 80)}`);
          counts.hostile += 1;
        }
        assert.deepEqual(await damage(page), []);
        await page.evaluate(() => (location.hash = "calls"));
        await page.waitForSelector(".calls tbody tr");
        assert.deepEqual(await damage(page), []);
      });
    });
  }

  check("deep and large results are bounded", async () => {
    const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    const wide = JSON.stringify({ list: Array.from({ length: 20_000 }, (_, n) => n) });
    const results = [`{"content":[],"structuredContent":${wide}}`, JSON.stringify({ content: [{ type: "text", text: "y".repeat(3_000_000) }] }), `{"content":[],"structuredContent":{"deep":${deep}}}`];
    const prepare = async (page) => {
      let nth = 0;
      await page.route(/\/mcp$/, (route) => route.fulfill({ contentType: "application/json", body: `{"jsonrpc":"2.0","id":${route.request().postDataJSON().id},"result":${results[nth++]}}` }));
    };
    await opened(server().origin, { prepare }, async (page) => {
      await openTool(page, "media_show_everything");
      for (const expected of [/Show more|20000 items/, /The first 200000 of 3000000 characters/, /nested deeper than/]) {
        await page.click(".actions .primary");
        await page.waitForFunction((source) => new RegExp(source).test(document.querySelector(".result").innerText), expected.source);
        assert.ok((await page.evaluate(() => document.querySelectorAll("*").length)) < 5000);
      }
    });
  });

  check("the policy is enforced, and this suite sees a violation that is planted", async () => {
    await assert.rejects(opened(server().origin, {}, async (page) => {
      await page.evaluate(() => {
        try {
          document.body.innerHTML = "<img src=x onerror=1>";
        } catch {
          // Trusted types reject it.
        }
      });
    }), /the policy was violated/);
    await assert.rejects(opened(server().origin, {}, (page) => page.evaluate(() => fetch("https://evil.example/").catch(() => {}))), /the policy was violated/);
  });

  check("without the policy, a page that writes markup is found out", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.route(/\/explorer(#.*)?$/, async (route) => {
      const response = await route.fetch();
      const headers = response.headers();
      delete headers["content-security-policy"];
      await route.fulfill({ response, headers });
    });
    await page.route(/\/dom\.js$/, async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const changed = text.replace("if (!INVISIBLE.test(text)) return document.createTextNode(text);", "if (!INVISIBLE.test(text)) return document.createRange().createContextualFragment(text);");
      assert.notEqual(changed, text);
      await route.fulfill({ response, body: changed });
    });
    await intercept(page, [MARKUP[2], MARKUP[2], MARKUP[2]]);
    await page.goto(`${server().origin}/explorer#tool/t2`);
    await page.waitForFunction(() => globalThis.hacked === 1);
    assert.notDeepEqual(await damage(page), []);
    await context.close();
  });
}
