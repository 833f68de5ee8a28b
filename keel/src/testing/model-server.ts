/**
 * A model that follows a script, over real HTTP on the loopback interface. It refuses what the provider refuses, keeps
 * what it saw, and breaks in every way that a script names.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { toFault } from "../kernel/fault.ts";
import { isObject, type JsonObject, parseJson } from "../kernel/json.ts";
import { estimateTokens } from "../kernel/text.ts";
import type { Usage } from "../protocol/usage.ts";
import { isAnswered, type ReadyReply, ScriptAnswers, type ScriptFunction } from "./answers.ts";
import { Exchange } from "./exchange.ts";
import { countBlocks, type PromptCache, promptCache } from "./prompt-cache.ts";
import { type RequestLaw, requestLaw } from "./request-law.ts";
import { violationsIn } from "./request-rules.ts";
import type { Script } from "./script.ts";
import { anthropicWire } from "./wires/anthropic.ts";
import { geminiWire } from "./wires/gemini.ts";
import { openaiWire } from "./wires/openai.ts";
import { responsesWire } from "./wires/responses.ts";
import type { Incoming, Want, Wire } from "./wires/wire.ts";

export type SeenRequest = {
  /** Counts from 1. */
  readonly number: number;
  readonly wire: string;
  readonly wants: Want;
  readonly path: string;
  /** Keys are masked. */
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  /** Why it was refused, if it was. */
  readonly violations: readonly string[];
};

/** What a request that was answered used, given what the script or the simulated cache says. */
export type Meter = (seen: SeenRequest, scripted: Usage) => Usage;

export type ModelServerOptions = {
  readonly script: Script | ScriptFunction<JsonObject>;
  /** A free one when it is left out. */
  readonly port?: number | undefined;
  /** Called before the request is answered. */
  readonly onRequest?: ((seen: SeenRequest) => void) | undefined;
  /** The only key that is accepted. Without it every request is, also one without a key. */
  readonly key?: string | undefined;
  readonly check?: "strict" | "none" | undefined;
  /** What requests are held to beyond `check`: one of your own, or none where a test breaks it on purpose. */
  readonly law?: RequestLaw | "none" | undefined;
  /** Usage as a provider with a prompt cache would count it, in place of what the script says. */
  readonly cache?: "simulated" | undefined;
  /** The clock of the simulated cache; without it the machine's. */
  readonly now?: (() => number) | undefined;
  readonly meter?: Meter | undefined;
  readonly wires?: readonly Wire[] | undefined;
  /** Older requests are forgotten. */
  readonly maxRequests?: number | undefined;
};

export type ModelServer = {
  readonly url: string;
  readonly port: number;
  /** Those that asked for a reply, in their order. */
  readonly requests: readonly SeenRequest[];
  /** Counts and lists of models. */
  readonly others: readonly SeenRequest[];
  close(): Promise<void>;
};

/** As much as the provider takes. */
const maxBodyBytes = 32 * 1024 * 1024;
const defaultMostRequests = 10_000;
const defaultModels = ["scripted-model"];
/** Longer than a test waits between two requests: a connection that closes just then looks like a fault. */
const keepAliveTimeout = 120_000;

export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const requests: SeenRequest[] = [];
  const others: SeenRequest[] = [];
  const handler = new RequestHandler(options, (seen) => {
    const kept = seen.wants === "reply" ? requests : others;
    kept.push(seen);
    if (kept.length > (options.maxRequests ?? defaultMostRequests)) kept.shift();
    options.onRequest?.(seen);
  });

  const server = createServer({ keepAliveTimeout, requestTimeout: 0 }, (request, response) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    // A reader that leaves early is part of many tests, not an error of the server.
    response.on("error", () => gone.abort());
    handler.serve(request, response, gone.signal).catch((thrown: unknown) => {
      if (!gone.signal.aborted) response.destroy(toFault(thrown));
    });
  });
  return { ...(await listen(server, options.port)), requests, others };
}

/** Where a server listens on the loopback interface; `close` ends its connections too. */
export async function listen(
  server: Server,
  wanted: number | undefined,
): Promise<Pick<ModelServer, "url" | "port" | "close">> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(wanted ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Arrived = {
  readonly wire: Wire;
  readonly wants: Want;
  readonly incoming: Incoming;
  readonly tooLarge: boolean;
  readonly body: JsonObject | undefined;
};

type Refusal = { readonly status: number; readonly violations: readonly string[] };

/** Reads, records, checks and answers one request after the other; many may be open at once. */
class RequestHandler {
  readonly #options: ModelServerOptions;
  readonly #record: (seen: SeenRequest) => void;
  readonly #answers: ScriptAnswers<JsonObject>;
  readonly #wires: readonly Wire[];
  readonly #law: RequestLaw | undefined;
  readonly #cache: PromptCache | undefined;
  #count = 0;

  constructor(options: ModelServerOptions, record: (seen: SeenRequest) => void) {
    this.#options = options;
    this.#record = record;
    this.#answers = new ScriptAnswers(options.script);
    this.#wires = options.wires ?? [anthropicWire, openaiWire, responsesWire, geminiWire];
    const { law = requestLaw(), check, cache, now = Date.now } = options;
    this.#law = law === "none" || check === "none" ? undefined : law;
    this.#cache = cache && promptCache({ now });
  }

  async serve(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const incoming = incomingOf(request);
    const wire = this.#wires.find((candidate) => candidate.wants(incoming) !== undefined);
    const wants = wire?.wants(incoming);
    if (!wire || !wants) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `nothing is served at ${incoming.path}` } }));
      return;
    }
    const read = await readBody(request);
    const parsed = wants === "models" ? {} : parseJson(read.text);
    const given = isObject(parsed) ? parsed : undefined;
    const body = given && (wire.bodyOf?.(incoming, given) ?? given);
    const refusal = this.#refusal({ wire, wants, incoming, tooLarge: read.tooLarge, body });

    this.#count += 1;
    const seen: SeenRequest = {
      number: this.#count,
      wire: wire.name,
      wants,
      path: incoming.path,
      headers: masked(incoming.headers),
      body: body ?? {},
      violations: refusal?.violations ?? [],
    };
    this.#record(seen);
    const exchange = new Exchange(wire, response, `req_scripted_${seen.number}`);
    if (refusal) return exchange.refuse(refusal.status, refusal.violations.join("; "));
    return this.#answer(exchange, seen, signal);
  }

  /** In the order in which the provider looks: the key, the size, the content. */
  #refusal({ wire, wants, incoming, tooLarge, body }: Arrived): Refusal | undefined {
    const { key, check } = this.#options;
    if (key !== undefined && wire.keyIn(incoming.headers) !== key)
      return { status: 401, violations: ["the key is not valid"] };
    if (tooLarge) return { status: 413, violations: ["the request is too large"] };
    if (!body) return { status: 400, violations: ["the body is not an object in JSON"] };
    if (check === "none" || wants === "models") return undefined;
    // A count needs no limit of output; every other rule holds for it too.
    const checked = wants === "count" ? { ...body, max_tokens: Number.MAX_SAFE_INTEGER } : body;
    const violations = [...wire.violations(incoming), ...violationsIn(wire.view(checked))];
    if (violations.length === 0 && wants === "reply") violations.push(...this.#lawBreaks(wire, body));
    return violations.length > 0 ? { status: 400, violations } : undefined;
  }

  #lawBreaks(wire: Wire, body: JsonObject): string[] {
    const blocks = wire.prefix?.(body);
    const { model } = wire.view(body);
    const found = blocks && this.#law?.follow({ session: wire.session?.(body), model, blocks });
    return found ? [found.sentence] : [];
  }

  #usage(wire: Wire, reply: ReadyReply, seen: SeenRequest): Usage {
    const blocks = wire.prefix?.(seen.body);
    let { usage } = reply;
    if (this.#cache && blocks) {
      // What is said now is counted as it will be when it is sent back.
      const said = wire.said?.(reply) ?? wire.prefix?.({ messages: [wire.whole(reply)] }) ?? [];
      usage = {
        ...this.#cache.count({ model: reply.model, blocks }),
        outputTokens: countBlocks(said.filter(({ section }) => section === "messages")),
      };
    }
    return this.#options.meter?.(seen, usage) ?? usage;
  }

  async #answer(exchange: Exchange, seen: SeenRequest, signal: AbortSignal): Promise<void> {
    const { wire } = exchange;
    const listed = typeof this.#options.script === "function" ? undefined : this.#options.script.models;
    if (seen.wants === "models") return exchange.send(wire.models(listed ?? defaultModels));
    const view = wire.view(seen.body);
    if (listed && !listed.includes(view.model)) return exchange.refuse(404, `model: ${view.model}`);
    if (seen.wants === "count") return exchange.send(wire.count(estimateTokens(JSON.stringify(seen.body))));
    let reply: ReadyReply;
    try {
      reply = await this.#answers.next(seen.body, view);
    } catch (thrown) {
      // The script itself ran out or failed: a refusal is not tried again, so that the test sees it at once.
      return exchange.refuse(400, toFault(thrown).message);
    }
    const usage = isAnswered(reply) ? this.#usage(wire, reply, seen) : reply.usage;
    const as = wire.wantsStream(seen.body) ? "stream" : "whole";
    return exchange.reply({ ...reply, usage }, { as, signal });
  }
}

function incomingOf(request: IncomingMessage): Incoming {
  const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
  return { method: request.method ?? "GET", path: pathname, headers: request.headers };
}

async function readBody(request: IncomingMessage): Promise<{ text: string; tooLarge: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    // Read to its end although it is refused: a client that still writes would not see the answer.
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  const tooLarge = bytes > maxBodyBytes;
  return { text: tooLarge ? "" : Buffer.concat(chunks).toString("utf8"), tooLarge };
}

const secretHeaders = ["x-api-key", "x-goog-api-key", "authorization", "proxy-authorization", "cookie"];

/** The last characters stay, so that a test can tell one key from another. */
function masked(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const hide = (value: string) => (value.length > 12 ? `***${value.slice(-4)}` : "***");
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeaders.includes(name) ? hide(String(value)) : value,
    ]),
  );
}
