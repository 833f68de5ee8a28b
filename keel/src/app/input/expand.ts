/**
 * A person's words before they become an input: a slash at their start calls a command, an `@` in them names files and
 * agents. Every host gets the same, since it happens here and not in a host. What is none of these passes as it is.
 */

import { enclose, marksOf } from "../../core/context/enclose.ts";
import { toFault } from "../../kernel/fault.ts";
import { oneLine } from "../../kernel/text.ts";
import type { Command } from "../../protocol/command.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import type { AttachContext } from "./attach-mentions.ts";
import type { CommandContext } from "./commands/command.ts";
import type { Registry } from "./commands/registry.ts";

type InputCommand = Extract<Command, { type: "input" }>;

export type Expanded =
  /** To be accepted as an input. */
  | { readonly kind: "input"; readonly command: InputCommand; readonly problems: readonly string[] }
  /** Answered already. */
  | { readonly kind: "local"; readonly name: string; readonly output: string };

export type ExpandContext = {
  readonly registry: Registry;
  readonly attach: AttachContext;
  readonly context: CommandContext;
};

export async function expandInput(command: InputCommand, context: ExpandContext): Promise<Expanded> {
  if (command.words === "as-is" || (command.from?.kind ?? "person") !== "person")
    return { kind: "input", command, problems: [] };
  const called = calledIn(command.content);
  const found = called && context.registry.find(called.name);
  if (called && found?.kind === "local") {
    const { name, run } = found.command;
    return { kind: "local", name, output: await answer(() => run(called.args, context.context)) };
  }
  const said = await withMentions(command, context);
  if (!called || found?.kind !== "prompt") return said;
  const { readPrompt } = await import("./read-prompt.ts");
  const read = await readPrompt(found.prompt, called.args, {
    world: context.attach,
    signal: new AbortController().signal,
  });
  if (!read.ok) return { kind: "local", name: called.name, output: read.why };
  const { allow, model } = read.loaded;
  return {
    kind: "input",
    problems: [...said.problems, ...read.problems],
    command: {
      ...said.command,
      content: [
        ...said.command.content,
        text(enclose("keel-command", { name: called.name }, read.text)),
        ...read.blocks,
      ],
      ...(allow.length > 0 ? { allow: [...allow] } : {}),
      ...(model === undefined || model === "inherit" ? {} : { model }),
    },
  };
}

/** A slash and a name at the very start; a path such as `/etc/hosts` is no name. */
export function calledIn(content: readonly InputBlock[]): { name: string; args: string } | undefined {
  const first = content.find(({ type }) => type === "text");
  if (first?.type !== "text" || !first.text.startsWith("/")) return undefined;
  const end = first.text.search(/\s/);
  const name = first.text.slice(1, end < 0 ? undefined : end);
  if (!/^[\p{L}\p{N}_?][\p{L}\p{N}_.:-]{0,150}$|^\?$/u.test(name)) return undefined;
  return { name, args: end < 0 ? "" : first.text.slice(end).trim() };
}

async function withMentions(
  command: InputCommand,
  { attach: world }: ExpandContext,
): Promise<Extract<Expanded, { kind: "input" }>> {
  const words = command.content.flatMap((block) =>
    block.type === "text" && !isAttachedFile(block.text) ? [block.text] : [],
  );
  if (!words.some((part) => part.includes("@"))) return { kind: "input", command, problems: [] };
  const { attach } = await import("./attach-mentions.ts");
  const { blocks, problems } = await attach(words.join("\n"), world);
  const content = blocks.length > 0 ? [...command.content, ...blocks] : command.content;
  return { kind: "input", command: { ...command, content }, problems };
}

/** What cannot be done is the answer. */
async function answer(run: () => Promise<string>): Promise<string> {
  try {
    return await run();
  } catch (thrown) {
    return toFault(thrown).message;
  }
}

/** The tag that models know for it; it is the host's, not ours, and holds nothing but data. */
const tag = "attached_file";
const marks = marksOf(tag);

export function attachedFile({ path, content }: { path: string; content: string }): InputBlock {
  const lines = content === "" ? 0 : content.split("\n").length - (content.endsWith("\n") ? 1 : 0);
  const name = oneLine(path).replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return text(`<${tag} path="${name}" lines="${lines}">\n${content.replace(marks, "&lt;")}\n</${tag}>`);
}

/** What a person says cannot pass as such a file, nor end one. */
export const escapeMarks = (words: string): string => words.replace(marks, "&lt;");

/** What stands in a file mentions nothing: only a person does. */
const isAttachedFile = (words: string): boolean => words.startsWith(`<${tag} `);
