/**
 * What the model is given back when its conversation was shortened: files that it had read and the skills that it was
 * following. Only what is gone from the conversation, the newest first, each and all within bounds.
 */
import { isObject } from "../../kernel/json.ts";
import { estimateTokens } from "../../kernel/text.ts";
import { type Message, textOf, toolUses } from "../../protocol/message.ts";
import { fileAgain, fileHasChanged, skillAgain } from "../model-text.ts";
import { defuse } from "./blocks.ts";

const maxTokens = 50_000;
const maxFiles = 5;
const maxFileTokens = 5_000;
const maxSkillsTokens = 25_000;
const maxSkillTokens = 5_000;
/** In a small window the conversation itself needs the room. */
const windowShare = 0.2;

export type RestoreContext = {
  readonly windowTokens: number;
  /** The file as it is now; undefined where it cannot or must not be read. */
  read(path: string): Promise<{ path: string; text: string; state: "as seen" | "changed" } | undefined>;
};

export async function restored(
  { dropped, kept }: { dropped: readonly Message[]; kept: readonly Message[] },
  context: RestoreContext,
): Promise<string[]> {
  let room = Math.min(maxTokens, context.windowTokens * windowShare);
  const words: string[] = [];
  const take = (part: string): boolean => {
    const tokens = estimateTokens(part);
    if (tokens > room) return false;
    room -= tokens;
    words.push(part);
    return true;
  };
  let skillsRoom = maxSkillsTokens;
  for (const { name, text } of skillsIn(dropped)) {
    const part = skillAgain(name, cut(defuse(text), maxSkillTokens));
    const tokens = estimateTokens(part);
    if (tokens > skillsRoom || !take(part)) continue;
    skillsRoom -= tokens;
  }
  const stillThere = new Set(filesIn(kept));
  let files = 0;
  for (const path of filesIn(dropped)) {
    if (files >= maxFiles) break;
    if (stillThere.has(path)) continue;
    const file = await context.read(path);
    if (!file) continue;
    const part =
      file.state === "changed"
        ? fileHasChanged(file.path)
        : fileAgain(file.path, cut(defuse(file.text), maxFileTokens));
    if (take(part)) files += 1;
  }
  return words;
}

/** The paths that file tools were given, the newest first, each once. */
function filesIn(messages: readonly Message[]): string[] {
  const paths = messages
    .flatMap(({ content }) => toolUses(content))
    .flatMap(({ input }) => {
      const path = isObject(input) ? (input["file_path"] ?? input["notebook_path"]) : undefined;
      return typeof path === "string" ? [path] : [];
    });
  return [...new Set(paths.reverse())];
}

/** The texts that the model loaded, the newest first, each once. */
function skillsIn(messages: readonly Message[]): { name: string; text: string }[] {
  const names = new Map<string, string>();
  const found = new Map<string, string>();
  for (const { content } of messages) {
    for (const { id, name, input } of toolUses(content)) {
      const skill = name === skillTool && isObject(input) ? input["skill"] : undefined;
      if (typeof skill === "string") names.set(id, skill);
    }
    for (const block of content) {
      if (block.type !== "tool_result" || block.failed) continue;
      const name = names.get(block.callId);
      if (name === undefined) continue;
      // Used again, it is newer than others.
      found.delete(name);
      found.set(name, textOf(block.content));
    }
  }
  return [...found].reverse().map(([name, text]) => ({ name, text }));
}
const skillTool = "Skill";

function cut(text: string, tokens: number): string {
  const characters = tokens * 4 - 200;
  return text.length <= characters ? text : `${text.slice(0, characters)}\n… (the rest is left out)`;
}
