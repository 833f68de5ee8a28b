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
  walk(program, { parent: undefined, key: "" }, visit);
  const body: readonly unknown[] = program.body;
  return body.filter(isNode);
}

function walk(node: unknown, place: Place, visit: (node: Node, place: Place) => void): void {
  if (!isNode(node)) return;
  visit(node, place);
  for (const [key, value] of Object.entries(node)) {
    const children: unknown[] = Array.isArray(value) ? value : [value];
    for (const child of children) if (isNode(child)) walk(child, { parent: node, key }, visit);
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

export function lineOf(text: string, node: Node): number {
  return text.slice(0, node.start).split("\n").length;
}
