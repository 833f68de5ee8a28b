import { describe, expect, test } from "vitest";
import * as z from "zod";
import * as zodThree from "zod/v3";
import { all, sdkStage } from "../../../../test/support/sdk-stage.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import type { SDKMessage } from "../messages/messages.ts";
import { query } from "../query/query.ts";
import { createSdkMcpServer } from "./mcp-server.ts";
import { type AnyToolDefinition, tool } from "./tool.ts";
import type { StandardSchema } from "./tool-schema.ts";

const allow = async () => ({ behavior: "allow" as const });
const words = (text: string) => ({ content: [{ type: "text" as const, text }] });

async function run(definition: AnyToolDefinition, input: Record<string, unknown>, more: object = {}) {
  const { options, server } = await sdkStage({
    replies: [reply(toolUse(`mcp__own__${definition.name}`, input as never)), reply("Done.")],
  });
  const mcpServers = { own: createSdkMcpServer({ name: "own", tools: [definition], ...more }) };
  const messages = await all(query({ prompt: "go", options: { ...options, mcpServers, canUseTool: allow } }));
  const offered = (server.requests[0]?.body["tools"] ?? []) as { name: string; input_schema: unknown }[];
  return {
    messages,
    schema: offered.find(({ name }) => name.startsWith("mcp__own__"))?.input_schema,
    result: messages.find(({ type }) => type === "user") as Extract<SDKMessage, { type: "user" }>,
  };
}

describe("a tool of the program", () => {
  test("is offered under its server's name with its schema, and is called with what the schema made of the input", async () => {
    verifies("S2.14");
    const seen: unknown[] = [];
    const add = tool("add", "Adds", { a: z.number(), b: z.number().default(2) }, async (args) => {
      seen.push(args);
      return words(String(args.a + args.b));
    });
    const { messages, schema, result } = await run(add, { a: 1 });
    expect(seen).toEqual([{ a: 1, b: 2 }]);
    expect(schema).toMatchObject({ type: "object", required: ["a"] });
    expect(JSON.stringify(result.message)).toContain("3");
    expect(messages[0]).toMatchObject({ mcp_servers: [{ name: "own", status: "connected" }] });
  });

  test("takes shapes of zod 3: the model is told types and descriptions, and inputs are held against them", async () => {
    verifies("S2.14");
    const seen: unknown[] = [];
    const shape = {
      city: zodThree.string().min(2).describe("where"),
      days: zodThree.number().int().max(9).default(3),
      unit: zodThree.enum(["c", "f"]).optional(),
      places: zodThree
        .array(zodThree.object({ at: zodThree.string().email().nullable() }))
        .max(2)
        .optional(),
      kind: zodThree.union([zodThree.literal("a"), zodThree.boolean()]).optional(),
      notes: zodThree.record(zodThree.string(), zodThree.number()).optional(),
      when: zodThree
        .string()
        .transform((text) => text.length)
        .optional(),
    };
    const forecast = tool("forecast", "Forecasts", shape, async (args) => {
      seen.push(args);
      return words("sunny");
    });
    const { schema } = await run(forecast, { city: "Rome", when: "now" });
    expect(schema).toMatchObject({
      type: "object",
      required: ["city"],
      properties: {
        city: { type: "string", minLength: 2, description: "where" },
        days: { type: "integer", maximum: 9, default: 3 },
        unit: { type: "string", enum: ["c", "f"] },
        places: {
          type: "array",
          maxItems: 2,
          items: {
            type: "object",
            required: ["at"],
            properties: { at: { anyOf: [{ type: "string", format: "email" }, { type: "null" }] } },
          },
        },
        kind: { anyOf: [{ const: "a" }, { type: "boolean" }] },
        notes: { type: "object", additionalProperties: { type: "number" } },
        when: { type: "string" },
      },
    });
    expect(seen).toEqual([{ city: "Rome", days: 3, when: 3 }]);
    const bad = await run(forecast, { city: "R", days: 12 });
    expect(JSON.stringify(bad.result.message)).toContain("city");
    expect(seen).toHaveLength(1);
  });

  test("takes a whole object of zod 3, also of a release that is no Standard Schema yet", async () => {
    const whole: zodThree.ZodTypeAny = zodThree.object({
      a: zodThree.number(),
      next: zodThree.lazy(() => whole).optional(),
    });
    const { "~standard": _, ...older } = Object.assign(Object.create(Object.getPrototypeOf(whole)), whole);
    const sum = tool("sum", "Sums", older as never, async (args) => words(JSON.stringify(args)));
    expect((await run(sum, { a: 1 })).schema).toMatchObject({
      properties: { a: { type: "number" } },
      required: ["a"],
    });
  });

  test("takes any Standard Schema, whole or by field", async () => {
    const upper: StandardSchema<string> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) =>
          typeof value === "string" ? { value: value.toUpperCase() } : { issues: [{ message: "no text" }] },
        jsonSchema: { input: () => ({ type: "string" }) },
      },
    };
    const shout = tool("shout", "Shouts", { text: upper }, async ({ text }) => words(text));
    const good = await run(shout, { text: "hi" });
    expect(JSON.stringify(good.result.message)).toContain("HI");
    expect(good.schema).toMatchObject({ properties: { text: { type: "string" } }, required: ["text"] });
    const bad = await run(shout, { text: 1 });
    expect(JSON.stringify(bad.result.message)).toContain("no text");
  });

  test("an input that does not fit never reaches it", async () => {
    let called = false;
    const strict = tool("strict", "Strict", { a: z.number() }, async () => {
      called = true;
      return words("x");
    });
    const { result } = await run(strict, { a: "one" });
    expect(called).toBe(false);
    expect(JSON.stringify(result.message)).toContain('"is_error":true');
  });

  test("that throws or says so has failed, and the turn goes on", async () => {
    const throws = tool("throws", "Throws", {}, async () => {
      throw new Error("exploded");
    });
    const { result, messages } = await run(throws, {});
    expect(JSON.stringify(result.message)).toMatch(/exploded.*"is_error":true/);
    expect(messages.at(-1)).toMatchObject({ subtype: "success", result: "Done." });
    const says = tool("says", "Says", {}, async () => ({ ...words("bad luck"), isError: true }));
    expect(JSON.stringify((await run(says, {})).result.message)).toMatch(/bad luck.*"is_error":true/);
  });

  test("gives images to the model and data to the program", async () => {
    const data =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const draw = tool("draw", "Draws", {}, async () => ({
      content: [{ type: "image", data, mimeType: "image/png" }],
      structuredContent: { width: 1 },
    }));
    const { result } = await run(draw, {});
    expect(JSON.stringify(result.message)).toContain(data);
    expect(result.tool_use_result).toEqual({ width: 1 });
  });

  test("is stopped at its server's time, and not before", async () => {
    const slow = tool("slow", "Slow", {}, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return words("never seen");
    });
    const { result } = await run(slow, {}, { timeout: 50 });
    expect(JSON.stringify(result.message)).toContain("too long");
  });

  test("two of one name in a server are wrong use", () => {
    const one = tool("one", "One", {}, async () => words("1"));
    expect(() => createSdkMcpServer({ name: "own", tools: [one, one] })).toThrow("two tools");
  });
});
