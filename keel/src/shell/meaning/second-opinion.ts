/**
 * Two readers that know nothing of each other must see the same commands with the same words at the same places, or
 * the text is not approved. Where a grammar and our own reading differ, at least one of them is not bash.
 */

import type { SyntaxNode } from "../../ports/shell.ts";
import type { ShellStep } from "./walk.ts";

type Span = readonly [number, number];
/** Of `[ ]` and of declarations the grammar sees no words: then only where they start and end counts. */
type Theirs = { readonly spans: readonly Span[]; readonly extent: "words" | "whole" };

/** A sentence when they differ. */
export function differenceOf(
  tree: SyntaxNode,
  { text, steps }: { text: string; steps: readonly ShellStep[] },
): string | undefined {
  const theirs = commandsIn(tree, text);
  if (typeof theirs === "string") return theirs;
  const ours = steps.flatMap(({ spans }) => (spans.length === 0 ? [] : [spans]));
  if (ours.length !== theirs.length) return "two readers see a different number of commands in it";
  const places = new Map(theirs.map((command) => [command.spans[0]?.[0], command]));
  const isSame = ours.every((spans) => {
    const other = places.get(spans[0]?.[0]);
    return other !== undefined && sameSpans(spans, other);
  });
  return isSame ? undefined : "two readers see different commands in it";
}

function sameSpans(ours: readonly Span[], { spans, extent }: Theirs): boolean {
  if (extent === "whole") return ours[0]?.[0] === spans[0]?.[0] && ours.at(-1)?.[1] === spans[0]?.[1];
  return (
    ours.length === spans.length &&
    ours.every(([start, end], at) => start === spans[at]?.[0] && end === spans[at][1])
  );
}

/** Kinds of pieces that are known; one that is not may hold anything. */
const known = new Set(
  "program list pipeline command command_name word string string_content raw_string ansi_c_string translated_string concatenation number simple_expansion expansion special_variable_name variable_name variable_assignment variable_assignments command_substitution process_substitution arithmetic_expansion subshell compound_statement if_statement elif_clause else_clause for_statement while_statement do_group case_statement case_item negated_command redirected_statement file_redirect file_descriptor herestring_redirect heredoc_redirect heredoc_start heredoc_body heredoc_content heredoc_end test_command unary_expression binary_expression test_operator comment extglob_pattern regex brace_expression parenthesized_expression declaration_command".split(
    " ",
  ),
);

const besideWords = new Set([
  "variable_assignment",
  "variable_assignments",
  "file_redirect",
  "herestring_redirect",
  "heredoc_redirect",
]);

/** The words of every command in the tree, or why it does not count. */
function commandsIn(tree: SyntaxNode, text: string): Theirs[] | string {
  const commands: Theirs[] = [];
  // Lists lean to one side and are as deep as they are long: no recursion.
  const open: SyntaxNode[] = [tree];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.isBroken) return "a second reader does not understand it";
    if (!known.has(node.type)) return `a second reader sees a ${node.type} in it`;
    if (node.type === "command") commands.push({ spans: wordsOf(node, text), extent: "words" });
    if (
      node.type === "test_command" &&
      !text.startsWith("[[", node.start) &&
      !text.startsWith("((", node.start)
    ) {
      commands.push({ spans: [[node.start, node.end]], extent: "whole" });
    }
    if (node.type === "declaration_command")
      commands.push({ spans: [[node.start, node.end]], extent: "whole" });
    open.push(...node.children);
  }
  return commands;
}

function wordsOf({ children }: SyntaxNode, text: string): Span[] {
  const spans = children
    .filter(({ type }) => !besideWords.has(type))
    .map(({ start, end }): Span => [start, end]);
  // A grammar that does not know `time` takes it for the program.
  const isTime = spans.length > 1 && text.slice(...(spans[0] ?? [0, 0])) === "time";
  const first = isTime
    ? spans.findIndex(([start, end], at) => at > 0 && !/^--?p?$/.test(text.slice(start, end)))
    : 0;
  return spans.slice(Math.max(0, first));
}
