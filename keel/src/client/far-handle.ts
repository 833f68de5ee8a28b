/**
 * A session behind a wire, as a handle. It remembers what it has told and whom it last spoke to, so that a cut wire
 * costs nobody an event, a command or an answer: events go on after the last one, a command is sent again under its id.
 */
import { type Backoff, delayMs } from "../kernel/backoff.ts";
import { Fault, fault } from "../kernel/fault.ts";
import { asObject, type JsonObject } from "../kernel/json.ts";
import type { Command, Receipt } from "../protocol/command.ts";
import { type Envelope, isDurable } from "../protocol/event/envelope.ts";
import type { SessionHandle } from "../protocol/handle.ts";
import type { Inquire } from "../protocol/inquiry.ts";
import type { ServerLink } from "./link.ts";

/** What only the place where a client runs can give. */
export type ClientPorts = {
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  uuid(): string;
  random(): number;
};

/** As long as somebody looks at a screen, a server that comes back is found within a moment. */
const reconnecting: Backoff = { firstMs: 100, maxMs: 5_000 };
/** A command is not held for ever: whoever sent it is told. */
const maxTries = 12;

/** `closed` fires when the client that it belongs to is closed: then it is let go too. */
export function farHandle(
  id: string,
  link: ServerLink,
  ports: ClientPorts,
  closed?: AbortSignal,
): SessionHandle {
  const detached = new AbortController();
  closed?.addEventListener("abort", () => detached.abort(), { once: true });
  if (closed?.aborted) detached.abort();
  const pause = (tries: number, signal: AbortSignal): Promise<void> =>
    ports.sleep(delayMs(reconnecting, tries, ports.random()), signal);

  /** Asked again until it is answered: nothing changes by it. */
  async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await ask();
      } catch (thrown) {
        if (!isLost(thrown) || tries >= maxTries || detached.signal.aborted) throw thrown;
        await pause(tries, detached.signal);
      }
    }
  }

  async function submit(given: Command): Promise<Receipt> {
    const commandId = ports.uuid();
    // An input has an id that its log remembers, whatever becomes of the server.
    const command = given.type === "input" ? { ...given, id: given.id ?? ports.uuid() } : given;
    let boot: string | undefined;
    return patiently(async () => {
      const before = boot;
      boot = (await link.greeting()).boot;
      // It may have been done, and whoever would know is gone. What is harmless twice is sent again all the same.
      if (before !== undefined && before !== boot && !isHarmlessTwice(command))
        throw fault("outcome_unknown", { what: `the command ${command.type}` });
      return link.call("submit", { session: id, commandId, command });
    });
  }

  async function* events(afterSeq = 0, signal?: AbortSignal): AsyncGenerator<Envelope, void> {
    const stop = signal ? AbortSignal.any([signal, detached.signal]) : detached.signal;
    let seq = afterSeq;
    let tries = 0;
    const shown = new Map<string, Envelope>();
    while (!stop.aborted) {
      try {
        for await (const event of link.follow(id, seq, stop)) {
          tries = 0;
          if (isDurable(event) && !event.origin) {
            if (event.seq <= seq) continue;
            seq = event.seq;
          }
          noteReplies(shown, event);
          yield event;
          if (stop.aborted) return;
        }
        return;
      } catch (thrown) {
        if (stop.aborted) return;
        if (!isLost(thrown)) throw thrown;
      }
      // What was being written is told as a whole, or not at all: its pieces do not come again.
      for (const withdrawn of withdrawAll(shown)) yield withdrawn;
      tries += 1;
      await pause(tries, stop);
    }
  }

  return {
    id,
    submit,
    events,
    asks: () => patiently(() => link.call("asks", { session: id })),
    inquire: ((name, question) =>
      patiently(() =>
        link.call("inquire", { session: id, name, question: asObject(question) as JsonObject }),
      )) as Inquire,
    detach: async () => detached.abort(),
  };
}

export const isLost = (thrown: unknown): boolean => thrown instanceof Fault && thrown.code === "link_lost";

/** An input by its id, an answer because an ask is closed once; the others end in the same state. */
const isHarmlessTwice = ({ type }: Command): boolean =>
  ["input", "answer", "interrupt", "drop", "set", "stop", "close"].includes(type);

/** Replies that are shown in part, by their request. */
function noteReplies(shown: Map<string, Envelope>, event: Envelope): void {
  if (event.type === "reply.started") shown.set(event.requestId, event);
  if (event.type === "model.finished" || event.type === "model.failed" || event.type === "reply.withdrawn")
    shown.delete(event.requestId);
}

function withdrawAll(shown: Map<string, Envelope>): Envelope[] {
  const why = fault("link_lost", { reason: "the rest of this reply was missed" }).toData();
  const withdrawn = [...shown].map(
    ([requestId, { at, session, origin }]): Envelope => ({
      type: "reply.withdrawn",
      requestId,
      why,
      at,
      session,
      ...(origin ? { origin } : {}),
    }),
  );
  shown.clear();
  return withdrawn;
}
