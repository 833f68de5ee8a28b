/** The few events that the store suite writes: a session as it looks to a store. */
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import type { InputBlock } from "../protocol/message.ts";

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
