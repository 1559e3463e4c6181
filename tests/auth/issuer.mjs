// An authorization server: `node issuer.mjs PORT RESOURCE`. Its user approves everything at once.
//
// `POST /control/rotate` replaces the signing key, and `GET /control` returns the number of approvals, of refreshed tokens
// and of requests for the keys.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { Provider } from "oidc-provider";

const [port, resource] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const other = "https://other.example/mcp";
const counts = { approvals: 0, keys: 0, refreshes: 0 };

function signingKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), alg: "ES256", use: "sig" };
}

function provider() {
  const provider = new Provider(issuer, {
    jwks: { keys: [signingKey()] },
    cookies: { keys: ["cookie"] },
    clients: [
      {
        client_id: "service",
        client_secret: "s3cr3t",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    // Clients may use these without asking the provider first.
    scopes: ["openid", "offline_access", "notes:read", "notes:write", "notes:erase"],
    // The tokens of the proxy expire soon.
    ttl: { AccessToken: (_ctx, _token, client) => (client.clientName === "fixture_tools" ? 3 : 3600) },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    pkce: { required: () => true },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    // A client registers with the scopes of its first login, which must not keep it from asking for more.
    extraClientMetadata: {
      properties: ["any_scope"],
      validator: (_ctx, _key, _value, metadata) => {
        delete metadata.scope;
      },
    },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, wanted) => {
          if (![resource, other].includes(wanted)) throw new Error(`unknown resource ${wanted}`);
          return {
            scope: "notes:read notes:write notes:erase",
            audience: wanted,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "ES256" } },
          };
        },
      },
    },
  });
  provider.on("grant.success", (ctx) => {
    if (ctx.oidc.params.grant_type === "refresh_token") counts.refreshes += 1;
  });
  return provider;
}

// The page on which a user would log in and approve.
async function approve(request, response) {
  const { prompt, params, session } = await current.interactionDetails(request, response);
  if (prompt.name === "login") {
    return current.interactionFinished(request, response, { login: { accountId: "ada" } });
  }
  counts.approvals += 1;
  const grant = new current.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope ?? "");
  grant.addResourceScope(resource, params.scope ?? "");
  const result = { consent: { grantId: await grant.save() } };
  return current.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

let current = provider();
createServer(async (request, response) => {
  try {
    if (request.url === "/control") return response.end(JSON.stringify(counts));
    if (request.url === "/control/rotate") {
      current = provider();
      return response.end();
    }
    if (request.url === "/jwks") counts.keys += 1;
    if (request.url.startsWith("/interaction/")) return await approve(request, response);
    return current.callback()(request, response);
  } catch (error) {
    console.error(error);
    response.writeHead(500).end(String(error));
  }
}).listen(Number(port), "127.0.0.1", () => console.log(issuer));
