import { expect, test } from "vitest";
import type { ModelRequest } from "../ports/model.ts";
import { layout } from "./layout.ts";

test("a request of the engine is laid out with one line per block", () => {
  const request: ModelRequest = {
    model: "m",
    system: ["You are a careful helper who answers in whole sentences and never guesses."],
    tools: [
      { name: "Bash", description: "", input: { type: "object" } },
      { name: "Read", description: "", input: { type: "object" } },
    ],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "mend\nit" },
          { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "first I read", signature: "s" },
          { type: "thinking", text: "", hidden: "h" },
          { type: "tool_use", id: "a", name: "Read", input: { file_path: "a.ts" } },
          { type: "tool_use", id: "b", name: "Bash", input: { command: "x".repeat(80) } },
          { type: "foreign", provider: "scripted", data: 1 },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", callId: "a", content: [{ type: "text", text: "1  hello" }], failed: false },
          { type: "tool_result", callId: "b", content: [], failed: true },
        ],
      },
      { role: "user", content: [] },
    ],
    maxOutputTokens: 100,
    thinking: { kind: "off" },
    session: "s",
  };
  expect(layout(request)).toMatchInlineSnapshot(`
    "tools Bash Read
    system "You are a careful helper who answers in whole sentences and…" (74 characters)
    user text "mend\\nit"
    user image image/png (12 characters of base64)
    assistant thinking "first I read"
    assistant thinking hidden
    assistant tool_use Read {"file_path":"a.ts"}
    assistant tool_use Bash {"command":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (94 characters)
    assistant other scripted
    user tool_result ok "1  hello"
    user tool_result failed nothing
    user nothing"
  `);
});

test("a body of the wire is laid out the same, with its cache marks", () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const body = {
    model: "m",
    max_tokens: 1,
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
    tools: [
      { name: "Bash", input_schema: {} },
      { name: "Read", input_schema: {}, ...mark },
    ],
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "Read", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [
              { type: "text", text: "seen" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "abcd" } },
            ],
          },
          { type: "document", source: { type: "url", url: "x" } },
          { type: "document", source: { type: "text", data: "notes" } },
          { type: "text", text: "go on", ...mark },
        ],
      },
    ],
  };
  expect(layout(body)).toMatchInlineSnapshot(`
    "tools Bash Read [cache 5m]
    system "Be brief." [cache 1h]
    user text "hi"
    assistant tool_use Read {}
    user tool_result ok "seen" + image image/png (4 characters of base64)
    user document by reference
    user document "notes"
    user text "go on" [cache 5m]"
  `);
});

test("what cannot be read is said instead of left out", () => {
  expect(layout({ messages: [{ role: "user", content: 7 }] })).toMatchInlineSnapshot(`
    "tools none
    user nothing
    unreadable: messages.0.content is not a list"
  `);
});
