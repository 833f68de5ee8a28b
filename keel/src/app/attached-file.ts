/** A file that a host sends with a message: its text between tags that it cannot end, with its path and its lines. */
import { defang, enclose } from "../engine/context/enclose.ts";
import { type InputBlock, text } from "../protocol/message.ts";

const tag = "attached_file";

export function attachedFile({ path, content }: { path: string; content: string }): InputBlock {
  const lines = content === "" ? 0 : content.split("\n").length - (content.endsWith("\n") ? 1 : 0);
  return text(enclose(tag, { path, lines }, content));
}

/** What a person says cannot pass as such a file, nor end one. */
export const plainWords = (words: string): string => defang(words, tag);
