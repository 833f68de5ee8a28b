import { afterEach, expect, test } from "vitest";
import { type Loopback, loopback } from "../../../test/support/loopback.ts";
import { catalog } from "./catalog.ts";
import { openHttp } from "./http.ts";
import {
  askEndpoint,
  findLocalServers,
  kindAt,
  type LocalKind,
  localKinds,
  sayLocalModel,
} from "./local-servers.ts";

const http = openHttp();
const servers: Loopback[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A server of this kind, as its published pages have it, at a port of its own. */
async function serve(name: string, pages: Readonly<Record<string, unknown>>): Promise<LocalKind> {
  const server = await loopback((response, { method, path, body }) => {
    const model = method === "POST" ? ` ${JSON.parse(body).model}` : "";
    const page = pages[`${path}${model}`];
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(page ?? {}));
  });
  servers.push(server);
  const kind = localKinds.find((one) => one.name === name);
  if (!kind) throw new Error(`there is no ${name}`);
  return { ...kind, port: Number(new URL(server.url).port) };
}

const soon = () => AbortSignal.timeout(3_000);

const pages = {
  Ollama: {
    "/api/tags": { models: [{ name: "qwen3:8b" }, { name: "llava:7b" }] },
    "/api/show qwen3:8b": {
      model_info: { "qwen3.context_length": 40_960 },
      capabilities: ["completion", "tools", "thinking"],
    },
    "/api/show llava:7b": {
      model_info: { "llama.context_length": 4_096 },
      capabilities: ["completion", "vision"],
    },
  },
  "LM Studio": {
    "/api/v0/models": {
      data: [
        { id: "gemma", type: "vlm", max_context_length: 131_072, loaded_context_length: 8_192 },
        { id: "nomic", type: "embeddings", max_context_length: 2_048 },
        { id: "coder", type: "llm", max_context_length: 32_768, capabilities: ["tool_use"] },
      ],
    },
  },
  "llama.cpp": {
    "/props": { default_generation_settings: { n_ctx: 16_384 }, modalities: { vision: true } },
    "/v1/models": { data: [{ id: "local.gguf" }] },
  },
  vLLM: { "/v1/models": { data: [{ id: "Qwen/Qwen3", max_model_len: 65_536 }] } },
};

test.each([
  ["Ollama", ["qwen3:8b (40,960 tokens, tools)", "llava:7b (4,096 tokens, no tools, images)"]],
  ["LM Studio", ["gemma (8,192 tokens, images)", "coder (32,768 tokens, tools)"]],
  ["llama.cpp", ["local.gguf (16,384 tokens, images)"]],
  ["vLLM", ["Qwen/Qwen3 (65,536 tokens)"]],
] as const)("%s says what its models can hold and do", async (name, said) => {
  const kind = await serve(name, pages[name]);
  const [found] = await findLocalServers(http.send, soon(), [kind]);
  expect(found).toMatchObject({ name, baseUrl: `http://127.0.0.1:${kind.port}/v1` });
  expect(found?.models.map(sayLocalModel)).toEqual(said);
});

test("whoever answers otherwise, takes too long or is not there is not found", async () => {
  const stranger = await serve("llama.cpp", { "/props": { hello: 1 } });
  const silent = await loopback(() => undefined);
  servers.push(silent);
  const gone = await loopback(() => undefined);
  await gone.close();
  const portOf = ({ url }: Loopback) => Number(new URL(url).port);
  const [ollama] = localKinds;
  if (!ollama) throw new Error("the table is empty");
  const kinds = [stranger, { ...ollama, port: portOf(silent) }, { ...ollama, port: portOf(gone) }];
  expect(await findLocalServers(http.send, AbortSignal.timeout(300), kinds)).toEqual([]);
});

test("what a server says of its models is what is known of them, and settings come after it", async () => {
  const kind = await serve("Ollama", pages.Ollama);
  const endpoint = { provider: "openai", baseUrl: `http://127.0.0.1:${kind.port}/v1` };
  const extra = await askEndpoint(endpoint, http.send, soon(), [kind]);
  const known = catalog({ extra: [...extra, { id: "qwen3:8b", maxOutputTokens: 99 }] });
  expect(known.info("openai/qwen3:8b")).toMatchObject({
    windowTokens: 40_960,
    maxOutputTokens: 99,
    prices: null,
  });
  expect(known.info("openai/llava:7b").abilities).toMatchObject({ tools: false, images: true });
  expect(
    await askEndpoint({ ...endpoint, baseUrl: "http://127.0.0.1:1/v1" }, http.send, soon(), [kind]),
  ).toEqual([]);
});

test("only this machine is asked, and only at the ports of the table", () => {
  expect(kindAt("http://127.0.0.1:11434/v1")?.name).toBe("Ollama");
  expect(kindAt("http://localhost:1234/v1")?.name).toBe("LM Studio");
  expect(kindAt("http://10.0.0.7:11434/v1")).toBeUndefined();
  expect(kindAt("http://127.0.0.1:11435/v1")).toBeUndefined();
});
