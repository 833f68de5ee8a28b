/** Whether a call that was run once more said the same, and where not: what differs by its nature does not count. */

import { canonicalJson } from "../../kernel/json.ts";
import type { ResultPart } from "../../protocol/message.ts";
import { excerpts } from "../replay/replayed.ts";
import type { RecordedCall } from "./recorded-run.ts";

export type LiveCall = {
  readonly content: readonly ResultPart[];
  readonly failed: boolean;
};

/** Other names of the same: a folder, a task, a file that keeps an output; from those of today to those of then. */
export type SameNames = readonly (readonly [today: string, then: string])[];

export type ResultDifference = {
  readonly what: "it went well then and fails today" | "it failed then and goes well today" | "the result";
  /** Both from a little before the place where they differ. */
  readonly recorded: string;
  readonly today: string;
};

export function resultDifference(
  recorded: Pick<RecordedCall, "tool" | "content" | "failed">,
  live: LiveCall,
  names: SameNames,
): ResultDifference | undefined {
  const then = plain(recorded.content, recorded.tool, []);
  const now = plain(live.content, recorded.tool, names);
  if (recorded.failed === live.failed && then === now) return undefined;
  const what =
    recorded.failed === live.failed
      ? "the result"
      : live.failed
        ? "it went well then and fails today"
        : "it failed then and goes well today";
  return { what, ...excerpts(then, now) };
}

function plain(content: readonly ResultPart[], tool: string, names: SameNames): string {
  const said = content.map((part) => (part.type === "text" ? part.text : canonicalJson(part))).join("\n");
  const named = names.reduce((words, [today, then]) => words.replaceAll(today, then), said);
  const timeless = named.replace(duration, "$1⟨time⟩");
  // Newest first: a copy does not know which file was changed last.
  return tool === "Glob" || tool === "Grep" ? timeless.split("\n").toSorted().join("\n") : timeless;
}

/** How long something took is another time each time. */
const duration = /(^|[^\w.])\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|secs|seconds?|min|minutes?)\b/g;
