import fc from "fast-check";
import { expect, test } from "vitest";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import { foldTranscript, noTranscript, rowsOf } from "../../../view/transcript.ts";
import { WaitingDeltas } from "./waiting-deltas.ts";

const live = { at: 5, session: "s", requestId: "r1" };
const origin = { agentId: "a1", parentCallId: "c1", kind: "review", depth: 1 };

const starts: readonly Envelope[] = [0, 1].map((index) => ({
  ...live,
  type: "block.started",
  index,
  block: index === 0 ? { type: "text", text: "" } : { type: "thinking", text: "" },
}));

const often = <T>(one: T, other: T) => fc.constantFrom(one, one, one, one, one, other);

const piece = fc
  .record({ text: fc.string({ maxLength: 3 }), index: often(0, 1), isMine: often(true, false) })
  .map(
    ({ text, index, isMine }): Envelope => ({
      ...live,
      type: index === 0 ? "text.delta" : "thinking.delta",
      index,
      text,
      ...(isMine ? {} : { origin }),
    }),
  );
const note: Envelope = { ...live, type: "notice.raised", level: "info", text: "n" };
const events = fc.array(fc.oneof({ arbitrary: piece, weight: 9 }, fc.constant(note)), {
  minLength: 5,
  maxLength: 40,
});

test("pieces that are looked at together give what they give one by one, whenever somebody looks", () => {
  let joined = 0;
  fc.assert(
    fc.property(events, fc.array(often(false, true), { minLength: 40, maxLength: 40 }), (all, looks) => {
      const pieces = new WaitingDeltas();
      const folded: Envelope[] = [];
      const look = (): void => {
        const event = pieces.take();
        if (event) folded.push(event);
      };
      for (const [at, event] of all.entries()) {
        if (!pieces.add(event)) {
          look();
          if (!pieces.add(event)) folded.push(event);
        }
        if (looks[at]) look();
      }
      look();
      joined += all.length - folded.length;
      const rowsAfter = (told: readonly Envelope[]) =>
        rowsOf([...starts, ...told].reduce(foldTranscript, noTranscript)).toArray();
      expect(rowsAfter(folded)).toEqual(rowsAfter(all));
    }),
  );
  expect(joined).toBeGreaterThan(50);
});
