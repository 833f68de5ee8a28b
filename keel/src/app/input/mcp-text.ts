/** A person's words that name something of an MCP server: `/mcp__server__prompt with words`, and `@server:uri`. */
import { foreign } from "../../core/context/blocks.ts";
import { enclose } from "../../core/context/enclose.ts";
import { toFault } from "../../kernel/fault.ts";
import type { InputCommand } from "../../protocol/command.ts";
import type { McpPrompt } from "../../protocol/mcp.ts";
import { type InputBlock, text, textOf } from "../../protocol/message.ts";
import type { McpControl } from "../compose/mcp.ts";

export type ExpandedMcp = {
  readonly command: InputCommand;
  /** Sentences for a person. */
  readonly problems: readonly string[];
};

/** More than anybody mentions at once. */
const maxMentions = 20;

export async function expandMcp(command: InputCommand, mcp: McpControl): Promise<ExpandedMcp> {
  if (command.words === "as-is") return { command, problems: [] };
  const words = textOf(command.content);
  const prompt = promptIn(words, mcp.prompts());
  if (prompt) return readPrompt(command, prompt, mcp);
  return attachResources(command, words, mcp);
}

type NamedPrompt = { readonly prompt: McpPrompt; readonly rest: string };

function promptIn(words: string, prompts: readonly McpPrompt[]): NamedPrompt | undefined {
  const [, name, rest = ""] = /^\/(mcp__[\w-]+)(?:\s+([\s\S]*))?$/.exec(words.trim()) ?? [];
  const prompt = prompts.find(({ command }) => command === name);
  return prompt && { prompt, rest };
}

async function readPrompt(
  command: InputCommand,
  { prompt, rest }: NamedPrompt,
  mcp: McpControl,
): Promise<ExpandedMcp> {
  try {
    const blocks = await mcp.prompt(prompt.command, valuesOf(prompt, rest));
    // What the person sent beside the words stays; what the server wrote is taken as it is.
    const others = command.content.filter(({ type }) => type !== "text");
    return {
      command: { ...command, content: [...foreign(blocks), ...others], words: "as-is" },
      problems: [],
    };
  } catch (thrown) {
    return { command, problems: [toFault(thrown).message] };
  }
}

/** Words go to the arguments in their order; the last one takes all that is left. */
function valuesOf({ arguments: fields }: McpPrompt, rest: string): Record<string, string> {
  const words = rest.split(/\s+/).filter(Boolean);
  return Object.fromEntries(
    fields.flatMap(({ name }, index) => {
      const value = index === fields.length - 1 ? words.slice(index).join(" ") : words[index];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

async function attachResources(command: InputCommand, words: string, mcp: McpControl): Promise<ExpandedMcp> {
  const known = mcp.resources();
  if (known.length === 0 || !words.includes("@")) return { command, problems: [] };
  const blocks: InputBlock[] = [];
  const problems: string[] = [];
  for (const [, server = "", uri = ""] of [...words.matchAll(/(?<!\S)@([\w.-]+):(\S+)/g)].slice(
    0,
    maxMentions,
  )) {
    if (!known.some((one) => one.server === server && one.uri === uri)) continue;
    try {
      for (const block of await mcp.resource(server, uri))
        blocks.push(
          block.type === "text" ? text(enclose("keel-resource", { server, uri }, block.text)) : block,
        );
    } catch (thrown) {
      problems.push(`@${server}:${uri} was not attached: ${toFault(thrown).message}`);
    }
  }
  return { command: { ...command, content: [...command.content, ...blocks] }, problems };
}
