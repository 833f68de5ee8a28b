/** The grammar of this process: a parser in WebAssembly is loaded once, whoever asks first. */

import type { Grammar } from "../../ports/shell.ts";
import { openGrammar } from "../../workspace/processes/grammar.ts";

/** It belongs to the process, as its module does: a second one would take the place of the first. */
const opened = new Map<"bash", Grammar>();

export function processGrammar(): Grammar {
  const grammar = opened.get("bash") ?? openGrammar();
  opened.set("bash", grammar);
  return grammar;
}
