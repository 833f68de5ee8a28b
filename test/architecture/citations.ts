// Finds the requirement ids that a test file cites with `verifies("…")`.
import { isNode, lineOf, visitFile } from "./syntax.ts";

/** `id` is undefined where the argument is not a plain string: a citation must be readable without running it. */
export type Citation = { readonly id: string | undefined; readonly line: number };

export function citationsIn(file: string, text: string): Citation[] {
  const citations: Citation[] = [];
  visitFile(file, text, (node) => {
    if (node.type !== "CallExpression" || !isNode(node["callee"]) || node["callee"]["name"] !== "verifies")
      return;
    const parameters: unknown = node["arguments"];
    if (!Array.isArray(parameters)) return;
    for (const parameter of parameters.filter(isNode)) {
      const value = parameter.type === "Literal" ? parameter["value"] : undefined;
      citations.push({ id: typeof value === "string" ? value : undefined, line: lineOf(text, node) });
    }
  });
  return citations;
}
