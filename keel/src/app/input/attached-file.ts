/** A file that a host sends with a message: its text between tags that it cannot end, with its path and its lines. */
import { marksOf } from "../../core/context/enclose.ts";
import { oneLine } from "../../kernel/text.ts";
import { type InputBlock, text } from "../../protocol/message.ts";

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
export const isAttachedFile = (words: string): boolean => words.startsWith(`<${tag} `);
