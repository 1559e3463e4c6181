// The official TypeScript clients log in, and ask their user again when a tool needs more scopes.
//
// Version 1 replaces its scopes by those of a challenge. Version 2 adds them.
import assert from "node:assert/strict";

import * as v2 from "@modelcontextprotocol/client";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { ISSUER, RESOURCE } = process.env;
const callback = "http://127.0.0.1:1/callback";
const v1 = { Client, StreamableHTTPClientTransport, UnauthorizedError };

/** A client, and the browser of its user, who approves everything. */
class Login {
  redirectUrl = callback;
  clientMetadata = {
    client_name: "tests",
    redirect_uris: [callback],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code"],
    response_types: ["code"],
  };
  scopes = [];

  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.saved;
  saveTokens = (tokens) => void (this.saved = tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  discoveryState = () => this.discovered;
  saveDiscoveryState = (state) => void (this.discovered = state);

  async redirectToAuthorization(url) {
    this.scopes.push(new Set(url.searchParams.get("scope").split(" ")));
    const cookies = new Map();
    for (let at = url; ; ) {
      const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
      const response = await fetch(at, { redirect: "manual", headers: { cookie } });
      for (const set of response.headers.getSetCookie()) {
        const [name, value] = set.split(";")[0].split(/=(.*)/s);
        cookies.set(name, value);
      }
      assert.ok(response.headers.has("location"), `${at}: ${response.status} ${await response.clone().text()}`);
      at = new URL(response.headers.get("location"), at);
      if (at.href.startsWith(callback)) {
        assert.ok(at.searchParams.has("code"), at.href);
        this.answer = at.searchParams;
        return;
      }
    }
  }
}

async function login(name, library, options) {
  const approvals = async () => (await (await fetch(`${ISSUER}/control`)).json()).approvals;
  const [before, provider] = [await approvals(), new Login()];
  const transport = () => new library.StreamableHTTPClientTransport(new URL(RESOURCE), { authProvider: provider });
  const finish = (transport) =>
    library === v2 ? transport.finishAuth(provider.answer) : transport.finishAuth(provider.answer.get("code"));

  const first = transport();
  const unauthorized = new library.Client({ name, version: "1.0.0" }, options).connect(first);
  await assert.rejects(unauthorized, library.UnauthorizedError);
  await finish(first);

  const client = new library.Client({ name, version: "1.0.0" }, options);
  const second = transport();
  await client.connect(second);
  const call = async (tool, args = {}) => {
    for (let n = 0; ; n += 1) {
      try {
        const result = await client.callTool({ name: tool, arguments: args });
        assert.ok(!result.isError, JSON.stringify(result));
        return;
      } catch (error) {
        if (!(error instanceof library.UnauthorizedError) || n > 0) throw error;
        await finish(second);
      }
    }
  };
  await call("read");
  assert.equal(await approvals(), before + 1, "one approval for the login");
  for (let n = 0; n < 3; n += 1) {
    await call("append", { line: name });
    await call("erase");
    await call("read");
  }
  await client.close();
  assert.equal(await approvals(), before + 3, "one approval for each step-up, and no loop");
  assert.deepEqual(provider.scopes.at(0), new Set(["notes:read"]));
  assert.deepEqual(provider.scopes.at(-1), new Set(["notes:read", "notes:write", "notes:erase"]));
}

await login("v1", v1, {});
await login("v2, legacy", v2, { versionNegotiation: { mode: "legacy" } });
await login("v2, 2026-07-28", v2, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
console.log("the TypeScript clients: login and two step-ups, three approvals each");
