// The stage of the scenarios: a real session, the real adapters and a real server, for one provider or for both.
import { afterEach, expect } from "vitest";
import { nodeClock } from "../../keel/src/app/node-ports.ts";
import type { Limits } from "../../keel/src/core/limits.ts";
import { catalog } from "../../keel/src/models/catalog.ts";
import { openHttp } from "../../keel/src/models/http.ts";
import type { Endpoint } from "../../keel/src/models/providers.ts";
import { routedModel } from "../../keel/src/models/router.ts";
import { defineTool } from "../../keel/src/ports/define-tool.ts";
import type { Model } from "../../keel/src/ports/model.ts";
import type { Tool } from "../../keel/src/ports/tool.ts";
import { type Image, text } from "../../keel/src/protocol/message.ts";
import { layout } from "../../keel/src/testing/layout.ts";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { openTestSession, type TestSession } from "../support/test-session.ts";
import { anyInput, changeTool, lookTool } from "../support/test-tools.ts";

const key = "sk-canary-both-wires-0123456789";
/** The providers whose wire the model server speaks; a further one joins here when it has its wire there. */
export type Played = "anthropic" | "openai";

/** A name of a known model, so that prices and images are there. */
export const models: Readonly<Record<Played, string>> = {
  anthropic: "claude-haiku-4-5",
  openai: "gpt-4.1",
};
/** A dot of 1 by 1. */
export const dot: Image = {
  type: "image",
  mediaType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
};

export const endpointAt = (provider: Played, server: ModelServer): Endpoint => ({
  provider,
  baseUrl: provider === "openai" ? `${server.url}/v1` : server.url,
  credential: { kind: "key", value: key },
});

export function modelOver(home: Endpoint, others: readonly Endpoint[] = []): Model {
  return routedModel({
    home,
    endpoints: [home, ...others],
    catalog: catalog(),
    http: http.send,
    now: () => Date.now(),
  });
}

export async function serve(script: Script): Promise<ModelServer> {
  const server = await startModelServer({ script, key });
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

export async function play(provider: Played, { script, tools, limits }: Play): Promise<Stage> {
  const server = await serve(script);
  const trace: string[] = [];
  const session = await openTestSession({
    model: modelOver(endpointAt(provider, server)),
    clock: nodeClock(),
    tools: tools?.(trace) ?? [lookTool(trace), changeTool(trace)],
    limits: { ...quick, ...limits },
    settings: { model: models[provider] },
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
