import { describe, expect, test } from "vitest";
import { all, sdkStage } from "../../../../test/support/sdk-stage.ts";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { thinkingFields } from "../../models/anthropic/thinking.ts";
import { catalog, infoOn } from "../../models/catalog.ts";
import { effortField, traitsFor } from "../../models/openai/traits.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { Effort, SessionSettings, ThinkingMode } from "../../protocol/settings.ts";
import { query } from "../../sdk/query/query.ts";
import { reply } from "../../testing/reply.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { effortsAt, unmetWishes } from "./wishes.ts";

const known = catalog();

/** The fields of the wire, as the engine asks and the adapter writes. */
async function told(model: string, settings: Partial<SessionSettings>): Promise<string> {
  const info = known.info(model);
  const scripted = scriptedModel({ replies: [reply("ok")] }, { info });
  const { say } = await openTestSession({ model: scripted, settings: { model, ...settings } });
  await say("hello");
  const request = { ...(scripted.requests[0] as ModelRequest), tools: [] };
  const fields =
    info.provider === "openai"
      ? { effort: effortField(request, traitsFor(model, { baseUrl: "https://api.openai.com/v1" }).effort) }
      : thinkingFields(request, info);
  return Object.values(fields)
    .flatMap((field) => (typeof field === "object" ? Object.values(field) : [field]))
    .filter((word) => word !== undefined && word !== "summarized")
    .join(" ");
}

describe("every model of the catalog", () => {
  test("is told what is usual for it when nobody says anything, and how not to think", async () => {
    const rows = await Promise.all(
      known.list().map(async ({ id }) => {
        const unsaid = await told(id, { thinking: { kind: "usual" } });
        const off = await told(id, { thinking: { kind: "off" } });
        return [
          id,
          unsaid || "nothing",
          off || "nothing",
          effortsAt(known.info(id)).join(" ") || "none",
        ].join(" | ");
      }),
    );
    expect(rows).toMatchInlineSnapshot(`
      [
        "claude-fable-5-1 | adaptive | nothing | low medium high xhigh max",
        "claude-fable-5 | adaptive | nothing | low medium high xhigh max",
        "claude-opus-5-5 | adaptive | nothing | low medium high xhigh max",
        "claude-opus-5 | adaptive | disabled | low medium high xhigh max",
        "claude-opus-4-8 | adaptive | nothing | low medium high xhigh max",
        "claude-opus-4-7 | adaptive | nothing | low medium high xhigh max",
        "claude-opus-4-6 | adaptive | nothing | low medium high max",
        "claude-opus-4-5 | nothing | nothing | low medium high",
        "claude-opus-4-1 | nothing | nothing | none",
        "claude-sonnet-5-5 | adaptive | between_tools | low medium high xhigh max",
        "claude-sonnet-5 | adaptive | disabled | low medium high xhigh max",
        "claude-sonnet-4-6 | adaptive | nothing | low medium high max",
        "claude-sonnet-4-5 | nothing | nothing | none",
        "claude-haiku-5-5 | adaptive | disabled | low medium high xhigh max",
        "claude-haiku-4-5 | nothing | nothing | none",
        "gpt-6-sol | nothing | nothing | low medium high xhigh",
        "gpt-6-luna | nothing | nothing | low medium high xhigh",
        "gpt-5.6-luna | nothing | nothing | low medium high xhigh",
        "gpt-5.4 | nothing | nothing | low medium high xhigh",
        "gpt-5.4-mini | nothing | nothing | low medium high xhigh",
        "gpt-4.1 | nothing | nothing | none",
        "gemini-3-pro-preview | adaptive | nothing | low medium high",
        "gemini-2.5-pro | adaptive | nothing | none",
        "gemini-2.5-flash | adaptive | disabled | none",
        "gemini-2.5-flash-lite | adaptive | disabled | none",
      ]
    `);
  });
});

describe("what a model does not take", () => {
  const wish = (
    model: string,
    more: { thinking?: ThinkingMode; effort?: Effort },
    tools: "some" | "none" = "some",
  ) => unmetWishes(more, known.info(model), tools).map(({ level, text }) => `${level}: ${text}`);

  test.each<[string, { thinking?: ThinkingMode; effort?: Effort }, string[]]>([
    ["claude-sonnet-5-5", { thinking: { kind: "adaptive" }, effort: "max" }, []],
    ["claude-sonnet-5-5", { thinking: { kind: "usual" } }, []],
    [
      "claude-opus-5-5",
      { thinking: { kind: "off" } },
      ["warning: claude-opus-5-5 always thinks: it cannot be told not to."],
    ],
    [
      "claude-haiku-4-5",
      { effort: "high" },
      ["warning: claude-haiku-4-5 takes no level of effort: high is not sent."],
    ],
    [
      "claude-opus-4-6",
      { effort: "xhigh" },
      ["warning: claude-opus-4-6 does not take effort xhigh: high is sent."],
    ],
    [
      "claude-opus-5",
      { thinking: { kind: "off" }, effort: "max" },
      ["warning: claude-opus-5 does not take effort max without thinking: high is sent."],
    ],
    [
      "claude-opus-4-7",
      { thinking: { kind: "budget", tokens: 9_000 } },
      ["info: claude-opus-4-7 judges itself how much to think: 9000 tokens are not sent."],
    ],
    ["claude-haiku-4-5", { thinking: { kind: "budget", tokens: 9_000 } }, []],
    [
      "gpt-4.1",
      { thinking: { kind: "adaptive" } },
      ["warning: gpt-4.1 is not told to think: nothing is known of how."],
    ],
    ["gpt-6-sol", { effort: "high" }, []],
    ["gpt-6-sol", { effort: "max" }, ["warning: gpt-6-sol does not take effort max: xhigh is sent."]],
    [
      "gemini-3-pro-preview",
      { thinking: { kind: "off" } },
      ["warning: gemini-3-pro-preview always thinks: it cannot be told not to."],
    ],
  ])("%s with %o: %o", (model, wishes, said) => {
    expect(wish(model, wishes)).toEqual(said);
  });

  test("over chat completions a model may take without tools what it does not take with them", () => {
    const info = infoOn("chat", known.info("gpt-6-sol"));
    const said = "gpt-6-sol calls tools only when it does not think: effort high is not sent.";
    expect(unmetWishes({ effort: "high" }, info, "some")).toEqual([{ level: "warning", text: said }]);
    expect(unmetWishes({ effort: "high" }, info, "none")).toEqual([]);
  });

  test("is told to whoever asked for it, at the start and later, and not sent", async () => {
    verifies("S0.13");
    const { options, server } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const heard: string[] = [];
    const stderr = (words: string) => void heard.push(words);
    const asked = query({
      prompt: "hi",
      options: { ...options, model: "claude-haiku-4-5", effort: "low", stderr },
    });
    await all(asked);
    expect(heard.join("")).toContain("claude-haiku-4-5 takes no level of effort: low is not sent.");
    expect(server.requests[0]?.body).not.toHaveProperty("output_config");

    const running = query({
      prompt: "hi",
      options: { ...options, model: "claude-opus-4-6", keepOpen: true },
    });
    for await (const message of running) if (message.type === "result") break;
    expect(server.requests[1]?.body).toMatchObject({ thinking: { type: "adaptive" } });
  });

  test("is told when the model becomes another one", async () => {
    const { options } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const running = query({
      prompt: "hi",
      options: { ...options, model: "claude-opus-4-6", effort: "high", keepOpen: true },
    });
    const words: string[] = [];
    for await (const message of running) {
      if (message.type === "system" && message.subtype === "informational") words.push(message.content);
      if (message.type !== "result") continue;
      if (words.length > 0) break;
      await running.setModel("claude-haiku-4-5");
      await running.streamInput(of("more"));
    }
    running.close();
    expect(words).toEqual(["claude-haiku-4-5 takes no level of effort: high is not sent."]);
  });
});

async function* of(content: string) {
  yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null } as const;
}
