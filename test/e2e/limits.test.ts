// Where a turn ends although the model would go on, and answers in a form that was asked for.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { lines, openStage } from "./stage.ts";

const again = reply("more", toolUse("Read", { file_path: "a.txt" }));

describe("limits", () => {
  test("--max-turns counts replies, and ends with 1 and its own subtype", async () => {
    const stage = await openStage({ replies: [], otherwise: again });
    const one = await stage.run(["-p", "go", "--max-turns", "1", "--output-format", "json"]);
    expect(one.code).toBe(1);
    expect(lines(one.stdout)[0]).toMatchObject({ subtype: "error_max_turns", is_error: true });
    expect(stage.server.requests).toHaveLength(1);
    const text = await stage.run(["-p", "go", "--max-turns", "2"]);
    expect(text).toMatchObject({ code: 1, stdout: "" });
    expect(text.stderr).toContain("limit of model replies");
    expect(stage.server.requests).toHaveLength(3);
  });

  test("--max-budget-usd ends the turn before the next request", async () => {
    const stage = await openStage({ replies: [], otherwise: { ...again, usage: { outputTokens: 100_000 } } });
    const ended = await stage.run(["-p", "go", "--max-budget-usd", "0.7", "--output-format", "json"]);
    expect(ended.code).toBe(1);
    expect(lines(ended.stdout)[0]).toMatchObject({ subtype: "error_max_budget_usd" });
    // Half a dollar each: the first is within the budget, the second passes it.
    expect(stage.server.requests).toHaveLength(2);
  });

  test("--max-budget-usd is refused for a model without a price, and nothing is asked or kept", async () => {
    const stage = await openStage({ replies: [], otherwise: reply("done") });
    const budget = ["--max-budget-usd", "0.7"];
    const home = ["-p", "go", "--model", "house-model", ...budget];
    const refused = await stage.run(home);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain("no price is known for the model house-model");
    const fallback = await stage.run(["-p", "go", ...budget, "--fallback-model", "house-model"]);
    expect(fallback.stderr).toContain("no price is known for the model house-model");
    expect(stage.server.requests).toEqual([]);
    expect(stage.sessions()).toEqual([]);

    // Whoever says what it costs has a budget.
    const rates = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWriteLong: 1 };
    const models = [{ id: "house-model", provider: "anthropic", prices: { ...rates, asOf: "2026-11-01" } }];
    const priced = await stage.run([...home, "--settings", JSON.stringify({ models })]);
    expect(priced).toMatchObject({ code: 0, stderr: "" });
    // Without a budget nobody needs a price.
    expect(await stage.run(["-p", "go", "--model", "house-model"])).toMatchObject({ code: 0 });
  });
});

describe("an answer in a form", () => {
  const schema = {
    type: "object",
    properties: { sum: { type: "integer" } },
    required: ["sum"],
    additionalProperties: false,
  };
  const answer = (input: Record<string, string | number>) => reply(toolUse("StructuredOutput", input));

  test("the answer fits the schema; a wrong one is sent back to the model", async () => {
    const stage = await openStage({ replies: [answer({ sum: "four" }), answer({ sum: 4 })] });
    const ended = await stage.run([
      "-p",
      "2+2?",
      "--json-schema",
      JSON.stringify(schema),
      "--output-format",
      "json",
    ]);
    expect(ended.code).toBe(0);
    expect(lines(ended.stdout)[0]).toMatchObject({ subtype: "success", structured_output: { sum: 4 } });
    expect(JSON.stringify(stage.server.requests[1]?.body["messages"])).toMatch(/sum.*must be integer/);
  });

  test("in text it is one line of JSON; the schema may stand in a file", async () => {
    const stage = await openStage({ replies: [reply("It is four."), answer({ sum: 4 })] });
    writeFileSync(path.join(stage.project, "sum.json"), JSON.stringify(schema));
    const ended = await stage.run(["-p", "2+2?", "--json-schema", "sum.json"]);
    expect(ended).toEqual({ code: 0, stdout: '{"sum":4}\n', stderr: "" });
  });

  test("a model that never gives it ends with 1", async () => {
    const stage = await openStage({ replies: [], otherwise: replyWith({}, "just words") });
    const ended = await stage.run([
      "-p",
      "2+2?",
      "--json-schema",
      JSON.stringify(schema),
      "--output-format",
      "json",
    ]);
    expect(ended.code).toBe(1);
    expect(lines(ended.stdout)[0]).toMatchObject({ subtype: "error_max_structured_output_retries" });
  });

  test.each([["nowhere.json"], ['{"type":"nonsense"}']])(
    "the schema %s is wrong use, and nothing was begun",
    async (given) => {
      const stage = await openStage({ replies: [] });
      const ended = await stage.run(["-p", "go", "--json-schema", given]);
      expect(ended).toMatchObject({ code: 64, stdout: "" });
      expect(stage.sessions()).toEqual([]);
    },
  );
});
