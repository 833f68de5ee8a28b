import { describe, expect, test } from "vitest";
import { sayIssues } from "../kernel/schema.ts";
import { faultNames, faultReply } from "./fault-replies.ts";
import { reply } from "./reply.ts";
import { fillPlaceholders, parseScript } from "./script-file.ts";

const parsed = (written: unknown) => {
  const result = parseScript(written);
  if (!result.ok) throw new Error(sayIssues(result.error));
  return result.value;
};

const refused = (written: unknown) => {
  const result = parseScript(written);
  return result.ok ? "accepted" : sayIssues(result.error);
};

describe("a script in a file", () => {
  test("may write a reply as a plain text, as blocks or as the name of a fault", () => {
    const script = parsed({
      replies: [
        "hello",
        { blocks: [{ type: "tool_use", name: "Read", input: { a: [1, null] } }] },
        { named: "silence" },
      ],
    });
    expect(script.replies).toEqual([
      reply("hello"),
      reply({ type: "tool_use", name: "Read", input: { a: [1, null] } }),
      faultReply("silence"),
    ]);
  });

  test("may leave everything out", () => {
    expect(parsed({})).toEqual({ replies: [] });
    expect(parsed({ replies: [{}] }).replies).toEqual([{ blocks: [] }]);
  });

  test("may have rules, a last resort and a list of models", () => {
    const written = {
      rules: [{ when: { lastUserContains: "a" }, reply: "b", times: 2 }],
      otherwise: "c",
      models: ["m"],
    };
    expect(parsed(written)).toEqual({
      replies: [],
      rules: [{ when: { lastUserContains: "a" }, reply: reply("b"), times: 2 }],
      otherwise: reply("c"),
      models: ["m"],
    });
  });

  test.each(faultNames)("can name the fault %s, and a written-out fault reads back the same", (name) => {
    const spelled = parsed({ replies: [{ named: name }] }).replies;
    expect(spelled).toEqual([faultReply(name)]);
    expect(parsed(JSON.parse(JSON.stringify({ replies: spelled }))).replies).toEqual(spelled);
  });

  test.each([
    ["a misspelt property", { replys: [] }],
    ["a misspelt property of a reply", { replies: [{ block: [] }] }],
    ["an unknown fault", { replies: [{ named: "hiccup" }] }],
    ["an unknown kind of block", { replies: [{ blocks: [{ type: "song" }] }] }],
    ["an unknown stop", { replies: [{ stop: "end_turn" }] }],
    [
      "a status that is no error",
      { replies: [{ fault: { kind: "http", status: 200, type: "x", message: "y" } }] },
    ],
    ["a piece of no size", { replies: [{ chunkChars: 0 }] }],
    ["a rule that is never used", { rules: [{ when: {}, reply: "x", times: 0 }] }],
    ["something else altogether", 7],
  ])("is refused for %s", (_, written) => {
    expect(refused(written)).not.toBe("accepted");
  });
});

describe("placeholders", () => {
  test("are filled in every text, wherever it stands", () => {
    const script = {
      replies: [reply("in {{cwd}}", { type: "tool_use", name: "Read", input: { file_path: "{{cwd}}/a" } })],
    };
    expect(fillPlaceholders(script, { cwd: "/srv" })).toEqual({
      replies: [reply("in /srv", { type: "tool_use", name: "Read", input: { file_path: "/srv/a" } })],
    });
  });

  test("that have no value stay as they are", () => {
    expect(fillPlaceholders("{{cwd}} {{toString}}", {})).toBe("{{cwd}} {{toString}}");
  });

  test("leave numbers and nothing alone", () => {
    expect(fillPlaceholders({ a: 1, b: null, c: [true] }, { a: "x" })).toEqual({ a: 1, b: null, c: [true] });
  });
});
