// The public entries say what they export by name, and what they export exists.
import { describe, expect, test } from "vitest";
import * as protocol from "../keel/src/protocol/public.ts";
import * as view from "../keel/src/view/public.ts";

describe("keel/protocol", () => {
  test("exports a schema for everything that crosses a wire", () => {
    const schemas = Object.keys(protocol).filter((name) => name.endsWith("Schema"));
    for (const name of [
      "askSchema",
      "answerSchema",
      "commandSchema",
      "durableEventSchema",
      "messageSchema",
      "usageSchema",
    ])
      expect(schemas).toContain(name);
    const parsed = protocol.commandSchema.safeParse({ type: "input", content: [protocol.text("hi")] });
    expect(parsed.success).toBe(true);
  });
});

describe("keel/view", () => {
  test("folds events into what a screen and an export need", () => {
    const event = { at: 1, session: "s", type: "notice.raised" as const, level: "info" as const, text: "hi" };
    expect(view.rowsOf(view.foldTranscript(view.noTranscript, event))).toHaveLength(1);
    expect(view.foldActivity(view.idle, event)).toBe(view.idle);
    expect(view.foldTotals(view.noTotals, event)).toBe(view.noTotals);
    const document = view.documentOf([event]);
    expect(view.toMarkdown(document)).toContain("hi");
    expect(view.toHtml(document)).toContain("hi");
  });
});
