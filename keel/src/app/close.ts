/** The one order in which a session ends. Every step has its time; a step that fails does not keep the next from running. */
import type { Session } from "../engine/session.ts";
import { graceMs } from "../kernel/deadline.ts";
import { fault } from "../kernel/fault.ts";
import type { Clock } from "../ports/clock.ts";

export type Closing = {
  readonly session: Pick<Session, "close">;
  readonly model: { close(): void };
  readonly mcp: { close(): Promise<void> };
  readonly clock: Clock;
  readonly budget?: { close(): void } | undefined;
  readonly diagnostics?: { close(): Promise<void> } | undefined;
  readonly terminals?: { close(): Promise<void> } | undefined;
  readonly transcript?: { flush(): Promise<void> } | undefined;
  /** Waits for nobody beyond a bound of its own. */
  readonly telemetry?: { close(): Promise<void> } | undefined;
};

export type CloseReason = Parameters<Session["close"]>[0];

/** Calls get their grace time to stop, and the log a moment to be written. */
const shutdownMs = graceMs + 3_000;

/** Throws `out_of_time` when the session did not end in time, or what its end threw. */
export async function closeAll(
  { session, model, mcp, clock, budget, diagnostics, terminals, transcript, telemetry }: Closing,
  reason: CloseReason,
  waiting: "kept" | "dropped" = "kept",
): Promise<void> {
  // Nothing is spent any more, and nobody waits for the time to be up.
  budget?.close();
  const done = new AbortController();
  const late = clock.sleep(shutdownMs, done.signal).then(() => "late" as const);
  try {
    // It is read from the log, which closes now.
    await Promise.race([transcript?.flush(), late]);
    // 1. The turn ends, its processes with it; asks are closed; the last events are on disk; the lease is given back.
    const ended = await Promise.race([session.close(reason, waiting).then(() => "closed" as const), late]);
    if (ended === "late")
      throw fault("out_of_time", { what: "Closing the session", seconds: shutdownMs / 1000 });
  } finally {
    await Promise.race([transcript?.flush(), late]);
    // 2. Nobody calls a tool or edits any more: MCP servers that no other session uses, language servers and terminals end. Who
    // does not end in time dies with the guard.
    const ended = [mcp.close(), diagnostics?.close(), terminals?.close(), telemetry?.close()].map((end) =>
      end?.catch(() => undefined),
    );
    await Promise.race([Promise.all(ended), late]);
    done.abort();
    // 3. Nobody asks the model any more: its connections close.
    model.close();
  }
}

/** What must be undone unless all goes well; a library that also runs on Node 22 has no `AsyncDisposableStack`. */
export class UndoList implements AsyncDisposable {
  #steps: (() => unknown)[] = [];

  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** All went well: nothing is undone. */
  keep(): void {
    this.#steps = [];
  }

  /** The newest first, and all of them. Throws what the first that failed threw. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
