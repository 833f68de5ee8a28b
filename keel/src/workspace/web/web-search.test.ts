import { afterEach, describe, expect, test } from "vitest";
import { type Loopback, loopback } from "../../../../test/support/loopback.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { nodeWebSearch, type SearchEngine } from "./web-search.ts";

const open: Loopback[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function engine(answer: Parameters<typeof loopback>[0]): Promise<Loopback> {
  const server = await loopback(answer);
  open.push(server);
  return server;
}

const quiet = new AbortController().signal;
const search = (given: SearchEngine | undefined, timeoutMs = 5_000) =>
  nodeWebSearch({ engine: given, version: "1.2.3", timeoutMs }).search(
    { query: "keel & mast", most: 7 },
    quiet,
  );

describe("a search", () => {
  test("asks SearXNG for JSON and reads its results", async () => {
    verifies("S4.10");
    const server = await engine((response) => {
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          query: "keel",
          results: [
            { title: "The <b>keel</b>", url: "https://example.org/keel", content: "Low\n in the ship." },
            { title: null, url: "https://example.org/bare" },
            { title: "no place" },
            { title: "nonsense", url: "not a url" },
          ],
        }),
      );
    });
    expect(await search({ kind: "searxng", url: `${server.url}/base/` })).toEqual({
      ok: true,
      hits: [
        { title: "The keel", url: "https://example.org/keel", snippet: "Low in the ship." },
        { title: "https://example.org/bare", url: "https://example.org/bare", snippet: "" },
      ],
    });
    expect(server.seen[0]).toMatchObject({ method: "GET", path: "/base/search?q=keel+%26+mast&format=json" });
  });

  test("asks Brave with its key and reads its results", async () => {
    const server = await engine(
      (response) =>
        void response.end(
          JSON.stringify({
            web: {
              results: [
                { title: "Keel", url: "https://example.org/", description: "A <strong>keel</strong>." },
              ],
            },
          }),
        ),
    );
    expect(await search({ kind: "brave", key: "secret-key", url: server.url })).toEqual({
      ok: true,
      hits: [{ title: "Keel", url: "https://example.org/", snippet: "A keel." }],
    });
    expect(server.seen[0]?.path).toBe("/?q=keel+%26+mast&count=7");
    expect(server.seen[0]?.headers["x-subscription-token"]).toBe("secret-key");
  });

  test("without an engine says what the user can set", async () => {
    const none = nodeWebSearch({ engine: undefined, version: "1" });
    const why = await none.missing();
    expect(why).toContain("KEEL_SEARCH_URL");
    expect(why).toContain("BRAVE_API_KEY");
    expect(await search(undefined)).toEqual({ ok: false, why });
    const some = nodeWebSearch({ engine: { kind: "searxng", url: "http://localhost" }, version: "1" });
    expect(await some.missing()).toBe(undefined);
  });
});

describe("a search engine", () => {
  test.each([
    ["that refuses", 403, "", "403 Forbidden. Its settings must allow the format json."],
    ["that is overloaded", 429, "", "429 Too Many Requests"],
    ["that sends a page", 200, "<html>", "answer cannot be read"],
    ["that sends other JSON", 200, '{"results":{"a":1}}', "answer cannot be read"],
  ])("%s is told with what helps", async (_, status, body, words) => {
    const server = await engine((response) => void response.writeHead(status).end(body));
    expect(await search({ kind: "searxng", url: server.url })).toMatchObject({
      ok: false,
      why: expect.stringContaining(words),
    });
  });

  test("that finds nothing is no failure", async () => {
    const server = await engine((response) => void response.end("{}"));
    expect(await search({ kind: "brave", key: "k", url: server.url })).toEqual({ ok: true, hits: [] });
  });

  test("that never answers is left", async () => {
    const server = await engine(() => undefined);
    expect(await search({ kind: "searxng", url: server.url }, 100)).toEqual({
      ok: false,
      why: "The search engine did not answer within 0.1 seconds.",
    });
  });

  test("that does not run is told, without its key", async () => {
    const server = await engine(() => undefined);
    await server.close();
    const found = await search({ kind: "brave", key: "secret-key", url: server.url });
    expect(found).toEqual({ ok: false, why: "The search engine refuses the connection." });
  });
});
