import { describe, expect, test } from "vitest";
import { plainText } from "../kernel/text.ts";
import { outcomeOf } from "./results.ts";

const png = "iVBORw0KGgo=";

describe("what a server's tool returned", () => {
  test("reaches the model as text, images, documents and addresses", () => {
    const { content } = outcomeOf({
      content: [
        { type: "text", text: "words" },
        { type: "image", mimeType: "image/png", data: png },
        { type: "resource", resource: { uri: "a://b", text: "of a resource" } },
        { type: "resource", resource: { uri: "a://c", blob: png, mimeType: "application/pdf" } },
        { type: "resource_link", uri: "a://d", name: "more" },
        { type: "audio", mimeType: "audio/wav", data: png },
      ],
    });
    expect(content).toEqual([
      { type: "text", text: "words" },
      { type: "image", mediaType: "image/png", data: png },
      { type: "text", text: "of a resource" },
      { type: "document", mediaType: "application/pdf", data: png },
      { type: "text", text: "more: a://d" },
      { type: "text", text: "(audio, audio/wav: it cannot be shown here)" },
    ]);
  });

  test.each([
    ["of a type that no model takes", "image/tiff", png],
    ["whose data is damaged", "image/png", "not base64!"],
    ["that is empty", "image/png", ""],
    ["that is too large", "image/png", "A".repeat(8 * 1024 * 1024)],
  ])("an image %s is told in words: it would spoil every later request", (_, mimeType, data) => {
    expect(outcomeOf({ content: [{ type: "image", mimeType, data }] }).content).toMatchObject([
      { type: "text" },
    ]);
  });

  test("data without words is said, and kept for programs", () => {
    const outcome = outcomeOf({ content: [], structuredContent: { sum: 5 } });
    expect(outcome).toMatchObject({ content: [{ type: "text", text: '{"sum":5}' }], data: { sum: 5 } });
  });

  test("a failure is a value", () => {
    expect(outcomeOf({ content: [{ type: "text", text: "no" }], isError: true }).failed).toBe(true);
  });
});

test.each([
  ["\u001b[31mred\u001b[0m", "red"],
  ["a\u001b]52;c;ZXZpbA==\u0007b\u001b]0;title\u001b\\c", "abc"],
  ["x\u0000\u0007\u009by", "xy"],
  ["one\r\ntwo\rthree", "one\ntwo\nthree"],
  ["a\u202eb\u200bc\u{e0041}d", "abcd"],
  ["tab\tand émoji 🎉 stay", "tab\tand émoji 🎉 stay"],
])("%j is plain text", (given, plain) => {
  expect(plainText(given)).toBe(plain);
});

test("plain text is made in linear time, also of what only begins to be a code", () => {
  const started = performance.now();
  plainText("\u001b]".repeat(50_000) + "\u001bP".repeat(50_000));
  expect(performance.now() - started).toBeLessThan(2_000);
});
