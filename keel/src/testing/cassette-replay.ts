/**
 * Serves recorded exchanges again, without a network: as the HTTP function of any adapter, or as a Model. Equal requests
 * are answered in the order in which they were recorded, each exchange once. What is not recorded fails, and says what
 * was asked and what comes nearest.
 */
import { fault } from "../kernel/fault.ts";
import { catalog } from "../models/catalog.ts";
import { connectModel } from "../models/connect.ts";
import type { Http, HttpResponse } from "../models/http.ts";
import type { ProviderId } from "../models/providers.ts";
import type { Model } from "../ports/model.ts";
import { type RecordedExchange, readCassette } from "./cassette.ts";
import { type CassetteRequest, canonical, explainMiss, type MatchRules } from "./cassette-match.ts";
import { bodyOf } from "./cassette-record.ts";
import { scrubber, secretsIn } from "./cassette-scrub.ts";

export type ReplayOptions = MatchRules & {
  readonly file: string;
  /** What was named when it was recorded, so that it is taken out of requests as it was then. */
  readonly secrets?: readonly string[] | undefined;
};

export type Replay = {
  /** Throws `not_recorded`. */
  readonly send: Http;
  /** The recorded answer; undefined when there is none, which `misses` then explains. */
  answer(asked: ReplayRequest): RecordedExchange["response"] | undefined;
  /** What was asked and is not recorded, for a person to read. */
  readonly misses: readonly string[];
  /** How many exchanges nobody asked for. */
  unused(): number;
  /** Throws `not_recorded` when something was missing. For the end of a test: a session may have passed over the fault. */
  check(): void;
};

/** The headers say which secrets the body may hold; nothing else of them counts. */
export type ReplayRequest = CassetteRequest & {
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
};

/** Throws `usage` when the file cannot be read. */
export async function openReplay({ file, secrets = [], ...rules }: ReplayOptions): Promise<Replay> {
  const exchanges = await readCassette(file);
  const recorded = exchanges.map(({ request }) => canonical(request, rules));
  const waiting = new Map<string, RecordedExchange[]>();
  for (const [index, { key }] of recorded.entries())
    waiting.set(key, [...(waiting.get(key) ?? []), ...exchanges.slice(index, index + 1)]);
  const misses: string[] = [];

  const answer = ({
    method,
    path,
    body,
    headers = {},
  }: ReplayRequest): RecordedExchange["response"] | undefined => {
    const scrub = scrubber([...secrets, ...secretsIn(headers)]);
    const asked = canonical({ method, path: scrub.text(path), body: scrub.json(body) }, rules);
    const found = waiting.get(asked.key)?.shift();
    if (!found) misses.push(explainMiss(asked, recorded));
    return found?.response;
  };
  const missing = (why: string) => fault("not_recorded", { file, reason: why });

  return {
    misses,
    answer,
    unused: () => [...waiting.values()].flat().length,
    check() {
      if (misses.length > 0) throw missing(misses.join("\n\n"));
    },
    async send(request, signal) {
      if (signal.aborted) throw fault("aborted", { cause: signal.reason });
      const { method, headers } = request;
      const path = new URL(request.url).pathname;
      const response = answer({ method, path, headers, body: bodyOf(request) });
      if (!response) throw missing(misses.at(-1) ?? "");
      return responseOf(response);
    },
  };
}

export type ReplayModelOptions = ReplayOptions & { readonly provider: ProviderId };

/** A Model that speaks a provider's wire with a cassette. */
export async function openReplayModel({
  provider,
  ...options
}: ReplayModelOptions): Promise<Model & { readonly replay: Replay }> {
  const replay = await openReplay(options);
  const endpoint = { provider, baseUrl: "http://cassette.invalid" };
  const model = connectModel({ endpoint }, { catalog: catalog(), http: replay.send, now: () => 0 });
  return {
    info: (name) => model.info(name),
    stream: (request, signal) => model.stream(request, signal),
    replay,
  };
}

/** The bytes of a recorded body. */
export const bytesOf = ({ body, encoding }: RecordedExchange["response"]): Uint8Array =>
  Buffer.from(body, encoding);

function responseOf(recorded: RecordedExchange["response"]): HttpResponse {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield bytesOf(recorded);
    if (recorded.ended === "cut") throw fault("stream_cut");
  }
  return {
    status: recorded.status,
    header: (name) => (Object.hasOwn(recorded.headers, name) ? recorded.headers[name] : undefined),
    body: body(),
    endWithin: () => undefined,
  };
}
