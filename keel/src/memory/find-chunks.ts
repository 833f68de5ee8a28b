/** Looks for chunks by words and by meaning, and makes one list of both. */
import type { FoundChunk, MemoryChunk, MemorySearch, MemorySource } from "../ports/memory-index.ts";
import { idsByWords, shareOf, wordsOf } from "./question.ts";
import { type MemoryStatements, numberIn, type TableRow, textIn } from "./tables.ts";
import type { Near, VectorScan } from "./vectors.ts";

/** What the embedder made of the question, and where its vectors are looked for. */
export type ByMeaning = { readonly scan: VectorScan; readonly question: Float32Array };

const usualLimit = 5;
const maxLimit = 50;
/** So many more than wanted are looked at: some are neighbours of better ones, or say the same. */
const lookedFor = 8;
/** Of what is found by words, so many are tried first before the scope is made a part of the search. */
const tried = 200;
/** A chunk that has this part of the question's words is about it: more than one of two, three of five. */
const sureShare = 0.6;
/** Less alike than this is nothing alike. */
const leastLikeness = 0.25;
/** What a passage may have, in characters: as much as two chunks. */
const maxPassage = 2_400;

type Hit = { readonly chunk: StoredChunk; readonly score: number; readonly by: FoundChunk["by"] };
type StoredChunk = MemoryChunk & { readonly number: number };

export function findChunks(
  run: MemoryStatements,
  wanted: MemorySearch,
  meaning: ByMeaning | undefined,
): FoundChunk[] {
  const limit = Math.max(1, Math.min(wanted.limit ?? usualLimit, maxLimit));
  const only = sessionsIn(run, wanted);
  if (only?.size === 0) return [];
  const words = wordsOf(wanted.words);
  const most = limit * lookedFor;
  const byWords = hitsByWords(run, words, most, only);
  const near = meaning ? meaning.scan.nearest(run, meaning.question, most, only) : [];
  return joined(run, fuse({ run, words, byWords, near }), limit);
}

export const newestChunks = (run: MemoryStatements, limit: number): MemoryChunk[] =>
  run
    .all(`${selectChunk} ORDER BY at DESC, chunks.id DESC LIMIT ?`, limit)
    .map((row) => withoutNumber(chunkOf(row)));

/** The numbers of the sessions that are in scope; undefined for all. */
function sessionsIn(
  run: MemoryStatements,
  { scope, session, cwd, except = [] }: MemorySearch,
): Set<number> | undefined {
  if (scope === "person" && except.length === 0) return undefined;
  const rows = run.all("SELECT number, id, cwd FROM sessions");
  const isIn = (id: string, folder: string): boolean =>
    !except.includes(id) &&
    (scope === "person" ||
      (scope === "session"
        ? id === session
        : cwd !== undefined && (folder === cwd || folder.startsWith(cwd.endsWith("/") ? cwd : `${cwd}/`))));
  return new Set(
    rows.filter((row) => isIn(textIn(row, "id"), textIn(row, "cwd"))).map((row) => numberIn(row, "number")),
  );
}

type WordHit = { readonly chunk: StoredChunk; readonly share: number };

function hitsByWords(
  run: MemoryStatements,
  words: readonly string[],
  most: number,
  only: ReadonlySet<number> | undefined,
): WordHit[] {
  const first = Math.max(most, only ? tried : 0);
  const ids = idsByWords(run, words, { most: first });
  const chunks = chunksAt(run, ids);
  const inScope = only ? chunks.filter(({ number }) => only.has(number)) : chunks;
  const isShort = only !== undefined && inScope.length < most && ids.length === first;
  const found = isShort ? chunksAt(run, idsByWords(run, words, { most, only })) : inScope.slice(0, most);
  return found.map((chunk) => ({ chunk, share: shareOf(words, chunk.text) }));
}

/**
 * Words come first where they are sure: a chunk that has most of what is asked. Then what is near in meaning, then what has
 * a word or two. So meaning takes no place from words that fit, and takes over where there are none.
 */
function fuse({
  run,
  words,
  byWords,
  near,
}: {
  run: MemoryStatements;
  words: readonly string[];
  byWords: readonly WordHit[];
  near: readonly Near[];
}): Hit[] {
  const likeness = new Map(near.map((one) => [one.chunk, one.likeness]));
  const isSure = ({ share }: WordHit): boolean => share >= sureShare && words.length > 1;
  const wordHit = ({ chunk, share }: WordHit): Hit => ({
    chunk,
    score: share,
    by: likeness.has(chunk.id) ? "both" : "words",
  });
  const named = new Set(byWords.map(({ chunk }) => chunk.id));
  const alike = near.filter((one) => one.likeness >= leastLikeness).map(({ chunk }) => chunk);
  const meant = chunksAt(run, alike).map(
    (chunk): Hit => ({
      chunk,
      score: likeness.get(chunk.id) ?? 0,
      by: named.has(chunk.id) ? "both" : "meaning",
    }),
  );
  return [
    ...byWords.filter(isSure).map(wordHit),
    ...meant,
    ...byWords.filter((hit) => !isSure(hit)).map(wordHit),
  ];
}

/** Each with its neighbours; what is a neighbour of a better one, or says the same, is no find of its own. */
function joined(run: MemoryStatements, hits: readonly Hit[], limit: number): FoundChunk[] {
  const found: FoundChunk[] = [];
  const ids = new Set<number>();
  const texts = new Set<string>();
  for (const { chunk, score, by } of hits) {
    if (found.length === limit) break;
    if (ids.has(chunk.id) || texts.has(chunk.text)) continue;
    const pieces = withNeighbours(run, chunk, ids);
    for (const { id } of pieces) ids.add(id);
    texts.add(chunk.text);
    const passage = pieces.map(({ text }) => text).join("\n\n");
    found.push({ ...withoutNumber(chunk), score, by, passage, joined: pieces.map(({ id }) => id) });
  }
  return found;
}

/** What came right after first: it may be the answer. */
function withNeighbours(
  run: MemoryStatements,
  chunk: StoredChunk,
  taken: ReadonlySet<number>,
): StoredChunk[] {
  const pieces = [chunk];
  let left = maxPassage - chunk.text.length;
  for (const side of [after, before]) {
    const next = neighbour(run, chunk, side);
    if (!next || taken.has(next.id) || next.text.length > left) continue;
    left -= next.text.length;
    if (side === after) pieces.push(next);
    else pieces.unshift(next);
  }
  return pieces;
}

const after = "(seq, part) > (?, ?) ORDER BY seq, part";
const before = "(seq, part) < (?, ?) ORDER BY seq DESC, part DESC";

function neighbour(
  run: MemoryStatements,
  { number, seq, part }: StoredChunk,
  side: string,
): StoredChunk | undefined {
  const row = run.get(`${selectChunk} WHERE chunks.session = ? AND ${side} LIMIT 1`, number, seq, part);
  return row && chunkOf(row);
}

const selectChunk =
  "SELECT chunks.id AS id, session, sessions.id AS name, cwd, seq, part, at, kind, tool, text FROM chunks JOIN sessions ON sessions.number = chunks.session";

/** In the order of their ids as they are given; one that is gone is left out. */
function chunksAt(run: MemoryStatements, ids: readonly number[]): StoredChunk[] {
  const found = run.all(
    `${selectChunk} WHERE chunks.id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids),
  );
  const chunks = new Map(found.map((row) => [numberIn(row, "id"), chunkOf(row)]));
  return ids.flatMap((id) => chunks.get(id) ?? []);
}

const chunkOf = (row: TableRow): StoredChunk => ({
  id: numberIn(row, "id"),
  number: numberIn(row, "session"),
  session: textIn(row, "name"),
  seq: numberIn(row, "seq"),
  part: numberIn(row, "part"),
  cwd: textIn(row, "cwd"),
  at: numberIn(row, "at"),
  source: sourceOf(textIn(row, "kind"), textIn(row, "tool")),
  text: textIn(row, "text"),
});

const withoutNumber = ({ number: _, ...chunk }: StoredChunk): MemoryChunk => chunk;

const sourceOf = (kind: string, tool: string): MemorySource =>
  kind === "tool" ? { kind, tool } : { kind: kind === "person" ? "person" : "agent" };
