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
  readonly start: M;
  /** Pure. */
  step(memo: M, event: Durable): M;
  /** What was kept, with what only this process knows. */
  takeUp(kept: M): M;
};

type Events = { onEvent(listener: (envelope: Envelope) => void): unknown };

export class HostFolds {
  readonly #log: Log;
  /** What hosts kept, up to which event. */
  #kept: { readonly seq: number; readonly memos: Readonly<Record<string, unknown>> } | undefined;
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
        if (!kept) return undefined;
        this.#kept = { seq: kept.seq, memos: memosOf(kept.texts.at(-1)) };
        return { ...kept, texts: kept.texts.slice(0, -1) };
      },
      keep: async (write) => log.keep?.(() => [...write(), this.#text()]),
      close: () => log.close(),
    };
  }

  /** All that has happened, folded; what happens from now on is folded beside it, to be kept. */
  async fold<M>(session: Events, { name, start, step, takeUp }: HostFold<M>): Promise<M> {
    const kept = this.#kept?.memos[name];
    let seq = kept === undefined ? 0 : (this.#kept?.seq ?? 0);
    let memo = kept === undefined ? start : takeUp(kept as M);
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
    return memo;
  }

  #text(): string {
    const memos = [...this.#current].map(([name, plain]) => [name, plain()] as const);
    return JSON.stringify(Object.fromEntries(memos.filter(([, plain]) => plain !== undefined)));
  }
}

/** None where it cannot be read: then all that has happened is. */
function memosOf(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    return Object.fromEntries(
      Object.entries<unknown>(JSON.parse(text ?? "{}")).map(([name, plain]) => [name, fromPlain(plain)]),
    );
  } catch {
    return {};
  }
}
