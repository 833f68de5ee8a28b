import { expect, test } from "vitest";
import { rowsOfMessage } from "./foreign-rows.ts";

test("messages of another engine become rows to read; what nobody reads becomes none", () => {
  const all = [
    { type: "system", uuid: "0", subtype: "init" },
    { type: "user", uuid: "1", message: { content: "Which routes?" } },
    {
      type: "assistant",
      uuid: "2",
      message: {
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "I look." },
          { type: "tool_use", name: "Grep", input: { pattern: "get" } },
        ],
      },
    },
    {
      type: "user",
      uuid: "3",
      message: {
        content: [{ type: "tool_result", content: [{ type: "text", text: "none" }], is_error: true }],
      },
    },
    { type: "result", uuid: "4", total_cost_usd: 0.5 },
  ];
  expect(all.flatMap(rowsOfMessage)).toEqual([
    { kind: "said", id: "1", text: "Which routes?" },
    { kind: "text", id: "2:1", text: "I look." },
    { kind: "call", id: "2:2", tool: "Grep", input: '{"pattern":"get"}' },
    { kind: "result", id: "3:0", text: "none", failed: true },
    { kind: "end", id: "4", cost: "$0.50" },
  ]);
});

test("what is not of the form that it should be makes no row, and signs that hide are shown", () => {
  expect(rowsOfMessage({ type: "assistant" })).toEqual([]);
  expect(rowsOfMessage({ type: "assistant", message: { content: [null, 1, "x"] } })).toEqual([]);
  const [row] = rowsOfMessage({ type: "assistant", uuid: "1", message: { content: "a\u202eb" } });
  expect(row && "text" in row && row.text).not.toContain("\u202e");
});
