// A tool of your own: put it into ~/.keel/tools/ and ask "How long is README.md?"
import { readFile } from "node:fs/promises";

export const name = "count_words";
export const description = "Counts the words and lines of a text file.";
export const inputSchema = {
  type: "object",
  properties: { path: { type: "string", description: "The file, from the working folder." } },
  required: ["path"],
};
export const timeoutMs = 5_000;

export async function run({ path }) {
  const text = await readFile(path, "utf8");
  return { words: text.split(/\s+/).filter(Boolean).length, lines: text.split("\n").length - 1 };
}
