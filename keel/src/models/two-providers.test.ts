// Which model, and where, when OpenAI or a server that speaks its wire is set up, alone or beside Anthropic.
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { startModelServer } from "../testing/model-server.ts";
import { catalog } from "./catalog.ts";
import { readEndpoints } from "./endpoints.ts";
import { openHttp } from "./http.ts";
import { listModels } from "./list-models.ts";
import { type ModelSources, resolveModel, resolveNamed } from "./resolve.ts";

const known = catalog({
  extra: [
    { id: "house-model", provider: "openai", windowTokens: 32_000 },
    { id: "odd-model", windowTokens: 16_000 },
  ],
  aliases: { fast: "openai/gpt-6-luna" },
});
const anthropic = { ANTHROPIC_API_KEY: "sk-ant-canary" };
const openai = { OPENAI_API_KEY: "sk-canary" };
const ollama = { OPENAI_BASE_URL: "http://127.0.0.1:11434/v1" };
const both = { ...anthropic, ...openai };

const resolve = (sources: Partial<ModelSources>, listed: string[] = []) =>
  resolveModel({ env: {}, ...sources }, { catalog: known, list: async () => listed });

/** `model at provider`, or the code of the fault. */
async function chosen(sources: Partial<ModelSources>, listed: string[] = []): Promise<string> {
  const found = await resolve(sources, listed);
  return found.ok ? `${found.value.model} at ${found.value.endpoint.provider}` : found.error.code;
}

describe("with OpenAI alone", () => {
  test("its key means its default model at its own address", async () => {
    verifies("P9");
    expect(await chosen({ env: openai })).toBe("gpt-6-sol at openai");
    const found = await resolve({ env: openai });
    expect(found).toMatchObject({
      value: { endpoint: { baseUrl: "https://api.openai.com/v1", credential: { value: "sk-canary" } } },
    });
  });

  test("a base URL needs no key, and the one model that is listed there is taken", async () => {
    expect(await chosen({ env: ollama }, ["qwen3:8b"])).toBe("openai/qwen3:8b at openai");
    expect(await chosen({ env: ollama }, ["a", "b"])).toBe("no_model");
    const several = await resolve({ env: ollama }, ["a", "b"]);
    expect(several.ok ? "" : several.error.message).toMatch(/11434.*name one with --model: a, b/);
  });

  test("a key beside another address does not mean that OpenAI's models are there", async () => {
    expect(await chosen({ env: { ...ollama, OPENAI_API_KEY: "any" } }, ["qwen3:8b"])).toBe(
      "openai/qwen3:8b at openai",
    );
  });

  test("a named model is taken as it is, and keeps the provider's name where it would lead elsewhere later", async () => {
    expect(await chosen({ flag: "qwen3", env: ollama })).toBe("openai/qwen3 at openai");
    expect(await chosen({ flag: "openai/qwen3", env: ollama })).toBe("openai/qwen3 at openai");
    expect(await chosen({ flag: "gpt-6-sol", env: openai })).toBe("gpt-6-sol at openai");
    expect(await chosen({ flag: "claude-sonnet-5-5", env: ollama })).toBe(
      "openai/claude-sonnet-5-5 at openai",
    );
    expect(await chosen({ flag: "openai/anthropic/claude-x", env: ollama })).toBe(
      "openai/anthropic/claude-x at openai",
    );
    expect(await chosen({ flag: "openai/openai/gpt-x", env: ollama })).toBe("openai/openai/gpt-x at openai");
    expect(await chosen({ flag: "anthropic/claude-x", env: ollama })).toBe("key_missing");
  });

  test("a name that was resolved once leads to the same place again, whatever is set up beside it", async () => {
    for (const flag of [
      "qwen3",
      "gpt-6-sol",
      "claude-sonnet-5-5",
      "openai/anthropic/claude-x",
      "openai/openai/gpt-x",
      "house-model",
      "odd-model",
    ]) {
      const first = await resolve({ flag, env: ollama });
      const logged = first.ok ? first.value.model : "";
      expect(await chosen({ logged, env: { ...ollama, ...anthropic } })).toBe(`${logged} at openai`);
    }
  });

  test.each([
    ["http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"],
    ["http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"],
    ["http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"],
    ["https://gw.example/openai/v1/chat/completions", "https://gw.example/openai/v1"],
    ["https://gw.example/v1beta/openai", "https://gw.example/v1beta/openai"],
  ])("%s is the address %s", async (given, address) => {
    const found = await resolve({ flag: "m", env: { OPENAI_BASE_URL: given } });
    expect(found).toMatchObject({ value: { endpoint: { baseUrl: address } } });
  });
});

describe("with both providers", () => {
  test("nothing named means the first that has a key and a default", async () => {
    expect(await chosen({ env: both })).toBe("claude-sonnet-5-5 at anthropic");
    expect(await chosen({ env: { ...openai, ANTHROPIC_BASE_URL: "http://127.0.0.1:9" } })).toBe(
      "gpt-6-sol at openai",
    );
  });

  test("the provider's name decides, then what is known, then the family", async () => {
    expect(await chosen({ flag: "openai/qwen3", env: both })).toBe("openai/qwen3 at openai");
    expect(await chosen({ flag: "anthropic/qwen3", env: both })).toBe("qwen3 at anthropic");
    expect(await chosen({ flag: "gpt-6-luna", env: both })).toBe("gpt-6-luna at openai");
    expect(await chosen({ flag: "house-model", env: both })).toBe("house-model at openai");
    expect(await chosen({ flag: "gpt-9-new", env: both })).toBe("gpt-9-new at openai");
    expect(await chosen({ flag: "claude-new-9", env: both })).toBe("claude-new-9 at anthropic");
    expect(await chosen({ flag: "fast", env: both })).toBe("gpt-6-luna at openai");
    expect(await chosen({ flag: "anthropic/sonnet", env: both })).toBe("claude-sonnet-5-5 at anthropic");
  });

  test("a name that nobody knows is asked back, with both ways to say it", async () => {
    const found = await resolve({ flag: "qwen3", env: both });
    expect(found).toMatchObject({ ok: false, error: { code: "usage" } });
    expect(found.ok ? "" : found.error.message).toMatch(/anthropic\/qwen3 or openai\/qwen3/);
    expect(await chosen({ flag: "odd-model", env: both })).toBe("usage");
  });

  test("a name from a log was understood once and is understood again", async () => {
    expect(await chosen({ logged: "qwen3", env: both })).toBe("qwen3 at anthropic");
    expect(await chosen({ flag: "gpt-6-sol", logged: "qwen3", env: both })).toBe("gpt-6-sol at openai");
  });

  test("a provider's own variable names a model of that provider", async () => {
    expect(await chosen({ env: { ...both, OPENAI_MODEL: "qwen3" } })).toBe("openai/qwen3 at openai");
    expect(await chosen({ env: { ...both, ANTHROPIC_MODEL: "qwen3", OPENAI_MODEL: "other" } })).toBe(
      "qwen3 at anthropic",
    );
    expect(await chosen({ env: { ...anthropic, OPENAI_MODEL: "gpt-6-sol" } })).toBe(
      "claude-sonnet-5-5 at anthropic",
    );
  });
});

describe("a fallback", () => {
  const usable = (env: Record<string, string>) => {
    const found = readEndpoints({ env });
    return found.ok ? found.value : [];
  };
  const named = (name: string, env: Record<string, string>) => {
    const found = resolveNamed(name, usable(env), known);
    return found.ok ? found.value.model : `${found.error.code}: ${found.error.message}`;
  };

  test("may be one of another provider, and says when that one has no key", () => {
    expect(named("openai/gpt-6-sol", both)).toBe("gpt-6-sol");
    expect(named("openai/qwen3", both)).toBe("openai/qwen3");
    expect(named("haiku", both)).toBe("claude-haiku-5-5");
    expect(named("openai/gpt-6-sol", anthropic)).toBe("key_missing: No key for OpenAI.");
    expect(named("qwen3", both)).toMatch(/^usage: .*not clear/);
  });
});

describe("a real server of this wire", () => {
  const http = openHttp();
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  test("lists its models under its base URL", async () => {
    const server = await startModelServer({
      script: { replies: [], models: ["only-one"] },
      key: "sk-canary",
    });
    closers.push(server.close);
    const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "sk-canary" };
    const never = new AbortController().signal;
    const found = await resolveModel(
      { env },
      { catalog: known, list: (endpoint) => listModels(endpoint, http.send, never) },
    );
    expect(found).toMatchObject({ ok: true, value: { model: "openai/only-one" } });
    expect(server.others).toMatchObject([{ wire: "openai", path: "/v1/models" }]);
  });
});
