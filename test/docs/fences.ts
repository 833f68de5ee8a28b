// The fenced blocks of a page, each with the words behind its fence: ```json ~/.keel/settings.json
import { type Document, readDocuments, readText, repositoryFiles } from "./documents.ts";

export type Fence = {
  readonly page: string;
  /** The line of its first word; a page's first line is 1. */
  readonly line: number;
  /** The first word behind the fence, empty when there is none: `json`. */
  readonly kind: string;
  /** What follows it: a file, where it comes from, or what it is. */
  readonly label: string;
  readonly text: string;
};

export const fencesOf = (file: string): Fence[] => fencesIn({ file, text: readText(file) });

export const guideFences = (): Fence[] => guideDocuments().flatMap(fencesIn);

/** The pages that show how to use it. */
export const guideDocuments = (): Document[] =>
  readDocuments(repositoryFiles()).filter(
    ({ file }) => file === "README.md" || file.startsWith("docs/guide/"),
  );

/** A fence inside of a list is indented, and so is its text. A fence that nobody closes is a slip of the page. */
export function fencesIn({ file, text }: Document): Fence[] {
  const lines = text.split("\n");
  const found: Fence[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", kind = "", label = ""] = /^(\s*)```(\S*) ?(.*)$/.exec(lines[at] ?? "") ?? [];
    if (!lines[at]?.trimStart().startsWith("```")) continue;
    const length = lines.slice(at + 1).indexOf(`${indent}\`\`\``);
    if (length < 0) throw new Error(`${file}:${at + 1}: nobody closes this fence`);
    const inside = lines.slice(at + 1, at + 1 + length).map((line) => line.slice(indent.length));
    found.push({ page: file, line: at + 2, kind, label, text: inside.map((line) => `${line}\n`).join("") });
    at += length + 1;
  }
  return found;
}
