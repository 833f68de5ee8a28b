/** A language server over a whole session: started with the first file, started again when it ended, given up in time. */
import { whenAborted } from "../../kernel/abort.ts";
import { no } from "../../kernel/result.ts";
import type { CheckedChange, Checker } from "./finding.ts";
import { type LanguageServer, type LanguageServerOptions, openLanguageServer } from "./language-server.ts";

/** One that ends again and again is not started any more. */
const maxStarts = 3;
/** A server that reads a large project begins slowly. Whoever waits for it waits for less; it goes on meanwhile. */
const beginMs = 60_000;

export function serverChecker(options: LanguageServerOptions): Checker {
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
