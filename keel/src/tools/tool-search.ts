/** ToolSearch: finds tools that are known but not offered, and loads them for the next request. */
import * as z from "zod/mini";
import { toolSearchName } from "../core/toolbox.ts";
import { shorten } from "../kernel/text.ts";
import type { WorklistView } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import { builtInTool, numberField, textField } from "./built-in.ts";

const usualResults = 5;
const maxResults = 20;

const input = z.object({
  query: textField(
    "select:Name,Other for tools by name, or words to look for.",
    z.minLength(1),
    z.maxLength(500),
  ),
  max_results: numberField(`Maximum number of tools; default ${usualResults}.`, z.gte(1), z.lte(maxResults)),
});

export const toolSearchTool = builtInTool({
  name: toolSearchName,
  description:
    "Loads additional tools by name or keywords, so that you can call them from your next reply on. Load everything you will need in one call: each load makes the whole conversation be processed again.",
  input,
  // Runs alone: two loadings at once would be two changes of the prompt.
  traits: { readOnly: true, replay: "safe" },
  claims: async () => [],
  run: async function* ({ query, max_results = usualResults }, context) {
    const { deferred } = context.worklist();
    const found = findTools(query, deferred).slice(0, max_results);
    const matches = found.map(({ name }) => name);
    const said =
      found.length > 0
        ? `Loaded:\n${found.map(({ name, description }) => `- ${name}: ${shorten(firstLine(description), 200)}`).join("\n")}`
        : nothingFound(query, deferred);
    return {
      content: [text(said)],
      display: { kind: "text", text: matches.length > 0 ? matches.join(", ") : said },
      data: { matches, query, total_deferred_tools: deferred.length },
      loads: matches,
    };
  },
});

/** By name in the order given, or by how many of the words a tool's name and description hold. */
export function findTools(query: string, tools: WorklistView["deferred"]): ToolSpec[] {
  const names = /^select:(.*)$/s.exec(query.trim())?.[1];
  if (names !== undefined)
    return names.split(",").flatMap((name) => tools.find((tool) => same(tool.name, name.trim())) ?? []);
  const words = query
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || (left.tool.name < right.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}

/** A word in the name says more than one in the description, or in the words to find it by. */
function scoreOf(
  { name, description, searchHint = "" }: WorklistView["deferred"][number],
  words: readonly string[],
): number {
  const [inName, inText] = [name.toLowerCase(), `${description}\n${searchHint}`.toLowerCase()];
  return words.reduce(
    (sum, word) => sum + (inName.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0),
    0,
  );
}

function nothingFound(query: string, deferred: readonly ToolSpec[]): string {
  if (deferred.length === 0) return "There are no more tools to load: you have them all.";
  const names = shorten(deferred.map(({ name }) => name).join(", "), 4_000);
  return `No tool fits ${JSON.stringify(query)}. These can be loaded: ${names}`;
}

const same = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();
const firstLine = (words: string): string => words.trim().split("\n")[0] ?? "";
