/** What the cases of the store suite need of a store, how they look at it, and the few events that they write. */
import assert from "node:assert/strict";
import { Fault } from "../kernel/fault.ts";
import type { FaultCode } from "../kernel/faults.ts";
import type { Store } from "../ports/store.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import type { InputBlock } from "../protocol/message.ts";

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

/** Ids of sessions; a store takes any UUID. */
export const ids: readonly [string, string, string] = [
  "0193f0a0-0000-7000-8000-00000000000a",
  "0193f0a0-0000-7000-8000-00000000000b",
  "0193f0a0-0000-7000-8000-00000000000c",
];

/** Numbers the events from `after` on, as a session would. */
export function envelopes(session: string, events: readonly DurableEvent[], after = 0): Durable[] {
  return events.map((event, index) => {
    const seq = after + 1 + index;
    return { seq, at: 1_763_200_000_000 + seq, session, ...event };
  });
}

export const opened = (cwd: string, title?: string): DurableEvent => ({
  type: "session.opened",
  keel: "0.1.0",
  cwd,
  settings: {
    model: "scripted",
    permissionMode: "default",
    thinking: { kind: "off" },
    ...(title === undefined ? {} : { title }),
  },
});

export const said = (...texts: string[]): DurableEvent => ({
  type: "input.accepted",
  input: {
    id: "0193f0a0-0000-7000-8000-0000000000ff",
    content: texts.map((text): InputBlock => ({ type: "text", text })),
    from: { kind: "person" },
    when: "after",
  },
});

export const started = (callId: string): DurableEvent => ({
  type: "tool.started",
  callId,
  tool: "Read",
  by: "read-only",
});

/** `count` events that differ from each other. */
export const calls = (count: number): DurableEvent[] =>
  Array.from({ length: count }, (_, index) => started(`call-${index + 1}`));
