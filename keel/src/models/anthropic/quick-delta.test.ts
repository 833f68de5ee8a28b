import fc from "fast-check";
import { expect, test } from "vitest";
import { messageEnd, messageStart, toSse } from "../../../../test/support/anthropic-wire.ts";
import { fault } from "../../kernel/fault.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { messagesDecoder } from "./decode.ts";

const newDecoder = () =>
  messagesDecoder({ model: "claude-x", errorOf: () => fault("server_error", { reason: "no" }) });

function blockOf(
  type: "text_delta" | "thinking_delta",
  pieces: readonly string[],
  index: number,
): JsonObject[] {
  const kind = type === "text_delta" ? "text" : "thinking";
  return [
    { type: "content_block_start", index, content_block: { type: kind, [kind]: "" } },
    ...pieces.map((piece) => ({ type: "content_block_delta", index, delta: { type, [kind]: piece } })),
    { type: "content_block_stop", index },
  ];
}

const piece = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom('"', "\\", 'a"}}', "\n", "\0", "\u2028", "plain", "plain", "plain", ""),
);
const block = fc.tuple(
  fc.constantFrom("text_delta" as const, "thinking_delta" as const),
  fc.array(piece, { maxLength: 20 }),
);

test("pieces that are cut out as they stand give the same events as pieces that are parsed", () => {
  let cut = 0;
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
      const wire = [
        messageStart(),
        ...blocks.flatMap(([type, pieces], index) => blockOf(type, pieces, index)),
        ...messageEnd(),
      ];
      const parsing = newDecoder();
      const cutting = newDecoder();
      for (const event of wire) {
        const added = cutting.addPiece(toSse([event]).slice(0, -2));
        if (added) cut += 1;
        expect(added ? [added] : cutting.push(event)).toEqual(parsing.push(event));
      }
      expect(cutting.ended()).toEqual(parsing.ended());
    }),
    { numRuns: 300 },
  );
  expect(cut).toBeGreaterThan(300);
});

test("nothing is cut out for a block that is not being written", () => {
  const decoder = newDecoder();
  const [start, first, second, stop] = blockOf("text_delta", ["one", "two"], 0);
  const record = toSse([second ?? {}]).slice(0, -2);
  expect(decoder.addPiece(record)).toBeUndefined();
  for (const event of [messageStart(), start ?? {}, first ?? {}]) decoder.push(event);
  expect(decoder.addPiece(record.replace('"index":0', '"index":1'))).toBeUndefined();
  expect(decoder.addPiece(record)).toEqual({ type: "text", index: 0, text: "two" });
  decoder.push(stop ?? {});
  expect(decoder.addPiece(record)).toBeUndefined();
});
