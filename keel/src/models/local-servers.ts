/**
 * Servers of models on this machine, found by the ports at which they listen. What a model's window is and what it can do is
 * asked of them: each says it in a way of its own. Nothing but the loopback interface is asked, and only for a moment.
 */
import { asList, asObject, asText, isObject, parseJson } from "../kernel/json.ts";
import type { ModelEntry } from "./catalog.ts";
import { type Http, readText } from "./http.ts";
import type { Endpoint } from "./providers.ts";

export type LocalModelServer = {
  readonly name: string;
  /** As `OPENAI_BASE_URL` takes it. */
  readonly baseUrl: string;
  readonly models: readonly LocalModel[];
};

export type LocalModel = {
  readonly id: string;
  readonly windowTokens?: number | undefined;
  readonly tools?: boolean | undefined;
  readonly images?: boolean | undefined;
};

export type LocalKind = {
  readonly name: string;
  readonly port: number;
  /** What answers there, if it is this kind of server; undefined where it is another. */
  ask(look: Look): Promise<readonly LocalModel[] | undefined>;
};

/** The answer as JSON; undefined where there is none. */
type Look = (path: string, body?: object) => Promise<unknown>;

/** Models that are asked one by one: a shelf of hundreds is not gone through. */
const maxAsked = 12;

export const localKinds: readonly LocalKind[] = [
  {
    name: "Ollama",
    port: 11434,
    async ask(look) {
      const listed = asObject(await look("/api/tags"))["models"];
      if (!Array.isArray(listed)) return undefined;
      const ids = listed.map((model) => asText(asObject(model)["name"])).filter(Boolean);
      return Promise.all(
        ids.map(async (id, at) => {
          const shown = at < maxAsked ? asObject(await look("/api/show", { model: id })) : {};
          return { id, ...windowIn(shown["model_info"]), ...abilitiesIn(shown["capabilities"]) };
        }),
      );
    },
  },
  {
    name: "LM Studio",
    port: 1234,
    async ask(look) {
      const listed = asObject(await look("/api/v0/models"))["data"];
      if (!Array.isArray(listed)) return undefined;
      return listed.map(asObject).flatMap((model): LocalModel[] => {
        const { id, type, loaded_context_length, max_context_length, capabilities } = model;
        if (type === "embeddings" || typeof id !== "string") return [];
        const images = type === "vlm";
        return [
          {
            id,
            ...tokens(loaded_context_length ?? max_context_length),
            ...abilitiesIn(capabilities),
            images,
          },
        ];
      });
    },
  },
  {
    name: "llama.cpp",
    port: 8080,
    async ask(look) {
      const props = asObject(await look("/props"));
      const settings = asObject(props["default_generation_settings"]);
      if (typeof settings["n_ctx"] !== "number") return undefined;
      const images = asObject(props["modalities"])["vision"] === true;
      return (await listed(look)).map(({ id }) => ({ id, ...tokens(settings["n_ctx"]), images }));
    },
  },
  {
    name: "vLLM",
    port: 8000,
    async ask(look) {
      const models = await listed(look);
      const own = models.filter((model) => model["max_model_len"] !== undefined);
      return own.length === 0
        ? undefined
        : own.map(({ id, max_model_len }) => ({ id, ...tokens(max_model_len) }));
    },
  },
];

/** In the order of the table; none where nothing answers. Never throws. */
export async function findLocalServers(
  http: Http,
  signal: AbortSignal,
  kinds: readonly LocalKind[] = localKinds,
): Promise<LocalModelServer[]> {
  const found = await Promise.all(kinds.map((kind) => askKind(kind, http, signal)));
  return found.filter((server) => server !== undefined);
}

/** What the server of an endpoint says of its models; none where it is at no port of the table. */
export async function askEndpoint(
  { baseUrl, provider }: Pick<Endpoint, "baseUrl" | "provider">,
  http: Http,
  signal: AbortSignal,
  kinds: readonly LocalKind[] = localKinds,
): Promise<ModelEntry[]> {
  const kind = kindAt(baseUrl, kinds);
  const server = kind && (await askKind(kind, http, signal));
  return (server?.models ?? []).map((model) => entryOf(model, provider));
}

/** The kind that listens at this address, as far as the port says so. */
export function kindAt(baseUrl: string, kinds: readonly LocalKind[] = localKinds): LocalKind | undefined {
  const url = URL.parse(baseUrl);
  const isLocal = url !== null && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  return isLocal ? kinds.find(({ port }) => String(port) === url.port) : undefined;
}

/** `qwen3:8b (32,768 tokens, tools)`, for a person. */
export function sayLocalModel({ id, windowTokens, tools, images }: LocalModel): string {
  const facts = [
    ...(windowTokens === undefined ? [] : [`${windowTokens.toLocaleString("en")} tokens`]),
    ...(tools === undefined ? [] : [tools ? "tools" : "no tools"]),
    ...(images === true ? ["images"] : []),
  ];
  return facts.length === 0 ? id : `${id} (${facts.join(", ")})`;
}

function entryOf({ id, windowTokens, tools, images }: LocalModel, provider: string): ModelEntry {
  const abilities = {
    ...(tools === undefined ? {} : { tools }),
    ...(images === undefined ? {} : { images }),
  };
  // A reply may be as long as a quarter of what fits: the rest is for what it answers.
  const output =
    windowTokens === undefined ? {} : { maxOutputTokens: Math.min(8_192, Math.floor(windowTokens / 4)) };
  return { id, provider, ...(windowTokens === undefined ? {} : { windowTokens }), ...output, abilities };
}

const maxBytes = 4 * 1024 * 1024;

async function askKind(
  kind: LocalKind,
  http: Http,
  signal: AbortSignal,
): Promise<LocalModelServer | undefined> {
  const root = `http://127.0.0.1:${kind.port}`;
  const look: Look = async (path, body) => {
    const headers = { accept: "application/json", "content-type": "application/json" };
    const given = body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) };
    const method = body === undefined ? "GET" : "POST";
    const response = await http({ method, url: `${root}${path}`, headers, ...given }, signal);
    const text = await readText(response, maxBytes);
    return response.status === 200 ? parseJson(text) : undefined;
  };
  try {
    const models = await kind.ask(look);
    return models && { name: kind.name, baseUrl: `${root}/v1`, models };
  } catch {
    // Nobody there, or somebody who takes too long: not found.
    return undefined;
  }
}

async function listed(look: Look): Promise<({ id: string } & Record<string, unknown>)[]> {
  const { data } = asObject(await look("/v1/models"));
  return asList(data)
    .filter(isObject)
    .flatMap((model) => (typeof model["id"] === "string" ? [{ ...model, id: model["id"] }] : []));
}

/** `qwen3.context_length`: the name of the family comes first. */
function windowIn(info: unknown): { windowTokens?: number } {
  const found = Object.entries(asObject(info)).find(([name]) => name.endsWith(".context_length"));
  return tokens(found?.[1]);
}

const tokens = (value: unknown): { windowTokens?: number } =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? { windowTokens: value } : {};

/** A server that says nothing of a model's abilities leaves them open. */
function abilitiesIn(capabilities: unknown): { tools?: boolean; images?: boolean } {
  if (!Array.isArray(capabilities)) return {};
  const can = (...names: string[]): boolean => names.some((name) => capabilities.includes(name));
  return { tools: can("tools", "tool_use"), images: can("vision") };
}
