// Walks a syntax tree without knowing its kinds of nodes. A real parser, because a pattern is fooled by comments,
// strings and types.
import { parseSync } from "oxc-parser";

export type Node = { readonly type: string; readonly start: number; readonly [key: string]: unknown };
export type Place = { readonly parent: Node | undefined; readonly key: string };

/** Parses a file and visits every node, parents first; returns the statements at its top. Throws on a syntax error. */
export function visitFile(
  file: string,
  text: string,
  visit: (node: Node, place: Place) => void,
): readonly Node[] {
  const { program, errors } = parseSync(file, text);
  const [problem] = errors;
  if (problem) throw new Error(`${file}: ${problem.message}`);
  if (isNode(program)) walk(program, { parent: undefined, key: "" }, visit);
  const body: readonly unknown[] = program.body;
  return body.filter(isNode);
}

// Every file of the repository passes here: nothing is made for a node but what the visitor makes of it.
function walk(node: Node, place: Place, visit: (node: Node, place: Place) => void): void {
  visit(node, place);
  for (const key in node) {
    const value = node[key];
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value)) {
      if (isNode(value)) walk(value, { parent: node, key }, visit);
      continue;
    }
    for (const child of value) if (isNode(child)) walk(child, { parent: node, key }, visit);
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

export function lineOf(text: string, node: Node): number {
  return linesOf(text)(node);
}

/** The same for many nodes of one text, whose lines are looked for once. */
export function linesOf(text: string): (node: Node) => number {
  const ends: number[] = [];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) ends.push(at);
  return ({ start }) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < start) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
