import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { calls, envelopes } from "../../testing/store-suite-events.ts";
import { Mirror, maxUnsent } from "./mirror.ts";
import type { SessionStoreEntry } from "./session-store.ts";

const session = "0193f0a0-0000-7000-8000-00000000000a";

test("a store that never answers gets no more at some point, is told of once, and has a whole beginning", async () => {
  verifies("P32");
  const told: string[] = [];
  const sent: SessionStoreEntry[] = [];
  const gate = Promise.withResolvers<void>();
  const store = {
    load: async () => null,
    async append(_: unknown, entries: SessionStoreEntry[]) {
      await gate.promise;
      sent.push(...entries);
    },
  };
  const key = { projectKey: "project", sessionId: session };
  const mirror = new Mirror(store, {
    key,
    flush: "batched",
    known: 0,
    failed: (why) => void told.push(why),
  });
  const events = envelopes(session, calls(maxUnsent + 100));
  for (const event of events) mirror.add(event);
  expect(told).toHaveLength(1);
  gate.resolve();
  await mirror.send();
  expect(sent).toHaveLength(maxUnsent);
  expect(sent.at(-1)?.["event"]).toMatchObject({ seq: maxUnsent });
});
