// What was said, in spans: by a person's wish only, never with a secret, and in the form that the conventions define.
import { describe, expect, test } from "vitest";
import { writeTrace } from "../keel/src/app/time/trace-session.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { text } from "../keel/src/protocol/message.ts";
import { envelopes, opened } from "../keel/src/testing/store-suite-events.ts";
import type { ContentCover } from "../keel/src/time/trace/contents.ts";
import { spansOf, type TraceSpan } from "../keel/src/time/trace/spans.ts";
import { simulate } from "./simulation/run.ts";
import { countOf, seed } from "./support/budget.ts";
import { planted, plantedSession, spellingsOf } from "./support/planted-secrets.ts";
import { verifies } from "./support/verifies.ts";
import { type SentSpan, testCollector } from "./telemetry/collector.ts";
import {
  contentSchemas,
  inputMessages,
  outputMessages,
  systemInstructions,
  toolDefinitions,
  toolObject,
} from "./telemetry/messages.ts";

const patience = { timeout: 60 * 60_000 };

const foundIn = (bytes: string): string[] =>
  planted.filter((secret) => spellingsOf(secret).some((spelling) => bytes.includes(spelling)));

const contentOf = ({ attributes }: SentSpan): Record<string, unknown> =>
  Object.fromEntries(
    attributes.flatMap(({ key, value }) =>
      key in contentSchemas && "stringValue" in value ? [[key, JSON.parse(value.stringValue)]] : [],
    ),
  );

const wrongIn = (attributes: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(contentSchemas).flatMap(([name, schema]) => {
    const value = attributes[name];
    if (value === undefined) return [];
    const parsed = schema.safeParse(typeof value === "string" ? JSON.parse(value) : value);
    return parsed.success ? [] : [`${name}: ${JSON.stringify(parsed.error.issues)}`];
  });

describe("thirty secrets in a session whose spans are sent", () => {
  test("are not there without a wish for what was said, nor is anything else of it", patience, async () => {
    verifies("P31");
    const collector = await testCollector();
    await plantedSession({ telemetry: { endpoint: collector.url } });
    const bytes = collector.bodies.join("\n");
    expect(collector.spans.size).toBeGreaterThan(10);
    expect(foundIn(bytes)).toEqual([]);
    expect(bytes).not.toMatch(/message 1|keys\.txt|Task of ants|AGENTS|\[hidden\]/);
    for (const name of Object.keys(contentSchemas)) expect(bytes).not.toContain(name);
  });

  test("are covered where what was said is wanted, and the rest of it is there", patience, async () => {
    verifies("P31");
    const collector = await testCollector();
    const { options, home, id } = await plantedSession({
      telemetry: { endpoint: collector.url, contents: true },
    });
    const bytes = collector.bodies.join("\n");
    expect(foundIn(bytes)).toEqual([]);
    expect(collector.problems).toEqual([]);
    const spans = [...collector.spans.values()];
    const said = spans.map(contentOf);
    expect(said.flatMap(wrongIn)).toEqual([]);
    for (const words of ["message 1", "message 2", "cat keys.txt", "Task of ants", "[hidden]", "It said"])
      expect(JSON.stringify(said), words).toContain(words);
    // Each message is told once, however long the session grows.
    expect(JSON.stringify(said).split("message 1").length).toBe(2);
    // By hand it is the same wish.
    const place = { ...options, sessions: home.sessions };
    const wish = { id, version: "0", names: undefined };
    const wanted = await writeTrace(place, { ...wish, contents: true }, "otlp");
    expect(foundIn(wanted)).toEqual([]);
    expect(wanted).toContain("message 2");
    expect(await writeTrace(place, wish, "otlp")).not.toContain("message 2");
  });
});

const noCover: ContentCover = { hear: () => undefined, cover: (value) => value };
const wished = { providerOf: () => "simulated", contents: noCover };

describe("what was said, in spans", () => {
  test("has the form of the conventions, in sessions that go wrong in every way", patience, async () => {
    verifies("P31");
    const counts = new Map<string, number>();
    for (let offset = 0; offset < countOf("traced-contents"); offset++) {
      const { logs } = await simulate(seed() + offset);
      for (const lines of logs.values()) {
        const events = lines.map((line): Durable => JSON.parse(line));
        for (const { attributes } of spansOf({ events, agents: [] }, wished)) {
          expect(wrongIn(attributes), `seed ${seed() + offset}`).toEqual([]);
          for (const name of Object.keys(attributes)) counts.set(name, (counts.get(name) ?? 0) + 1);
        }
      }
    }
    for (const name of Object.keys(contentSchemas)) expect(counts.get(name) ?? 0, name).toBeGreaterThan(0);
  });

  test("is what was new to a request, what it answered, and what came of its calls", () => {
    const call = { type: "tool_use" as const, id: "c1", name: "Read", input: { file_path: "a.txt" } };
    const asked = (requestId: string) =>
      ({
        type: "model.started",
        requestId,
        model: "m",
        purpose: "turn",
        attempt: 1,
      }) as const;
    const answered = (requestId: string, content: object[], stop: "end" | "tool_use") =>
      ({
        type: "model.finished",
        requestId,
        messageId: requestId,
        model: "m",
        content,
        stop,
        usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
        costUsd: 0,
        ms: 1,
      }) as never;
    const session = crypto.randomUUID();
    const input = {
      id: "i1",
      from: { kind: "person" as const },
      content: [text("Look.")],
      when: "now" as const,
    };
    const picture = { type: "image" as const, mediaType: "image/png", data: "AAAA" };
    const events = envelopes(session, [
      opened("/"),
      {
        type: "prompt.fixed",
        system: ["Be brief."],
        tools: [{ name: "Read", description: "Reads.", input: { type: "object" } }],
        why: "first",
      },
      { type: "input.accepted", input },
      { type: "turn.started", turnId: "t1", inputIds: ["i1"], context: ["It is Monday."] },
      asked("r1"),
      answered("r1", [{ type: "thinking", text: "Hm." }, call], "tool_use"),
      {
        type: "tool.finished",
        callId: "c1",
        tool: "Read",
        content: [text("one"), picture],
        failed: false,
        display: { kind: "text", text: "one" },
        ms: 1,
      },
      asked("r2"),
      answered("r2", [text("Done.")], "end"),
    ]);
    const spans = spansOf({ events, agents: [] }, wished);
    const shown = (name: string): Record<string, unknown> => {
      const attributes: TraceSpan["attributes"] =
        spans.find((span) => JSON.stringify(span.attributes).includes(name))?.attributes ?? {};
      return Object.fromEntries(
        Object.entries(attributes).flatMap(([key, value]) =>
          key in contentSchemas ? [[key, JSON.parse(String(value))]] : [],
        ),
      );
    };
    const result = { parts: [{ type: "text", content: "one" }, generic("image", "image/png", 4)] };
    expect(shown("Be brief.")).toEqual({
      "gen_ai.system_instructions": [{ type: "text", content: "Be brief." }],
      "gen_ai.tool.definitions": [
        { type: "function", name: "Read", description: "Reads.", parameters: { type: "object" } },
      ],
      "gen_ai.input.messages": [
        { role: "user", parts: [{ type: "text", content: "Look." }] },
        { role: "user", parts: [{ type: "text", content: "It is Monday." }] },
      ],
      "gen_ai.output.messages": [
        {
          role: "assistant",
          parts: [
            { type: "reasoning", content: "Hm." },
            { type: "tool_call", id: "c1", name: "Read", arguments: { file_path: "a.txt" } },
          ],
          finish_reason: "tool_call",
        },
      ],
    });
    expect(shown("gen_ai.tool.call.result")).toEqual({
      "gen_ai.tool.call.arguments": { file_path: "a.txt" },
      "gen_ai.tool.call.result": result,
    });
    expect(shown("Done.")).toEqual({
      "gen_ai.input.messages": [
        { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: result.parts }] },
      ],
      "gen_ai.output.messages": [
        { role: "assistant", parts: [{ type: "text", content: "Done." }], finish_reason: "stop" },
      ],
    });
  });
});

const generic = (kind: string, mime: string, characters: number) => ({
  type: "generic",
  generic_type: kind,
  mime_type: mime,
  characters,
});

/** The cases of the conventions' own repository, as far as they are about what a harness writes. */
describe("the schemas that this is held to", () => {
  test.each([
    ["a part without its content", inputMessages, [{ role: "user", parts: [{ type: "text" }] }], false],
    ["a message without parts", inputMessages, [{ role: "user" }], false],
    ["a message without a role", inputMessages, [{ parts: [] }], false],
    ["text", inputMessages, [{ role: "user", parts: [{ type: "text", content: "Rain?" }] }], true],
    [
      "a call and its response",
      inputMessages,
      [
        { role: "assistant", parts: [{ type: "tool_call", id: "c", name: "w", arguments: { at: "here" } }] },
        { role: "tool", parts: [{ type: "tool_call_response", id: "c", response: "rain" }] },
      ],
      true,
    ],
    [
      "a response without one",
      inputMessages,
      [{ role: "tool", parts: [{ type: "tool_call_response", id: "c" }] }],
      false,
    ],
    [
      "a part of the provider's own",
      inputMessages,
      [{ role: "user", parts: [{ type: "generic", generic_type: "search_result", source: "a" }] }],
      true,
    ],
    [
      "reasoning",
      outputMessages,
      [{ role: "assistant", parts: [{ type: "reasoning", content: "Hm." }], finish_reason: "stop" }],
      true,
    ],
    [
      "a reason that is a number",
      outputMessages,
      [{ role: "assistant", parts: [], finish_reason: 0 }],
      false,
    ],
    ["parts that are no list", outputMessages, [{ role: "assistant", parts: {}, finish_reason: "" }], false],
    ["instructions as text", systemInstructions, [{ type: "text", content: "Be kind." }], true],
    ["instructions as a bare text", systemInstructions, ["Be kind."], false],
    ["a call in instructions", systemInstructions, [{ type: "tool_call", name: "w" }], false],
    ["a tool", toolDefinitions, [{ type: "function", name: "w", parameters: {} }], true],
    ["a tool without a name", toolDefinitions, [{ type: "function" }], false],
    ["a tool without a type", toolDefinitions, [{ name: "w" }], false],
    ["arguments as an object", toolObject, { at: "here" }, true],
    ["arguments as text", toolObject, '{"at":"here"}', false],
    ["a result as a list", toolObject, [{ degrees: 14 }], false],
  ])("take or refuse %s as the published cases do", (_, schema, document, isValid) => {
    expect(schema.safeParse(document).success).toBe(isValid);
  });
});
