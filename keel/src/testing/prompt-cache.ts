/**
 * A provider's prompt cache, simulated by its published rules. A mark asks to keep everything up to it. A request reads
 * the longest kept start that it finds at one of its marks or in the blocks just before one, and writes what lies
 * between that and its last mark. What is too short is not kept. A kept start lives for its time since its last use.
 */
import { createHash } from "node:crypto";
import { byteLength } from "../kernel/text.ts";
import type { Usage } from "../protocol/usage.ts";
import type { CacheMark } from "./request-view.ts";
import type { MarkedBlock } from "./wires/wire.ts";

export type CountedInput = Omit<Usage, "outputTokens" | "thinkingTokens" | "webSearches">;

export type PromptCache = {
  /** What the request reads, writes and leaves to be paid in full; what it wrote is kept. */
  count(request: { readonly model: string; readonly blocks: readonly MarkedBlock[] }): CountedInput;
};

export function promptCache({ now }: { readonly now: () => number }): PromptCache {
  const kept = new Map<string, CachedPrefix>();

  return {
    count({ model, blocks }) {
      const time = now();
      const positions = positionsOf(model, blocks);
      const marks = positions.flatMap((position, index) => (position.mark ? [index] : []));
      const alive = (index: number): CachedPrefix | undefined => {
        const found = kept.get(positions[index]?.key ?? "");
        return found && time < found.until ? found : undefined;
      };
      const hit = marks.flatMap((mark) => windowOf(mark).filter(alive)).sort(descending)[0] ?? -1;
      const readTokens = positions[hit]?.tokens ?? 0;

      let [written, writtenLong] = [readTokens, readTokens];
      for (const index of [hit, ...marks]) {
        const position = positions[index];
        if (!position) continue;
        const known = alive(index);
        const isNew = !known && position.tokens >= leastCacheTokens(model);
        const lifeMs = known?.lifeMs ?? livesMs[position.mark ?? "5m"];
        if (known || isNew) kept.set(position.key, { lifeMs, until: time + lifeMs });
        if (!isNew || index <= hit) continue;
        written = Math.max(written, position.tokens);
        if (position.mark === "1h") writtenLong = Math.max(writtenLong, position.tokens);
      }
      return {
        inputTokens: (positions.at(-1)?.tokens ?? 0) - written,
        cacheReadTokens: readTokens,
        cacheWriteTokens: written - readTokens,
        cacheWriteLongTokens: writtenLong - readTokens,
      };
    },
  };
}

const minuteMs = 60_000;
const livesMs = { "5m": 5 * minuteMs, "1h": 60 * minuteMs } as const;

/** Positions that are looked at for each mark, the mark itself among them. */
export const lookBackBlocks = 20;

/** A start that is shorter is not kept, by the model's name; the first row that fits counts. */
const minTokens: readonly (readonly [model: RegExp, tokens: number])[] = [
  [/haiku-4-5|opus-4-[56]/, 4_096],
  [/haiku-3|sonnet-4-6|opus-4-7/, 2_048],
  [/(?:opus|fable)-5(?!-\d\b)/, 512],
];
const usualLeastTokens = 1_024;

export function leastCacheTokens(model: string): number {
  return minTokens.find(([name]) => name.test(model))?.[1] ?? usualLeastTokens;
}

/** A fixed count, so that sums can be checked exactly: a quarter of the bytes, and pictures at a flat rate. */
export function countTokens(text: string): number {
  const pictures = text.match(picture) ?? [];
  const bytes = byteLength(pictures.length > 0 ? text.replace(picture, "") : text);
  return Math.ceil(bytes / 4) + pictures.length * pictureTokens;
}

export const countBlocks = (blocks: readonly MarkedBlock[]): number =>
  blocks.reduce((sum, { text }) => sum + countTokens(text), 0);

const picture = /"data":"[A-Za-z0-9+/=]{100,}"/g;
const pictureTokens = 1_500;

type CachedPrefix = { readonly lifeMs: number; readonly until: number };
/** `key` and `tokens` are of everything up to and with the block. */
type Position = { readonly key: string; readonly tokens: number; readonly mark: CacheMark };

function positionsOf(model: string, blocks: readonly MarkedBlock[]): Position[] {
  const positions: Position[] = [];
  let key = hashOf(model);
  let tokens = 0;
  for (const { section, text, mark } of blocks) {
    key = hashOf(`${key} ${text}`);
    // How to think is no block of its own, but another setting makes all messages after it new.
    if (section === "thinking") continue;
    tokens += countTokens(text);
    positions.push({ key, tokens, mark });
  }
  return positions;
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64");

const windowOf = (mark: number): number[] =>
  Array.from({ length: Math.min(lookBackBlocks, mark + 1) }, (_, back) => mark - back);

const descending = (left: number, right: number): number => right - left;
