/** Small questions about pieces of a script, and the pieces that more than one reader makes. */
import { Unreadable } from "./source.ts";
import type { Compound, Node, Word } from "./syntax.ts";

/** The text of a word that has no quotes and no expansions; "" for every other word. */
export function plainText({ parts }: Word): string {
  const [only] = parts;
  return parts.length === 1 && only?.kind === "text" && !only.quoted ? only.text : "";
}

/** What a word is, if nothing in it depends on the run. */
export function knownText({ parts }: Word): string | undefined {
  let text = "";
  for (const part of parts) {
    if (part.kind !== "text") return undefined;
    text += part.text;
  }
  return text;
}

export function functionOf(name: string, body: Node): Compound {
  if (body.kind !== "compound") throw new Unreadable("the body of a function is missing");
  const scripts = [{ items: [{ node: body, operator: ";" as const }] }];
  return { kind: "compound", form: "function", name, words: [], scripts, redirects: [] };
}
