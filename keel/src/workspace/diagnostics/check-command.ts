/** A command that checks files: its lines about a file, when it fails, are that file's errors. */
import path from "node:path";
import type { Shell } from "../../ports/shell.ts";
import type { CheckedText, Checker } from "./checker.ts";
import { type DiagnosticFinding, linesAbout } from "./finding.ts";

/** Of its output; a file that is broken all over is told by its first errors. */
const maxBytes = 1_000_000;

/** `{file}` in the command stands for the file, as a shell takes it. */
export function checkCommand({
  command,
  root,
  shell,
  timeoutMs,
}: {
  command: string;
  root: string;
  shell: Shell;
  timeoutMs: number;
}): Checker {
  /** What was wrong with each file when it was looked at last. */
  const known = new Map<string, readonly DiagnosticFinding[]>();

  async function check(file: string, within: AbortSignal): Promise<CheckedText> {
    const text = command.replaceAll("{file}", `'${file.replaceAll("'", `'\\''`)}'`);
    const run = shell.run({ text, cwd: root, timeoutMs, maxBytes }, within);
    for (;;) {
      const next = await run.next();
      if (!next.done) continue;
      const { exitCode, output, timedOut, interrupted } = next.value;
      if (timedOut || interrupted) return { ok: false, why: `${command}: it took too long` };
      const names = [file, path.relative(root, file)];
      return { ok: true, errors: exitCode === 0 ? [] : linesAbout(output, names) };
    }
  }

  return {
    async prepare(file, within) {
      if (known.has(file)) return;
      const found = await check(file, within);
      if (found.ok) known.set(file, found.errors);
    },
    async look({ file, before }, within) {
      const found = await check(file, within);
      if (!found.ok) return found;
      const old = before === null ? [] : known.get(file);
      known.set(file, found.errors);
      return old
        ? { ok: true, before: old, after: found.errors }
        : { ok: false, why: `${command}: what was wrong before is not known` };
    },
    close: async () => undefined,
  };
}
