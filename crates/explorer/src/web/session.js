// Requests to this server, with the token of the user. The token is never part of an address or of the page.

const STORED = "toolkit-explorer-token";

const meta = (name) => document.querySelector(`meta[name="explorer:${name}"]`).content;

export const paths = { page: meta("path"), endpoint: meta("endpoint") };

let token = "";
const listeners = { unauthorized: () => {} };

/** A response that is not a success. */
export class HttpError extends Error {
  constructor(status, message, scopes = "") {
    super(message);
    this.status = status;
    this.scopes = scopes;
  }
}

/**
 * Takes a token from `#token=…`, which is removed from the address at once, or from the session. Returns true for a token
 * in the address.
 */
export function restore() {
  const found = /^#token=(.*)$/.exec(location.hash);
  if (found) {
    history.replaceState(null, "", location.pathname + location.search);
    try {
      token = decodeURIComponent(found[1]);
    } catch {
      token = found[1];
    }
  } else if (token === "") {
    try {
      token = sessionStorage.getItem(STORED) ?? "";
    } catch {
      // The browser keeps nothing for this page.
    }
  }
  return found !== null;
}

/** Sets the token. It is stored until the tab is closed only if the user wants that. */
export function setToken(text, remembers) {
  token = text.trim();
  try {
    if (remembers && token) sessionStorage.setItem(STORED, token);
    else sessionStorage.removeItem(STORED);
  } catch {
    // The browser keeps nothing for this page.
  }
}

export function hasToken() {
  return token !== "";
}

/** Calls a function whenever the server rejects the token. */
export function onUnauthorized(listener) {
  listeners.unauthorized = listener;
}

/** Sends a request. Throws an `HttpError` for 401 and 403; other responses are returned. */
export async function send(path, options = {}) {
  const headers = new Headers(options.headers);
  if (token) headers.set("authorization", `Bearer ${token}`);
  const response = await fetch(path, { ...options, headers, credentials: "omit", redirect: "error", cache: "no-store" });
  if (response.status === 401) {
    const error = new HttpError(401, "the server requires a token");
    listeners.unauthorized(error);
    throw error;
  }
  if (response.status === 403) {
    const challenge = response.headers.get("www-authenticate") ?? "";
    const scopes = /scope="([^"]*)"/.exec(challenge)?.[1] ?? "";
    throw new HttpError(403, scopes ? `the token lacks the scopes ${scopes}` : "the server rejected the request", scopes);
  }
  return response;
}

/** Returns a part of the data of the page as text. */
export async function load(part) {
  const response = await send(`${paths.page}/${part}`);
  if (!response.ok) throw new HttpError(response.status, (await response.text()).slice(0, 300).trim());
  return response.text();
}
