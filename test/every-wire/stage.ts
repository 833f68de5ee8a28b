// The stage of the scenarios: a real session, the real adapters and a real server, for one wire or for two.
import path from "node:path";
import { afterEach, expect } from "vitest";
import { nodeClock } from "../../keel/src/app/node-ports.ts";
import type { Limits } from "../../keel/src/core/limits.ts";
import { catalog } from "../../keel/src/models/catalog.ts";
import { openHttp } from "../../keel/src/models/http.ts";
import { type Endpoint, providersWith } from "../../keel/src/models/providers.ts";
import { routedModel } from "../../keel/src/models/router.ts";
import { defineTool } from "../../keel/src/ports/define-tool.ts";
import type { Model } from "../../keel/src/ports/model.ts";
import type { Tool } from "../../keel/src/ports/tool.ts";
import { type Image, text } from "../../keel/src/protocol/message.ts";
import { layout } from "../../keel/src/testing/layout.ts";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { openaiWire } from "../../keel/src/testing/wires/openai.ts";
import type { Wire } from "../../keel/src/testing/wires/wire.ts";
import { partOf } from "../support/budget.ts";
import { openTestSession, type TestSession } from "../support/test-session.ts";
import { anyInput, changeTool, lookTool } from "../support/test-tools.ts";

const key = "sk-canary-every-wire-0123456789";
type Row = Pick<Endpoint, "provider" | "wire" | "package"> & {
  readonly model: string;
  readonly version: string;
};

/** A package of the AI SDK, installed for tests alone, at the server that speaks its published wire. */
const byPackage = (name: string, version: string): Row => ({
  provider: name,
  model: `${name}-model`,
  version,
  package: { name: `@ai-sdk/${name}`, folders: [path.resolve(import.meta.dirname, "../..")] },
});

/** Keel's own wires; `model` is one that is known, so that prices and images are there. */
const natives = {
  anthropic: { provider: "anthropic", model: "claude-haiku-4-5", version: "" },
  openai: { provider: "openai", model: "gpt-4.1", version: "/v1", wire: "chat" },
  responses: { provider: "openai", model: "gpt-5.4", version: "/v1", wire: "responses" },
  gemini: { provider: "google", model: "gemini-3-pro-preview", version: "" },
} as const satisfies Record<string, Row>;

const packages = {
  "@ai-sdk/anthropic": byPackage("anthropic", "/v1"),
  "@ai-sdk/openai": byPackage("openai", "/v1"),
  "@ai-sdk/google": byPackage("google", "/v1beta"),
  "@ai-sdk/groq": byPackage("groq", "/v1"),
} as const satisfies Record<string, Row>;

const table: Readonly<Record<Played, Row>> = { ...natives, ...packages };
/** The wires that the model server speaks, and packages that speak one of them; a further one joins above. */
export type Played = keyof typeof natives | keyof typeof packages;

const packageNames = Object.keys(packages) as (keyof typeof packages)[];
export const played: readonly Played[] = [
  ...(Object.keys(natives) as (keyof typeof natives)[]),
  ...partOf("every-wire", (seed) => [...packageNames.slice(seed % 4), ...packageNames.slice(0, seed % 4)]),
];

/**
 * Scenarios that end otherwise over a package, and why: they test how a wire is read, and that is the package's own
 * reading. They are played all the same, and end as it says here.
 */
export const otherwise: readonly {
  readonly scenario: string;
  readonly wires: readonly Played[];
  readonly faults: readonly string[];
  readonly reason: string;
}[] = [
  {
    scenario: "a call after the end",
    wires: ["@ai-sdk/google", "@ai-sdk/groq", "@ai-sdk/openai"],
    faults: [],
    reason:
      "packages read to the end of the body: the late call is one of the reply, to a tool that there is not here",
  },
  {
    scenario: "an error inside the stream",
    wires: ["@ai-sdk/openai"],
    faults: ["stream_malformed"],
    reason:
      "the package does not know the published form of an error inside the stream; it is tried again all the same",
  },
  {
    scenario: "missing-usage",
    wires: ["@ai-sdk/anthropic"],
    faults: ["stream_malformed"],
    reason: "the package takes no reply that does not say what it used",
  },
];

export const faultsOf = (wire: Played, scenario: string, usual: readonly string[]): readonly string[] =>
  otherwise.find((row) => row.scenario === scenario && row.wires.includes(wire))?.faults ?? usual;

export const isPackage = (wire: Played): boolean => table[wire].package !== undefined;

/** Whoever is reached by a package says under `models` what nobody else knows. */
export const knownHere = catalog({
  providers: providersWith({ groq: { npm: "@ai-sdk/groq" } }),
  extra: packageNames.map((name) => ({
    id: packages[name].model,
    provider: packages[name].provider,
    windowTokens: 200_000,
    maxOutputTokens: 16_000,
    abilities: { images: true, thinking: "none", cache: false },
    prices: { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 1, cacheWriteLong: 1, asOf: "2026-01-01" },
  })),
});

export const modelOf = (wire: Played): string => table[wire].model;
/** As it is named where several providers are set up. */
export const fullNameOf = (wire: Played): string => `${table[wire].provider}/${table[wire].model}`;

/** A dot of 1 by 1. */
export const dot: Image = {
  type: "image",
  mediaType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
};

export function endpointAt(played: Played, server: ModelServer): Endpoint {
  const { provider, version, wire, package: given } = table[played];
  const baseUrl = `${server.url}${version}`;
  return { provider, baseUrl, credential: { kind: "key", value: key }, wire, package: given };
}

export function modelOver(home: Endpoint, others: readonly Endpoint[] = []): Model {
  return routedModel({
    home,
    endpoints: [home, ...others],
    catalog: knownHere,
    http: http.send,
    now: () => Date.now(),
  });
}

/** One provider tells what was used, and what was thought, in fields of its own. */
const groqWire: Wire = {
  ...openaiWire,
  *records(reply) {
    for (const record of openaiWire.records(reply))
      yield record
        .replace('"reasoning_content"', '"reasoning"')
        .replace(/("choices":\[\]),"usage":(.*)\}\n\n$/, '$1,"x_groq":{"usage":$2}}\n\n');
  },
};

export async function serve(script: Script, wire?: Played): Promise<ModelServer> {
  const own = wire === "@ai-sdk/groq" ? { wires: [groqWire] } : {};
  const server = await startModelServer({ script, key, ...own });
  servers.push(server);
  return server;
}

export type Stage = TestSession & {
  readonly server: ModelServer;
  readonly trace: string[];
  layouts(): string[];
};

type Play = {
  readonly script: Script;
  readonly tools?: (trace: string[]) => readonly Tool[];
  readonly limits?: Partial<Limits>;
};

export const quick: Partial<Limits> = { backoff: { firstMs: 1, maxMs: 5 } };

export async function play(wire: Played, { script, tools, limits }: Play): Promise<Stage> {
  const server = await serve(script, wire);
  const trace: string[] = [];
  const session = await openTestSession({
    model: modelOver(endpointAt(wire, server)),
    clock: nodeClock(),
    tools: tools?.(trace) ?? [lookTool(trace), changeTool(trace)],
    limits: { ...quick, ...limits },
    settings: { model: modelOf(wire) },
  });
  return { ...session, server, trace, layouts: () => server.requests.map(({ body }) => layout(body)) };
}

/** What every scenario must leave behind: no request that the provider refuses for its form, and no key in the log. */
export function checkAll({ server, events }: Pick<Stage, "server" | "events">): void {
  expect(server.requests.flatMap(({ violations }) => violations)).toEqual([]);
  expect(JSON.stringify(events)).not.toContain(key);
}

export const reasonOf = ({ all }: Stage) => all("turn.finished").map(({ reason }) => reason);
export const said = ({ all }: Stage): string =>
  all("model.finished")
    .flatMap(({ content }) => content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("|");

/** Cache marks are the one thing that only one of the wires has. */
export const unmarked = (shown: string): string => shown.replaceAll(" [cache 5m]", "");

export const pictureTool: Tool = defineTool({
  name: "Picture",
  description: "Takes a picture.",
  input: anyInput,
  traits: { readOnly: true, concurrent: true, replay: "safe" },
  claims: async () => [],
  async *run() {
    return { content: [text("taken"), dot], display: { kind: "text", text: "taken" } };
  },
}) as Tool;

const http = openHttp();
const servers: ModelServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
