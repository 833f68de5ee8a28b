/**
 * Serves recorded exchanges again, without a network: as the HTTP function of any adapter, or as a Model. Equal requests
 * are answered in the order in which they were recorded, each exchange once. What is not recorded fails, and says what
 * was asked and what comes nearest.
 */
import { fault } from "../kernel/fault.ts";
import { canonicalJson, isObject, type Json, mapTexts } from "../kernel/json.ts";
import { shorten } from "../kernel/text.ts";
import { catalog } from "../models/catalog.ts";
import { connectModel } from "../models/connect.ts";
import type { Http, HttpResponse } from "../models/http.ts";
import type { ProviderId } from "../models/providers.ts";
import type { Model } from "../ports/model.ts";
import { bodyOf, type RecordedExchange, readCassette } from "./cassette-record.ts";
import { scrubber, secretsIn } from "./cassette-scrub.ts";
import { layout } from "./layout.ts";

export type CassetteRequest = { readonly method: string; readonly path: string; readonly body: Json };

export type MatchRules = {
  /** Dotted paths of fields in the body that may differ: `metadata.user_id`. */
  readonly ignore?: readonly string[] | undefined;
  /** What differs from run to run inside texts, such as a temporary folder, and what stands for it. */
  readonly replace?: readonly { readonly find: string | RegExp; readonly by: string }[] | undefined;
};

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

/** They name the session, which is another one in every run. */
const alwaysIgnored = ["metadata.user_id", "prompt_cache_key"];

/** What a repository looked like is told, and is no part of what is asked: the recording itself may be a new file in it. */
const alwaysReplaced = [{ find: /<keel-git>[\s\S]*?<\/keel-git>/g, by: "<keel-git></keel-git>" }] as const;

/** What of a request must be the same, as a value and as a text. */
export type Canonical = { readonly path: string; readonly body: Json; readonly key: string };

export function canonical(
  { method, path, body }: CassetteRequest,
  { ignore = [], replace = [] }: MatchRules,
): Canonical {
  const ignored = [...alwaysIgnored, ...ignore].map((name) => name.split("."));
  const replaced = (text: string) =>
    [...alwaysReplaced, ...replace].reduce((now, { find, by }) => now.replaceAll(find, by), text);
  const plain = mapTexts(ignored.reduce<Json>(without, body), replaced) as Json;
  const tail = `${method} ${tailOf(path)}`;
  return { path: tail, body: plain, key: `${tail}\n${canonicalJson(plain)}` };
}

/** What a person needs to know about a request that is not recorded. */
export function explainMiss(asked: Canonical, recorded: readonly Canonical[]): string {
  const shown = [`${asked.path}`, ...indented(layoutOf(asked))];
  const times = recorded.filter(({ key }) => key === asked.key).length;
  if (times > 0)
    return [
      `It was recorded ${times === 1 ? "once" : `${times} times`} and is asked once more:`,
      ...shown,
    ].join("\n");
  const near = nearest(asked, recorded);
  if (!near) return ["Nothing of the kind is recorded. Asked was:", ...shown].join("\n");
  const none: Difference = { place: "", left: null, right: null };
  const { place, left, right } = firstDifference(asked.body, near.exchange.body) ?? none;
  return [
    "It is not recorded. Asked was:",
    ...shown,
    `The nearest is exchange ${near.number}, which differs at ${place || "its whole"}:`,
    ...indented(`asked     ${brief(left)}\nrecorded  ${brief(right)}`),
    "Recorded was:",
    ...indented(layoutOf(near.exchange)),
  ].join("\n");
}

/** The wire's own part of the path: under which address a server is reached does not matter. */
const tailOf = (path: string): string =>
  path.replace(/^.*?(?=\/(?:messages(?:\/count_tokens)?|chat\/completions|models)$)/, "");

function without(value: Json, [name, ...rest]: readonly string[]): Json {
  if (name === undefined || !isObject(value) || !Object.hasOwn(value, name)) return value;
  const { [name]: inner, ...others } = value;
  return rest.length === 0 || inner === undefined ? others : { ...others, [name]: without(inner, rest) };
}

const layoutOf = ({ body }: Canonical): string => (isObject(body) ? layout(body) : brief(body));

const indented = (text: string): string[] => text.split("\n").map((line) => `  ${line}`);

/** The one with the most lines in common, of those that ask for the same kind of thing. */
function nearest(
  asked: Canonical,
  recorded: readonly Canonical[],
): { number: number; exchange: Canonical } | undefined {
  const lines = new Set(layoutOf(asked).split("\n"));
  const rated = recorded.flatMap((exchange, index) => {
    if (exchange.path !== asked.path) return [];
    const others = layoutOf(exchange).split("\n");
    const common = others.filter((line) => lines.has(line)).length;
    return [{ number: index + 1, exchange, rate: common / Math.max(lines.size, others.length) }];
  });
  return rated.toSorted((left, right) => right.rate - left.rate)[0];
}

type Difference = {
  readonly place: string;
  readonly left: Json | undefined;
  readonly right: Json | undefined;
};

function firstDifference(
  left: Json | undefined,
  right: Json | undefined,
  place = "",
): Difference | undefined {
  if (left === undefined || right === undefined || !isParent(left) || !isParent(right))
    return canonicalJson(left) === canonicalJson(right) ? undefined : { place, left, right };
  const inLeft = new Map<string, Json>(Object.entries(left));
  const inRight = new Map<string, Json>(Object.entries(right));
  for (const key of new Set([...inLeft.keys(), ...inRight.keys()])) {
    const found = firstDifference(inLeft.get(key), inRight.get(key), place === "" ? key : `${place}.${key}`);
    if (found) return found;
  }
  return undefined;
}

const isParent = (value: Json): value is Json[] | { [key: string]: Json } =>
  typeof value === "object" && value !== null;

const shownCharacters = 200;
const brief = (value: Json | undefined): string =>
  shorten(JSON.stringify(value) ?? "nothing", shownCharacters);
