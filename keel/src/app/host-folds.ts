/**
 * What hosts make of a session's events, kept with what the engine makes of them: a door that tells totals need not read
 * all that has happened. Only facts count, in their order, so that it is the same whether it was kept or is made anew.
 */
import type { Log } from "../engine/ports.ts";
import { fromPlain, toPlain } from "../kernel/plain.ts";
import { type Durable, type Envelope, isDurable } from "../protocol/event.ts";

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

type Events = { onEvent(listener: (envelope: Envelope) => void): unknown };

export class HostFolds {
  readonly #log: Log;
  /** What hosts kept, by name and up to which event, until somebody goes on with it. */
  readonly #kept = new Map<string, { readonly seq: number; readonly memo: unknown }>();
  readonly #current = new Map<string, () => unknown>();

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
      ...(log.rest ? { rest: () => log.rest?.() ?? Promise.resolve(false) } : {}),
      kept: () => {
        const kept = log.kept?.();
        const memos = kept && memosOf(kept.texts.at(-1));
        // By somebody who is no host, such as whoever took a session's files back: all texts are the engine's.
        if (!memos) return kept;
        for (const [name, memo] of memos) this.#kept.set(name, { seq: kept.seq, memo });
        return { ...kept, texts: kept.texts.slice(0, -1) };
      },
      keep: async (write) => log.keep?.(() => [...write(), this.#text()]),
      close: () => log.close(),
    };
  }

  /** All that has happened, folded; what happens from now on is folded beside it, to be kept. */
  async fold<M>(session: Events, { name, start, step, takeUp }: HostFold<M>): Promise<M> {
    const kept = this.#kept.get(name);
    this.#kept.delete(name);
    let seq = kept?.seq ?? 0;
    let memo = kept ? (kept.memo as M) : start;
    let isWhole = true;
    const take = (event: Durable): void => {
      if (event.seq <= seq) return;
      isWhole &&= event.seq === seq + 1;
      seq = event.seq;
      memo = step(memo, event);
    };
    for await (const event of this.#log.read(seq)) take(event);
    session.onEvent((envelope) => {
      if (isDurable(envelope) && !envelope.origin) take(envelope);
    });
    this.#current.set(name, () => (isWhole && seq === this.#log.lastSeq ? toPlain(memo) : undefined));
    return takeUp(memo);
  }

  #text(): string {
    const memos = [...this.#current].map(([name, plain]) => [name, plain()] as const);
    return JSON.stringify({ hosts: Object.fromEntries(memos.filter(([, plain]) => plain !== undefined)) });
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
