/** A title for a conversation that nobody has named, made of its first exchange: pure, so that it is always the same. */
import { shorten } from "../kernel/text.ts";

const maxCharacters = 60;
/** Shorter words say hello, and not what it is about. */
const minWords = 3;

/** The first sentence that a person said; where that is only a greeting, the first of the answer. Empty without both. */
export function titleOf({ said, answered }: { said: string; answered: string }): string {
  const own = sentenceOf(said);
  const reply = own.split(" ").length < minWords ? sentenceOf(answered) : "";
  return cut(reply || own);
}

/** The first sentence in words: no code, no marks of Markdown, no tags, no name of a slash command. */
function sentenceOf(text: string): string {
  const plain = text
    .slice(0, maxRead)
    .replace(/```[\s\S]*?(?:```|$)/g, " ")
    .replace(/<keel-([a-z-]+)[^>]*>[\s\S]*?<\/keel-\1>/g, " ")
    .replace(/^\s*\/[a-z][\w:-]*\s/, " ")
    .replace(/^[ \t]*(?:#{1,6}|[-*>]|\d+\.)[ \t]+/gm, "")
    .replace(/[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}/g, "");
  const first = plain
    .split(/(?<=[.!?。！？])\s|\n/)
    .map((line) => line.replace(/\s+/g, " ").trim())
    .find((line) => /[\p{L}\p{N}]/u.test(line));
  return (first ?? "").replace(/[\s.:;,]+$/, "");
}

/** More of a text than any title needs. */
const maxRead = 4_000;

/** Between words, where that leaves enough. */
function cut(sentence: string): string {
  if (sentence.length <= maxCharacters) return sentence;
  const end = sentence.lastIndexOf(" ", maxCharacters - 1);
  return end > maxCharacters / 2 ? `${sentence.slice(0, end)}…` : shorten(sentence, maxCharacters);
}
