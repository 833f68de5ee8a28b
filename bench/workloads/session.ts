/** A session with many messages, written as Keel writes it: by the product's own command line, from a log of events. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { nodeClock, nodeIds } from "../../keel/src/app/node-ports.ts";
import type { Durable, DurableEvent } from "../../keel/src/protocol/event/durable.ts";
import { noUsage } from "../../keel/src/protocol/usage.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";

export async function writeSession({
  home: user,
  cwd,
  messages,
  messageBytes,
}: {
  home: string;
  cwd: string;
  messages: number;
  messageBytes: number;
}): Promise<string> {
  const home = path.join(user, ".keel");
  const clock = nodeClock();
  const ids = nodeIds();
  const store = jsonlStore({ home, clock, ids });
  const session = randomUUID();
  const log = await store.create(session, { cwd });
  const events = [...eventsOf({ cwd, messages, words: "word ".repeat(messageBytes / 5) })];
  await log.append(
    events.map((event, index): Durable => ({ seq: index + 1, at: clock.now(), session, ...event })),
  );
  await log.close();
  return session;
}

function* eventsOf({
  cwd,
  messages,
  words,
}: {
  cwd: string;
  messages: number;
  words: string;
}): Generator<DurableEvent> {
  const settings = {
    model: "claude-sonnet-5-5",
    permissionMode: "default",
    thinking: { kind: "off" },
  } as const;
  yield { type: "session.opened", keel: "bench", cwd, settings };
  yield { type: "prompt.fixed", system: ["You are a test."], tools: [], why: "first" };
  for (let turn = 0; turn < messages / 2; turn++) {
    const [id, turnId, requestId] = [randomUUID(), randomUUID(), randomUUID()];
    yield {
      type: "input.accepted",
      input: { id, content: [{ type: "text", text: words }], from: { kind: "person" }, when: "after" },
    };
    yield { type: "turn.started", turnId, inputIds: [id] };
    yield { type: "model.started", requestId, model: settings.model, purpose: "turn", attempt: 1 };
    yield {
      type: "model.finished",
      requestId,
      messageId: randomUUID(),
      model: settings.model,
      stop: "end" as const,
      content: [{ type: "text", text: words }],
      usage: noUsage,
      costUsd: 0,
      ms: 1,
    };
    yield {
      type: "turn.finished",
      turnId,
      inputIds: [id],
      reason: "completed" as const,
      usage: noUsage,
      costUsd: 0,
      requests: 1,
      ms: 1,
      apiMs: 1,
    };
  }
  yield { type: "session.closed", reason: "ended" };
}
