"""The official Python client logs in, and asks its user again when a tool needs more scopes."""

import asyncio
import json
import os
import urllib.parse

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

ISSUER, RESOURCE = os.environ["ISSUER"], os.environ["RESOURCE"]
CALLBACK = "http://127.0.0.1:1/callback"


class Storage:
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Browser:
    """Follows the redirects of the authorization server, whose user approves everything."""

    def __init__(self):
        self.scopes = []

    async def open(self, url):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
        assert query["resource"] == [RESOURCE] and query["code_challenge_method"] == ["S256"], url
        # The client adds `offline_access` itself, since this authorization server has refresh tokens.
        self.scopes.append(set(query["scope"][0].split()) - {"offline_access"})
        async with httpx2.AsyncClient() as browser:
            while not url.startswith(CALLBACK):
                response = await browser.get(url)
                assert response.is_redirect, f"{url}: {response.status_code} {response.text}"
                url = urllib.parse.urljoin(url, response.headers["location"])
        self.answer = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
        assert "code" in self.answer, url

    async def callback(self):
        value = lambda name: self.answer.get(name, [None])[0]
        return AuthorizationCodeResult(code=value("code"), state=value("state"), iss=value("iss"))


async def approvals():
    async with httpx2.AsyncClient() as client:
        return (await client.get(f"{ISSUER}/control")).json()["approvals"]


async def login(mode):
    before, browser = await approvals(), Browser()
    metadata = OAuthClientMetadata(client_name="tests", redirect_uris=[CALLBACK], token_endpoint_auth_method="none")
    auth = OAuthClientProvider(RESOURCE, metadata, Storage(), browser.open, browser.callback)
    async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
        async with Client(streamable_http_client(RESOURCE, http_client=http), mode=mode) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == {"append", "erase", "read"}
            assert not (await client.call_tool("read")).is_error
            assert browser.scopes == [{"notes:read"}], browser.scopes
            assert not (await client.call_tool("append", {"line": mode})).is_error
            # With the broader token, both tools run, and nothing is approved again.
            for _ in range(3):
                lines = json.loads((await client.call_tool("read")).content[0].text)
                assert lines[-1] == f"ada: {mode}", lines
                assert not (await client.call_tool("append", {"line": mode})).is_error
            # Another step-up keeps the scopes of the first one.
            for _ in range(3):
                assert not (await client.call_tool("erase")).is_error
                assert not (await client.call_tool("append", {"line": mode})).is_error
    scopes = [{"notes:read"}, {"notes:read", "notes:write"}, {"notes:read", "notes:write", "notes:erase"}]
    assert browser.scopes == scopes, browser.scopes
    assert await approvals() == before + 3, "one approval for the login, and one for each step-up"


async def main():
    for mode in ["legacy", "2026-07-28"]:
        await login(mode)
    print("the Python client: login and two step-ups, three approvals in each era")


asyncio.run(main())
