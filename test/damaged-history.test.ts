import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { requestOf } from "../keel/src/core/context/request.ts";
import { fold } from "../keel/src/core/fold.ts";
import { settleAsLost, settleRequest } from "../keel/src/core/settle.ts";
import { emptyState, type SessionState } from "../keel/src/core/state/state.ts";
import type { Durable, DurableEvent } from "../keel/src/protocol/event/durable.ts";
import { text } from "../keel/src/protocol/message.ts";
import { memoryWorkspace } from "../keel/src/testing/memory-workspace.ts";
import { findViolations } from "../keel/src/testing/request-rules.ts";
import { scriptedModel, testModelInfo } from "../keel/src/testing/scripted-model.ts";
import { builtInTools } from "../keel/src/tools/catalog.ts";
import { answerAsk, answerOf, commands, files, play } from "./crash/scenario.ts";
import { memoryLog, openTestSession } from "./support/test-session.ts";
import { verifies } from "./support/verifies.ts";

const log = memoryLog();
const { session } = await openTestSession({
  log,
  model: scriptedModel(answerOf),
  workspace: memoryWorkspace({ files, shell: commands }),
  tools: builtInTools(),
  answer: answerAsk,
});
await play(session, log.events);
const whole = log.events;

/** What a session does when it opens such a log and is sent one more input. */
function nextRequest(events: readonly Durable[]): ReturnType<typeof requestOf> {
  let state: SessionState = events.reduce(fold, emptyState);
  const record = (event: DurableEvent): void => {
    state = fold(state, { seq: state.seq + 1, at: 0, session: "s", ...event });
  };
  for (const event of settleRequest(state)) record(event);
  for (const event of settleAsLost(state, 0)) record(event);
  record({
    type: "input.accepted",
    input: { id: "new", content: [text("go on")], from: { kind: "person" }, when: "after" },
  });
  record({ type: "turn.started", turnId: "new", inputIds: ["new"] });
  const info = { ...testModelInfo, id: "m", name: "m" };
  // A log without its first event has no settings and no prompt: both are given anew before a request is made.
  return {
    ...requestOf(state, { session: "s", info }),
    model: "m",
    tools: whole.find((event) => event.type === "prompt.fixed")?.tools ?? [],
  };
}

describe("a log that lost some of its events", () => {
  test("folds, and its next request is valid, whichever were lost", () => {
    verifies("G2", "G4");
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(whole.length - 1), { maxLength: 12 }), (lost) => {
        const kept = whole.filter((_, index) => !lost.includes(index));
        expect(findViolations(nextRequest(kept))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test("folds at every prefix", () => {
    for (let length = 0; length <= whole.length; length++) {
      expect(findViolations(nextRequest(whole.slice(0, length))), `prefix ${length}`).toEqual([]);
    }
  });

  test("folds in any order that a damaged file may have", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...whole], { minLength: 5 }), (mixed) => {
        expect(findViolations(nextRequest(mixed))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
