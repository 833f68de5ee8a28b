/** The grammar of bash as a port: a parser in WebAssembly, loaded when the first command comes. */
import type { Parser, TreeCursor } from "web-tree-sitter";
import type { Grammar, SyntaxNode } from "../../ports/shell.ts";

/** A text longer than this is not parsed: nothing that long is approved by what it is made of. */
const maxCharacters = 10_000;
/** Nodes that a text of that length can have, and then some. */
const maxNodes = 40_000;
/** A list of commands is a tree that leans to one side: as deep as it is long. */
const maxDepth = 2_000;

/**
 * How often the parser may report before it is stopped: it does so every hundred operations or so. A script of the
 * longest length takes about 120 reports; some texts would take seconds.
 */
const maxReports = 250;
/**
 * Between two reports there may lie much work: a long word of signs is read to its end again and again. In processor
 * time, so that a busy machine changes no answer; a script of the longest length takes a third of it.
 */
const maxProcessorMs = 30;

export function openGrammar(): Grammar {
  let loading: Promise<Parser> | undefined;
  return {
    async parse(text) {
      if (text.length > maxCharacters) return undefined;
      try {
        loading ??= import("./tree-sitter.ts").then(async ({ bash }) => (await bash)());
        return parseWith(await loading, text);
      } catch {
        return undefined; // Whatever is wrong with the parser, the text counts as not understood.
      }
    },
  };
}

function parseWith(parser: Parser, text: string): SyntaxNode | undefined {
  let reports = 0;
  const startedAt = processorMs();
  const isTooMuch = (): boolean => ++reports > maxReports || processorMs() - startedAt > maxProcessorMs;
  const tree = parser.parse(text, null, { progressCallback: isTooMuch });
  if (!tree) {
    // It would go on where it was stopped, with another text.
    parser.reset();
    return undefined;
  }
  const cursor = tree.walk();
  try {
    return plainTree(cursor, { nodes: maxNodes }, 0);
  } finally {
    cursor.delete();
    tree.delete();
  }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Undefined when there is more of it than can be looked at. */
function plainTree(cursor: TreeCursor, budget: { nodes: number }, depth: number): SyntaxNode | undefined {
  if (budget.nodes-- <= 0 || depth > maxDepth) return undefined;
  const { nodeType: type, startIndex: start, endIndex: end } = cursor;
  const isBroken = type === "ERROR" || cursor.nodeIsMissing;
  const children: SyntaxNode[] = [];
  if (cursor.gotoFirstChild()) {
    do {
      // Signs and words of the language itself tell nothing that the nodes around them do not, unless they are missing.
      if (!cursor.nodeIsNamed && !cursor.nodeIsMissing) continue;
      const child = plainTree(cursor, budget, depth + 1);
      if (!child) return undefined;
      children.push(child);
    } while (cursor.gotoNextSibling());
    cursor.gotoParent();
  }
  return { type, start, end, isBroken, children };
}
