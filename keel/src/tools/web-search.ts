/** WebSearch: where on the web something is written about, by the search engine that the user has set up. */
import * as z from "zod/mini";
import { shorten } from "../kernel/text.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import type { WebHit, WebSearch } from "../ports/web.ts";
import { text } from "../protocol/message.ts";
import { builtInTool, failure, textField } from "./built-in.ts";

const maxHits = 10;
/** Asked for where domains will take some of them away. */
const maxAsked = 20;
const maxSnippet = 500;

const domains = (says: string) => z.optional(z.array(z.string()).check(z.maxLength(20), z.describe(says)));

const input = z.object({
  query: textField("The search query.", z.minLength(2), z.maxLength(400)),
  allowed_domains: domains("Only results from these domains."),
  blocked_domains: domains("No results from these domains."),
});
type WebSearchInput = z.infer<typeof input>;

export const webSearchTool = (search: WebSearch): Tool<WebSearchInput> =>
  builtInTool({
    name: "WebSearch",
    family: "web",
    description:
      "Searches the web and returns titles, URLs and snippets. Read a page with WebFetch before you rely on it, and cite the URLs you used.",
    input,
    traits: { readOnly: true, concurrent: true, replay: "safe" },
    check: async ({ allowed_domains = [], blocked_domains = [] }) => {
      const missing = await search.missing();
      if (missing !== undefined) return missing;
      const wrong = [...allowed_domains, ...blocked_domains].find((domain) => !isDomain(domain));
      return wrong === undefined
        ? undefined
        : `${JSON.stringify(wrong)} is not a domain. Give names such as example.org.`;
    },
    run: async function* (given, context, signal) {
      yield { kind: "text", text: given.query };
      const startedAt = context.clock.monotonicMs();
      const found = await search.search(
        { query: queryOf(given), most: isOpen(given) ? maxHits : maxAsked },
        signal,
      );
      if (!found.ok) return failure(found.why);
      const hits = found.hits.filter(({ url }) => isWanted(url, given)).slice(0, maxHits);
      const durationSeconds = Math.round(context.clock.monotonicMs() - startedAt) / 1_000;
      return shown(hits, { query: given.query, durationSeconds });
    },
  });

const isOpen = ({ allowed_domains = [], blocked_domains = [] }: WebSearchInput): boolean =>
  allowed_domains.length + blocked_domains.length === 0;

/** Search engines know this way to say it; what they make of it is checked afterwards. */
function queryOf({ query, allowed_domains = [] }: WebSearchInput): string {
  const sites = allowed_domains.map((domain) => `site:${domain}`).join(" OR ");
  return sites === "" ? query : `${query} (${sites})`;
}

function isWanted(url: string, { allowed_domains = [], blocked_domains = [] }: WebSearchInput): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  const isIn = (domain: string): boolean =>
    host === domain.toLowerCase() || host.endsWith(`.${domain.toLowerCase()}`);
  return !blocked_domains.some(isIn) && (allowed_domains.length === 0 || allowed_domains.some(isIn));
}

const isDomain = (domain: string): boolean => /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u.test(domain);

function shown(hits: readonly WebHit[], facts: { query: string; durationSeconds: number }): ToolOutcome {
  const list = hits.map(({ title, url, snippet }, index) =>
    [
      `${index + 1}. ${title}`,
      `   ${url}`,
      ...(snippet === "" ? [] : [`   ${shorten(snippet, maxSnippet)}`]),
    ].join("\n"),
  );
  return {
    content: [text(list.length > 0 ? list.join("\n") : "Nothing was found. Try other words.")],
    display: { kind: "text", text: `${hits.length} results for ${facts.query}` },
    data: {
      query: facts.query,
      results: hits.map(({ title, url, snippet }) => ({ title, url, snippet })),
      durationSeconds: facts.durationSeconds,
      searchCount: 1,
    },
  };
}
