import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSession } from "../../../../test/support/open-session.ts";
import { text } from "../../protocol/message.ts";
import { startModelServer } from "../../testing/model-server.ts";
import { reply } from "../../testing/reply.ts";
import { usableFallbacks } from "./model.ts";

const settings = {};
const anthropic = { ANTHROPIC_API_KEY: "sk-ant-canary" };

describe("the fallback chain", () => {
  test("is what can be asked, by the names under which it is asked", () => {
    const env = { ...anthropic, OPENAI_BASE_URL: "http://127.0.0.1:11434" };
    const { usable, problems } = usableFallbacks(["haiku", "openai/qwen3", "gpt-6-luna"], { env, settings });
    expect(usable).toEqual(["claude-haiku-5-5", "openai/qwen3", "gpt-6-luna"]);
    expect(problems).toEqual([]);
  });

  test("leaves out a provider that has no key, and says so at the start", () => {
    const { usable, problems } = usableFallbacks(["openai/gpt-6-luna", "haiku"], {
      env: anthropic,
      settings,
    });
    expect(usable).toEqual(["claude-haiku-5-5"]);
    expect(problems).toEqual([expect.stringMatching(/openai\/gpt-6-luna is left out: No key for OpenAI\./)]);
  });

  test("leaves out a name that could be of either provider", () => {
    const env = { ...anthropic, OPENAI_API_KEY: "sk-canary" };
    const { usable, problems } = usableFallbacks(["qwen3"], { env, settings });
    expect(usable).toEqual([]);
    expect(problems[0]).toMatch(/anthropic\/qwen3 or openai\/qwen3/);
  });
});

describe("a session with a server of the chat wire", () => {
  test("takes its one model, and goes on with it although another provider has been set up meanwhile", async () => {
    const server = await startModelServer({
      script: { replies: [], otherwise: reply("ok"), models: ["qwen3"] },
    });
    const folder = mkdtempSync(path.join(tmpdir(), "keel-two-"));
    onTestFinished(async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const env = { OPENAI_BASE_URL: server.url, KEEL_HOME: path.join(folder, "home") };
    const options = { version: "test", cwd: folder, env };
    const first = await openSession({ ...options, fallbackModels: ["anthropic/claude-haiku-5-5"] });
    expect(first.info).toMatchObject({ model: "openai/qwen3", provider: "openai", keySource: "none" });
    expect(first.notices.map(({ text: words }) => words).join()).toMatch(
      /claude-haiku-5-5 is left out: No key for Anthropic/,
    );
    await first.submit({ type: "input", content: [text("hi")] });
    await first.idle();
    await first.close("ended");

    const both = { ...env, ANTHROPIC_API_KEY: "sk-ant-canary", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    const again = await openSession({
      ...options,
      env: both,
      which: { kind: "resume", from: { session: first.id } },
    });
    await again.submit({ type: "input", content: [text("and again")] });
    await again.idle();
    await again.close("ended");
    expect(server.requests.map(({ wire, body }) => [wire, body["model"]])).toEqual([
      ["openai", "qwen3"],
      ["openai", "qwen3"],
    ]);
  });
});
