/** What a server offers beside tools, as words of a person: prompts and resources. */
import type { ContentBlock } from "@modelcontextprotocol/client";
import { fault } from "../kernel/fault.ts";
import { type InputBlock, type ResultPart, text } from "../protocol/message.ts";
import type { McpEntry } from "./entry.ts";
import type { Link } from "./link.ts";
import { contentsPart, outcomeOf } from "./results.ts";

export async function readPrompt(
  entry: McpEntry,
  { name, values, timeoutMs }: { name: string; values: Readonly<Record<string, string>>; timeoutMs: number },
): Promise<InputBlock[]> {
  return reading(entry, async (link, signal) => {
    const { messages } = await link.use(
      ({ client }) => client.getPrompt({ name, arguments: { ...values } }, { timeout: timeoutMs, signal }),
      signal,
    );
    return messages.flatMap(({ content }) => partsOf([content]));
  });
}

export async function readResource(
  entry: McpEntry,
  { uri, timeoutMs }: { uri: string; timeoutMs: number },
): Promise<InputBlock[]> {
  return reading(entry, async (link, signal) => {
    const { contents } = await link.use(
      ({ client }) => client.readResource({ uri }, { timeout: timeoutMs, signal }),
      signal,
    );
    return contents.map(contentsPart);
  });
}

const partsOf = (content: ContentBlock[]): ResultPart[] => outcomeOf({ content }).content;

async function reading(
  entry: McpEntry,
  read: (link: Link, signal: AbortSignal) => Promise<ResultPart[]>,
): Promise<InputBlock[]> {
  const link = entry.lease?.link;
  if (!link) throw fault("mcp_failed", { server: entry.name, reason: "it is turned off" });
  try {
    const parts = await read(link, new AbortController().signal);
    return parts.length > 0 ? parts : [text("(nothing)")];
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw fault("mcp_failed", { server: entry.name, reason, cause: thrown });
  }
}
