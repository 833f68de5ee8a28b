/** The Diagnostics port on real language servers and check commands: what a change broke, within its time. */
import path from "node:path";
import { whenAborted } from "../../kernel/abort.ts";
import type { Json } from "../../kernel/json.ts";
import { no } from "../../kernel/result.ts";
import { pathMatcher } from "../../policy/path-rules.ts";
import type { Diagnostics, FileWatch, NewErrors } from "../../ports/diagnostics.ts";
import type { Shell } from "../../ports/shell.ts";
import type { ProcessEnvironment } from "../processes/environment.ts";
import type { ProcessGuard } from "../processes/process-guard.ts";
import {
  type CheckedChange,
  type CheckedText,
  type Checker,
  type DiagnosticFinding,
  linesAbout,
  newIn,
} from "./finding.ts";
import { type LanguageServer, type LanguageServerOptions, openLanguageServer } from "./language-server.ts";

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

function checkerOf(entry: DiagnosticsEntry, around: DiagnosticsOptions): Checker {
  const { timeoutMs = defaultTimeoutMs } = entry;
  if ("check" in entry) return checkCommand({ command: entry.check, timeoutMs }, around);
  const { root, env, guard } = around;
  const { command, options = null } = entry;
  const language = (file: string): string => entry.language ?? languageOf(path.basename(file));
  return serverChecker({ command, language, options, root, env, guard });
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

/** Of its output; a file that is broken all over is told by its first errors. */
const maxBytes = 1_000_000;

/** `{file}` in the command stands for the file, as a shell takes it. */
function checkCommand(
  { command, timeoutMs }: { command: string; timeoutMs: number },
  { root, shell }: DiagnosticsOptions,
): Checker {
  /** What was wrong with each file when it was looked at last. */
  const known = new Map<string, readonly DiagnosticFinding[]>();

  async function check(file: string, within: AbortSignal): Promise<CheckedText> {
    const text = command.replaceAll("{file}", `'${file.replaceAll("'", `'\\''`)}'`);
    const run = shell.run({ text, cwd: root, timeoutMs, maxBytes }, within);
    for (;;) {
      const next = await run.next();
      if (!next.done) continue;
      const { exitCode, output, timedOut, interrupted } = next.value;
      if (timedOut || interrupted) return no(`${command}: it took too long`);
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
        : no(`${command}: what was wrong before is not known`);
    },
    close: async () => undefined,
  };
}

/** One that ends again and again is not started any more. */
const maxStarts = 3;
/** A server that reads a large project begins slowly. Whoever waits for it waits for less; it goes on meanwhile. */
const beginMs = 60_000;

/** A language server over a whole session: started with the first file, started again when it ended, given up in time. */
function serverChecker(options: LanguageServerOptions): Checker {
  const ended = new AbortController();
  let starts = 0;
  let running: Promise<LanguageServer | { why: string }> | undefined;
  /** One question at a time: the server has one document open. */
  let line: Promise<unknown> = Promise.resolve();
  const silent = (why: string): CheckedChange => no(`${options.command.split(" ")[0]}: ${why}`);

  const server = (): Promise<LanguageServer | { why: string }> => {
    if (running) return running;
    if (starts >= maxStarts) return Promise.resolve({ why: `it ended ${maxStarts} times` });
    starts += 1;
    const within = AbortSignal.any([ended.signal, AbortSignal.timeout(beginMs)]);
    const begun = openLanguageServer(options, within);
    running = begun;
    void begun.then(async (opened) => {
      if (!("why" in opened)) await opened.over;
      if (running === begun) running = undefined;
    });
    return begun;
  };

  const ask = async (
    { file, before, after }: Parameters<Checker["look"]>[0],
    within: AbortSignal,
  ): Promise<CheckedChange> => {
    const opened = await server();
    if ("why" in opened) return silent(opened.why);
    const old =
      before === null
        ? ({ ok: true, errors: [] } as const)
        : await opened.errors({ path: file, text: before, as: "draft" }, within);
    const now = await opened.errors({ path: file, text: after, as: "saved" }, within);
    if (!now.ok) return silent(now.why);
    // What was wrong before is not known: then nobody can say what is new.
    if (!old.ok) return silent(old.why);
    return { ok: true, before: old.errors, after: now.errors };
  };

  return {
    // It is told the old text later; only its start is not waited for.
    prepare: async () => void server(),
    look: (change, within) => {
      const turn = line.then(() => ask(change, within));
      line = turn.catch(() => undefined);
      return Promise.race([turn, whenAborted(within).then(() => silent("it took too long"))]);
    },
    async close() {
      ended.abort();
      starts = maxStarts;
      const opened = await running;
      if (opened && !("why" in opened)) await opened.close();
    },
  };
}

/** What the protocol calls the language of files with these endings. Of most languages the ending is the name. */
const languages: Readonly<Record<string, string>> = {
  typescript: "ts mts cts",
  typescriptreact: "tsx",
  javascript: "js mjs cjs",
  javascriptreact: "jsx",
  python: "py",
  rust: "rs",
  ruby: "rb",
  kotlin: "kt",
  csharp: "cs",
  cpp: "cc cxx hpp",
  c: "h",
  shellscript: "sh bash",
  yaml: "yml",
  markdown: "md",
  haskell: "hs",
  elixir: "ex exs",
};

function languageOf(name: string): string {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const known = Object.entries(languages).find(([, endings]) => endings.split(" ").includes(ending));
  return known?.[0] ?? ending;
}
