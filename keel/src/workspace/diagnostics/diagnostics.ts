/** The Diagnostics port on real language servers and check commands: what a change broke, within its time. */
import path from "node:path";
import type { Json } from "../../kernel/json.ts";
import { pathMatcher } from "../../policy/path-rules.ts";
import type { Diagnostics, FileWatch, NewErrors } from "../../ports/diagnostics.ts";
import type { Shell } from "../../ports/shell.ts";
import type { ProcessEnvironment } from "../processes/environment.ts";
import type { ProcessGuard } from "../processes/process-guard.ts";
import { checkCommand } from "./check-command.ts";
import type { CheckedChange, Checker } from "./checker.ts";
import { newIn } from "./finding.ts";
import { languageOf } from "./language-id.ts";
import { serverChecker } from "./server-checker.ts";

/** Who looks after which files: a language server, or a command that checks. */
export type DiagnosticsEntry = {
  /** Paths as in rules: `*.ts` anywhere, `/src` from the root. */
  readonly files: readonly string[];
  readonly timeoutMs?: number | undefined;
} & (
  | { readonly command: string; readonly language?: string | undefined; readonly options?: Json | undefined }
  | { readonly check: string }
);

export type DiagnosticsOptions = {
  readonly entries: readonly DiagnosticsEntry[];
  readonly root: string;
  readonly userHome: string;
  readonly env: ProcessEnvironment;
  readonly guard: ProcessGuard;
  readonly shell: Shell;
};

/** How long an edit waits for what is said about it. */
const defaultTimeoutMs = 5_000;
/** A file that is broken all over is told by its first errors. */
const maxErrors = 10;

export function nodeDiagnostics(options: DiagnosticsOptions): Diagnostics {
  const { root, userHome } = options;
  const hands = options.entries.map((entry) => {
    const matchers = entry.files.map((rule) => pathMatcher(rule, { roots: [root], home: userHome }));
    const hand = checkerOf(entry, options);
    const timeoutMs = entry.timeoutMs ?? defaultTimeoutMs;
    return { covers: (file: string) => matchers.some((matches) => matches(file)), hand, timeoutMs };
  });
  return {
    async watch({ path: file, before }, signal): Promise<FileWatch | undefined> {
      const concerned = hands.filter(({ covers }) => covers(file));
      if (concerned.length === 0) return undefined;
      await Promise.all(concerned.map(({ hand, timeoutMs }) => hand.prepare(file, limit(signal, timeoutMs))));
      return {
        async newErrors(after, during) {
          const looked = concerned.map(({ hand, timeoutMs }) =>
            hand.look({ file, before, after }, limit(during, timeoutMs)),
          );
          return joined(await Promise.all(looked));
        },
      };
    },
    close: async () => void (await Promise.all(hands.map(({ hand }) => hand.close()))),
  };
}

function checkerOf(entry: DiagnosticsEntry, { root, env, guard, shell }: DiagnosticsOptions): Checker {
  if ("check" in entry)
    return checkCommand({
      command: entry.check,
      root,
      shell,
      timeoutMs: entry.timeoutMs ?? defaultTimeoutMs,
    });
  const language = (file: string): string => entry.language ?? languageOf(path.basename(file));
  return serverChecker({
    command: entry.command,
    language,
    options: entry.options ?? null,
    root,
    env,
    guard,
  });
}

function joined(looked: readonly CheckedChange[]): NewErrors {
  const errors = looked.flatMap((one) => (one.ok ? newIn(one.before, one.after) : []));
  const notes = looked.flatMap((one) => (one.ok ? [] : [one.why]));
  return {
    errors: errors.slice(0, maxErrors).map(({ text }) => text),
    omitted: Math.max(0, errors.length - maxErrors),
    notes,
  };
}

const limit = (signal: AbortSignal, timeoutMs: number): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
