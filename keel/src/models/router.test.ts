import { afterEach, describe, expect, test } from "vitest";
import { toFault } from "../kernel/fault.ts";
import type { ModelRequest } from "../ports/model.ts";
import { type ModelServer, startModelServer } from "../testing/model-server.ts";
import { reply } from "../testing/reply.ts";
import { catalog } from "./catalog.ts";
import { openHttp } from "./http.ts";
import type { Endpoint } from "./providers.ts";
import { routedModel } from "./router.ts";

const http = openHttp();
let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
});

const request: ModelRequest = {
  model: "",
  system: [],
  tools: [],
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  maxOutputTokens: 1_000,
  thinking: { kind: "off" },
  session: "s",
};

async function router(home: "anthropic" | "openai", which: "both" | "home" = "both") {
  server = await startModelServer({ script: { replies: [], otherwise: reply("ok") } });
  const { requests, url } = server;
  const at: Record<string, Endpoint> = {
    anthropic: { provider: "anthropic", baseUrl: url },
    openai: { provider: "openai", baseUrl: `${url}/v1` },
  };
  const endpoints =
    which === "both" ? Object.values(at) : Object.values(at).filter(({ provider }) => provider === home);
  const known = catalog({ aliases: { fast: "openai/gpt-6-luna" } });
  const model = routedModel({
    home: at[home] as Endpoint,
    endpoints,
    catalog: known,
    http: http.send,
    now: () => 0,
  });
  /** The wire and the name on it, or the code of the fault. */
  const ask = async (name: string): Promise<string> => {
    try {
      for await (const _ of model.stream({ ...request, model: name }, AbortSignal.timeout(5_000)));
      const seen = requests.at(-1);
      return `${seen?.wire} ${seen?.body["model"]}`;
    } catch (thrown) {
      return toFault(thrown).code;
    }
  };
  return { model, ask };
}

describe("each request goes to the provider of its model", () => {
  test("by the provider's name, by what is known, by family, and by alias", async () => {
    const { ask } = await router("anthropic");
    expect(await ask("openai/qwen3")).toBe("openai qwen3");
    expect(await ask("anthropic/qwen3")).toBe("anthropic qwen3");
    expect(await ask("gpt-6-sol")).toBe("openai gpt-6-sol");
    expect(await ask("gpt-9-new")).toBe("openai gpt-9-new");
    expect(await ask("claude-sonnet-5-5")).toBe("anthropic claude-sonnet-5-5");
    expect(await ask("sonnet")).toBe("anthropic claude-sonnet-5-5");
    expect(await ask("fast")).toBe("openai gpt-6-luna");
  });

  test("a name that nobody knows is one of the session's own provider", async () => {
    expect(await (await router("anthropic")).ask("qwen3")).toBe("anthropic qwen3");
    await server?.close();
    expect(await (await router("openai")).ask("qwen3")).toBe("openai qwen3");
  });

  test("where only one provider is set up, a gateway may serve any model; a named provider is not replaced", async () => {
    const { ask, model } = await router("openai", "home");
    expect(await ask("claude-sonnet-5-5")).toBe("openai claude-sonnet-5-5");
    expect(await ask("anthropic/claude-sonnet-5-5")).toBe("key_missing");
    // What is known about it is still told: the engine asks before it sends.
    expect(model.info("anthropic/claude-sonnet-5-5")).toMatchObject({ provider: "anthropic" });
  });

  test("what is known of a model is what its provider serves it as", async () => {
    const { model } = await router("anthropic");
    expect(model.info("gpt-6-sol").prices?.input).toBe(2);
    expect(model.info("openai/claude-sonnet-5-5")).toMatchObject({ prices: null, windowTokens: 1_000_000 });
  });
});
