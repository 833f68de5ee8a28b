/** Search engines behind one port: SearXNG, which people run themselves, and Brave, which takes a key. */
import { isIP } from "node:net";
import * as z from "zod/mini";
import { unlessAborted } from "../../kernel/abort.ts";
import { parseJson } from "../../kernel/json.ts";
import { never, no } from "../../kernel/result.ts";
import type { WebHit, WebHits, WebSearch } from "../../ports/web.ts";
import { plainHost, systemLookUp } from "./url-guard.ts";
import { get, readBody, sayWebError } from "./web-request.ts";

export type SearchEngine =
  /** `url`: where it runs. */
  | { readonly kind: "searxng"; readonly url: string }
  | { readonly kind: "brave"; readonly key: string; readonly url?: string | undefined };

export type WebSearchOptions = {
  readonly engine: SearchEngine | undefined;
  readonly version: string;
  readonly timeoutMs?: number | undefined;
};

const maxBytes = 4 * 1024 * 1024;
const defaultTimeoutMs = 20_000;

export function nodeWebSearch({
  engine,
  version,
  timeoutMs = defaultTimeoutMs,
}: WebSearchOptions): WebSearch {
  return {
    missing: async () => (engine ? undefined : noEngine),
    async search(request, signal) {
      if (!engine) return no(noEngine);
      const late = AbortSignal.timeout(timeoutMs);
      try {
        return await ask(requestTo(engine, request), { version, signal: AbortSignal.any([signal, late]) });
      } catch (thrown) {
        if (signal.aborted) return no("Interrupted.");
        if (late.aborted) return no(`The search engine did not answer within ${timeoutMs / 1_000} seconds.`);
        return no(sayWebError(thrown, "The search engine"));
      }
    },
  };
}

const noEngine =
  "No search engine is set up, so nothing can be searched. The user can set KEEL_SEARCH_URL to a SearXNG server, or BRAVE_API_KEY to a key of the Brave Search API, or search in their settings. Pages whose address is known can be read with WebFetch.";

type SearchEngineRequest = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** How a search engine that says no is helped. */
  readonly hint: string;
};

function requestTo(
  engine: SearchEngine,
  { query, most }: { query: string; most: number },
): SearchEngineRequest {
  switch (engine.kind) {
    case "searxng": {
      const url = new URL(`${engine.url.replace(/\/+$/, "")}/search`);
      url.search = new URLSearchParams({ q: query, format: "json" }).toString();
      return { url, headers: {}, hint: "Its settings must allow the format json." };
    }
    case "brave": {
      const url = new URL(engine.url ?? "https://api.search.brave.com/res/v1/web/search");
      url.search = new URLSearchParams({ q: query, count: String(Math.min(most, 20)) }).toString();
      return { url, headers: { "x-subscription-token": engine.key }, hint: "Check BRAVE_API_KEY." };
    }
    default:
      return never(engine);
  }
}

const result = z.object({
  title: z.optional(z.nullable(z.string())),
  url: z.string(),
  description: z.optional(z.nullable(z.string())),
  content: z.optional(z.nullable(z.string())),
});
const results = z.array(z.unknown());
const answerSchema = z.object({
  results: z.optional(results),
  web: z.optional(z.object({ results: z.optional(results) })),
});

async function ask(
  { url, headers, hint }: SearchEngineRequest,
  { version, signal }: { version: string; signal: AbortSignal },
): Promise<WebHits> {
  const host = plainHost(url);
  // No guard: the user has named this place, and it often runs on their own machine.
  const addresses = isIP(host) ? [host] : await unlessAborted(systemLookUp(host), signal);
  const sent = { "user-agent": `keel/${version}`, accept: "application/json", ...headers };
  const { status, statusText, body, close } = await get({ url, addresses, headers: sent }, signal);
  try {
    if (status !== 200)
      return no(`The search engine said no: ${status} ${statusText}. ${hint}`.replace(" .", "."));
    // What is no JSON fits no schema.
    const parsed = answerSchema.safeParse(body && parseJson((await readBody(body, maxBytes)).body));
    if (!parsed.success) return no(`The search engine's answer cannot be read. ${hint}`);
    return { ok: true, hits: hitsOf(parsed.data.web?.results ?? parsed.data.results ?? []) };
  } finally {
    close();
  }
}

/** One result that is not as it should be does not spoil the others. */
function hitsOf(found: readonly unknown[]): WebHit[] {
  return found.flatMap((one) => {
    const parsed = result.safeParse(one);
    if (!parsed.success || !URL.canParse(parsed.data.url)) return [];
    const { title, url, description, content } = parsed.data;
    return [{ title: plain(title ?? url), url, snippet: plain(description ?? content ?? "") }];
  });
}

/** Some engines mark the words that were found. */
const plain = (text: string): string =>
  text
    .replace(/<\/?(?:strong|b|em|mark)>/gi, "")
    .replace(/\s+/g, " ")
    .trim();
