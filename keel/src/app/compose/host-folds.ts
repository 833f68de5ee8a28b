/**
 * What hosts make of a session's events, kept with what the engine makes of them: a door that tells totals need not read
 * all that has happened. Only facts count, in their order, so that it is the same whether it was kept or is made anew.
 */
import { each } from "../../kernel/one-by-one.ts";
import { fromPlain, toPlain } from "../../kernel/plain.ts";
import type { Log } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";

export type HostFold<M> = {
  /** One per dialect: whoever uses it goes on with what another process kept under it. */
  readonly name: string;
  /** Has nothing that only this process knows: what is made of it is kept, and another goes on with it. */
  readonly start: M;
  /** Pure. */
  step(memo: M, event: Durable): M;
  /** What was made of the events, with what only this process knows. */
  takeUp(memo: M): M;
};

export class HostFolds {
  readonly #log: Log;
  /** What hosts kept, by name and up to which event, until somebody goes on with it. */
  readonly #kept = new Map<string, { readonly seq: number; readonly memo: unknown }>();
  /** Folds on to the end of the log. Not before it is kept: most sessions never are. */
  readonly #toTheEnd = new Map<string, () => Promise<unknown>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** The same log; what is kept of it has the hosts' part as its last text. */
  log(): Log {
    const log = this.#log;
    return {
      session: log.session,
      get lastSeq() {
        return log.lastSeq;
      },
      get notices() {
        return log.notices;
      },
      append: (events, meanwhile) => log.append(events, meanwhile),
      read: (after) => log.read(after),
      ...(log.unload ? { unload: () => log.unload?.() ?? Promise.resolve(false) } : {}),
      cachedFold: () => {
        const kept = log.cachedFold?.();
        const memos = kept && memosOf(kept.texts.at(-1));
        // By somebody who is no host, such as whoever took a session's files back: all texts are the engine's.
        if (!memos) return kept;
        for (const [name, memo] of memos) this.#kept.set(name, { seq: kept.seq, memo });
        return { ...kept, texts: kept.texts.slice(0, -1) };
      },
      cacheFold: async (write) => log.cacheFold?.(async () => [...(await write()), await this.#text()]),
      close: () => log.close(),
    };
  }

  /** All that has happened, folded. */
  async fold<M>({ name, start, step, takeUp }: HostFold<M>): Promise<M> {
    const kept = this.#kept.get(name);
    this.#kept.delete(name);
    let seq = kept?.seq ?? 0;
    let memo = kept ? (kept.memo as M) : start;
    const toTheEnd = async (): Promise<M> => {
      await each(this.#log.read(seq), (event) => {
        seq = event.seq;
        memo = step(memo, event);
      });
      return memo;
    };
    this.#toTheEnd.set(name, toTheEnd);
    return takeUp(await toTheEnd());
  }

  async #text(): Promise<string> {
    const memos: [string, unknown][] = [];
    for (const [name, toTheEnd] of this.#toTheEnd) memos.push([name, toPlain(await toTheEnd())]);
    return JSON.stringify({ hosts: Object.fromEntries(memos) });
  }
}

/** Undefined where the text is no host's. */
function memosOf(text = ""): [string, unknown][] | undefined {
  try {
    const { hosts } = JSON.parse(text);
    return Object.entries(hosts).map(([name, plain]) => [name, fromPlain(plain)]);
  } catch {
    return undefined;
  }
}
