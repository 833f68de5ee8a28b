import { describe, expect, test } from "vitest";
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
