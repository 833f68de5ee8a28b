/** Which recorded exchange answers a request, and what to say when none does. Pure. */
import { canonicalJson, isObject, type Json, mapTexts } from "../kernel/json.ts";
import { shorten } from "../kernel/text.ts";
import { layout } from "./layout.ts";

export type CassetteRequest = { readonly method: string; readonly path: string; readonly body: Json };

export type MatchRules = {
  /** Dotted paths of fields in the body that may differ: `metadata.user_id`. */
  readonly ignore?: readonly string[] | undefined;
  /** What differs from run to run inside texts, such as a temporary folder, and what stands for it. */
  readonly replace?: readonly { readonly find: string | RegExp; readonly by: string }[] | undefined;
};

/** They name the session, which is another one in every run. */
const alwaysIgnored = ["metadata.user_id", "prompt_cache_key"];

/** What of a request must be the same, as a value and as a text. */
export type Canonical = { readonly path: string; readonly body: Json; readonly key: string };

export function canonical(
  { method, path, body }: CassetteRequest,
  { ignore = [], replace = [] }: MatchRules,
): Canonical {
  const ignored = [...alwaysIgnored, ...ignore].map((name) => name.split("."));
  const replaced = (text: string) => replace.reduce((now, { find, by }) => now.replaceAll(find, by), text);
  const kept = ignored.reduce<Json>(without, body);
  const plain = replace.length === 0 ? kept : (mapTexts(kept, replaced) as Json);
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
  const { place, left, right } = firstDifference(asked.body, near.exchange.body) ?? {
    place: "",
    left: null,
    right: null,
  };
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
