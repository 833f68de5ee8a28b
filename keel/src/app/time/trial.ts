/**
 * A session that is tried: in a folder of its own, with logs of its own that go with it, by the settings and keys of the
 * person. Nobody answers its questions.
 */
import type { Durable } from "../../protocol/event/durable.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import type { InputBlock } from "../../protocol/message.ts";
import { homeResources } from "../compose/home-resources.ts";
import { type OpenSession, openSession } from "../open-session.ts";
import type { OpenOptions } from "../options.ts";
import { storedSessions } from "../sessions/sessions.ts";

export type TrialWish = {
  /** `home`: whose settings and keys count. */
  readonly options: Omit<OpenOptions, "which" | "persist"> & { readonly home: string };
  /** Where its log stands, and what it keeps beside it. */
  readonly logs: string;
  /** What it goes on with; it begins anew when left out. */
  readonly log?: { readonly id: string; readonly events: readonly Durable[] } | undefined;
  /** What is said, one after the other, once nothing waits. */
  readonly says: readonly (readonly InputBlock[])[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** What it may still cost; hears what it has cost so far. */
  readonly purse?: Purse | undefined;
};

/** One budget for several trials beside each other. */
export class Purse {
  readonly #spent = new Map<object, number>();
  readonly #stops = new Set<() => void>();
  readonly budgetUsd: number;

  constructor(budgetUsd: number) {
    this.budgetUsd = budgetUsd;
  }

  get spentUsd(): number {
    return [...this.#spent.values()].reduce((sum, usd) => sum + usd, 0);
  }

  get isEmpty(): boolean {
    return this.spentUsd >= this.budgetUsd;
  }

  hear(who: object, usd: number): void {
    this.#spent.set(who, usd);
    if (this.isEmpty) for (const stop of this.#stops) stop();
  }

  onEmpty(stop: () => void): () => void {
    this.#stops.add(stop);
    return () => void this.#stops.delete(stop);
  }
}

export type TrialRun = {
  /** What it recorded, without what it went on with. */
  readonly events: readonly Durable[];
  readonly stopped?: "budget" | "time" | "person" | undefined;
};

/** Throws what kept it from opening, and what its log could not be written for. */
export async function runTrial(wish: TrialWish): Promise<TrialRun> {
  const resources = homeResources(wish.logs);
  try {
    if (wish.log)
      await storedSessions(resources).restore(wish.log.id, { ...wish.log, cwd: wish.options.cwd });
    const which = wish.log ? ({ kind: "resume", from: { session: wish.log.id } } as const) : undefined;
    const session = await openSession({ ...wish.options, which, asks: "refused" }, resources);
    try {
      const after = wish.log?.events.at(-1)?.seq ?? 0;
      const stopped = await converse(session, wish, (ms, signal) => resources.clock.sleep(ms, signal));
      await session.close(stopped === undefined ? "ended" : "stopped");
      return { events: await Array.fromAsync(resources.store.read(session.id, after)), stopped };
    } finally {
      await session.close("stopped");
    }
  } finally {
    await resources.close();
  }
}

async function converse(
  session: OpenSession,
  { says, signal, timeoutMs, purse }: TrialWish,
  sleep: (ms: number, signal: AbortSignal) => Promise<unknown>,
): Promise<TrialRun["stopped"]> {
  let stopped: TrialRun["stopped"];
  const stop = (why: NonNullable<TrialRun["stopped"]>): void => {
    stopped ??= why;
    void session.submit({ type: "interrupt" }).catch(() => undefined);
  };
  const before = session.bill().costUsd;
  const over = new AbortController();
  void sleep(timeoutMs, over.signal).then(
    () => !over.signal.aborted && stop("time"),
    () => undefined,
  );
  const byPerson = (): void => stop("person");
  signal.addEventListener("abort", byPerson, { once: true });
  const forget = purse?.onEmpty(() => stop("budget"));
  const off = session.onEvent((event) => {
    if (event.type === "ask.opened")
      void session
        .submit({
          type: "answer",
          askId: event.ask.id,
          answer: { verdict: "deny", reason: "Nobody is there to be asked." },
          by: "no-host",
        })
        .catch(() => undefined);
    if (isDurable(event)) purse?.hear(session, session.bill().costUsd - before);
  });
  try {
    if (signal.aborted) byPerson();
    else await session.idle();
    for (const content of says) {
      if (stopped !== undefined) break;
      await session.submit({ type: "input", content: [...content], words: "as-is" });
      await session.idle();
    }
    return stopped;
  } finally {
    over.abort();
    off();
    forget?.();
    signal.removeEventListener("abort", byPerson);
  }
}
