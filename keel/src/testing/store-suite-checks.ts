/** How the cases of the store suite look at a store, and what they need of it. */
import assert from "node:assert/strict";
import { Fault } from "../kernel/fault.ts";
import type { FaultCode } from "../kernel/faults.ts";
import type { Store } from "../ports/store.ts";
import type { Durable } from "../protocol/event/durable.ts";

/** A store under test, empty, with what the suite needs to look at it from outside. */
export type StoreUnderTest = {
  readonly store: Store;
  /** Two folders in which sessions work; they exist where the store cares. */
  readonly folders: readonly [string, string];
  /** Another store over the same data, as a second process would have it. */
  beside(): Promise<Store>;
  /** As `beside`, after the process of the first store was killed. */
  restart(): Promise<Store>;
  /** The text at a path that `spill` gave. */
  readSpilled(path: string): Promise<string>;
  /** Called when the case has ended. */
  close(): Promise<void>;
};

export type SuiteCase = (subject: StoreUnderTest) => Promise<void>;

export const all = (events: AsyncIterable<Durable>): Promise<Durable[]> => Array.fromAsync(events);

export async function write(store: Store, cwd: string, events: readonly Durable[]): Promise<void> {
  const log = await store.create(events[0]?.session ?? "", { cwd });
  await log.append(events);
  await log.close();
}

export async function refuses(code: FaultCode, work: () => Promise<unknown>): Promise<void> {
  await assert.rejects(work, (thrown: unknown) => {
    assert.ok(thrown instanceof Fault, `expected the fault ${code}, got ${String(thrown)}`);
    assert.equal(thrown.code, code);
    return true;
  });
}
