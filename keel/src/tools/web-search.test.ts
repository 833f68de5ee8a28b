import { expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { WebHits, WebSearch } from "../ports/web.ts";
import { webSearchTool } from "./web-search.ts";

const real = realTools();

function engine(found: WebHits = { ok: true, hits: [] }, missing?: string): WebSearch & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    missing: async () => missing,
    search: async ({ query, most }) => {
      asked.push(`${query} ${most}`);
      return found;
    },
  };
}
const hit = (url: string) => ({ title: `At ${url}`, url, snippet: "Some words." });
const three = ["https://example.org/a", "https://docs.example.org/b", "https://other.example/c"].map(hit);

test("a search lists titles, addresses and words, and gives them as data", async () => {
  verifies("S4.10");
  const search = engine({ ok: true, hits: three.slice(0, 1) });
  const call = await real.call(webSearchTool(search), { query: "keels" });
  expect(call.said).toBe("1. At https://example.org/a\n   https://example.org/a\n   Some words.");
  expect(call.claims).toEqual([{ action: "use", target: "WebSearch" }]);
  expect(call.data).toEqual({
    query: "keels",
    results: [{ title: "At https://example.org/a", url: "https://example.org/a", snippet: "Some words." }],
    durationSeconds: 0,
    searchCount: 1,
  });
  expect(search.asked).toEqual(["keels 10"]);
});

test.each([
  [
    { allowed_domains: ["example.org"] },
    ["https://example.org/a", "https://docs.example.org/b"],
    "keels (site:example.org) 20",
  ],
  [
    { allowed_domains: ["docs.example.org", "other.example"] },
    ["https://docs.example.org/b", "https://other.example/c"],
    "keels (site:docs.example.org OR site:other.example) 20",
  ],
  [{ blocked_domains: ["Example.org"] }, ["https://other.example/c"], "keels 20"],
])("%j leaves the right results", async (domains, urls, asked) => {
  const search = engine({ ok: true, hits: three });
  const call = await real.call(webSearchTool(search), { query: "keels", ...domains });
  expect(call.data).toMatchObject({ results: urls.map((url) => ({ url })) });
  expect(search.asked).toEqual([asked]);
});

test("without an engine the user is told what to set, and nobody is asked for permission", async () => {
  const call = await real.call(webSearchTool(engine(undefined, "Set KEEL_SEARCH_URL.")), { query: "keels" });
  expect(call).toMatchObject({ refused: true, said: "Set KEEL_SEARCH_URL." });
});

test("a domain that is none is named", async () => {
  const call = await real.call(webSearchTool(engine()), {
    query: "keels",
    allowed_domains: ["https://a.org/x"],
  });
  expect(call).toMatchObject({
    refused: true,
    said: expect.stringContaining('"https://a.org/x" is not a domain'),
  });
});

test("a search that fails or finds nothing says so", async () => {
  const failing = await real.call(webSearchTool(engine({ ok: false, why: "The engine sleeps." })), {
    query: "keels",
  });
  expect(failing).toMatchObject({ failed: true, said: "The engine sleeps." });
  expect((await real.call(webSearchTool(engine()), { query: "keels" })).said).toContain("Nothing was found");
});
