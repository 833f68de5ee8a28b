/** The Formatter port on commands that a person names: each forms the files that it is for, within its time. */

import { shorten } from "../../kernel/text.ts";
import { pathMatcher } from "../../policy/path-rules.ts";
import type { Formatter } from "../../ports/diagnostics.ts";
import type { Shell } from "../../ports/shell.ts";

export type FormatterEntry = {
  /** Paths as in rules: `*.ts` anywhere, `/src` from the root. */
  readonly files: readonly string[];
  /** `{file}` stands for the file. */
  readonly command: string;
  readonly timeoutMs?: number | undefined;
};

/** How long an edit waits for it. */
const defaultTimeoutMs = 10_000;
const maxBytes = 64 * 1024;
const maxSaid = 300;

export function nodeFormatter({
  entries,
  root,
  userHome,
  shell,
}: {
  readonly entries: readonly FormatterEntry[];
  readonly root: string;
  readonly userHome: string;
  readonly shell: Shell;
}): Formatter {
  const hands = entries.map((entry) => {
    const matchers = entry.files.map((rule) => pathMatcher(rule, { roots: [root], home: userHome }));
    return { ...entry, covers: (file: string) => matchers.some((matches) => matches(file)) };
  });
  return {
    async format(file, signal) {
      // The first that is for it: two would undo each other.
      const hand = hands.find(({ covers }) => covers(file));
      if (!hand) return undefined;
      const { command: by, timeoutMs = defaultTimeoutMs } = hand;
      const text = by.replaceAll("{file}", `'${file.replaceAll("'", `'\\''`)}'`);
      const run = shell.run({ text, cwd: root, timeoutMs, maxBytes }, signal);
      for (;;) {
        const next = await run.next();
        if (!next.done) continue;
        const { exitCode, output, timedOut, interrupted } = next.value;
        if (timedOut || interrupted) return { ok: false, by, why: "it took too long" };
        return exitCode === 0
          ? { ok: true, by }
          : { ok: false, by, why: shorten(output.trim(), maxSaid) || `it ended with ${exitCode}` };
      }
    },
  };
}
