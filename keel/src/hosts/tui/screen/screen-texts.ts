/** What the screens of text say: figures as bars and tables, keys by their map. Pure. */
import type { Receipt } from "../../../protocol/command.ts";
import type { InquiryAnswer } from "../../../protocol/inquiry.ts";
import { type Bill, type ContextBreakdown, type ContextKind, contextKinds } from "../../../protocol/usage.ts";
import { sayCount, sayDuration } from "../../../view/say.ts";
import type { GoalTry } from "../../../view/standing.ts";
import type { LiveContext } from "../foot/live.ts";
import { type KeyMap, keyRows, sayKeys } from "../input/key-map.ts";
import { type RowContext, shortPath } from "../rows/context.ts";
import { inertLines, inertOne } from "../text/inert.ts";
import {
  asIs,
  blank,
  bold,
  cut,
  dim,
  type PrintLine,
  role,
  span,
  type TextRole,
  type TextSpan,
  words,
} from "../text/styled.ts";
import { sayAgo } from "./screen-row.ts";

/**
 * What a command says, moved in as every screen is; words that are too long go on below their own start. What was found of
 * something has a word before it that says how it is.
 */
export const textLines = (text: string): PrintLine[] =>
  inertLines(text.trimEnd()).map((line) => {
    const [, state = "", rest = ""] = /^(ok|note|bad)( +\S.*)$/.exec(line) ?? [];
    const of = findings[state];
    if (of !== undefined)
      return words([of === "" ? dim(`   ${state}`) : role(of, `   ${state}`), span(rest)], 3 + findingCells);
    return words([span(`   ${line}`)], 3 + (/^\s*/.exec(line)?.[0].length ?? 0) + moreCells);
  });

/** What goes on is a little further in, so that it is not taken for a line of its own. */
const moreCells = 2;
const findingCells = 5;
const findings: Readonly<Record<string, TextRole | "">> = { ok: "done", note: "", bad: "failed" };

const kinds: Readonly<Record<ContextKind, { readonly name: string; readonly role: TextRole | undefined }>> = {
  system: { name: "system prompt", role: "keyword" },
  tools: { name: "tools", role: "running" },
  mcp: { name: "tools of MCP servers", role: "number" },
  instructions: { name: "instructions", role: "string" },
  skills: { name: "skills", role: "asking" },
  messages: { name: "messages", role: undefined },
};

/** A bar by kind, each kind in its own colour and with its own letter where there is none. */
export function contextLines(context: ContextBreakdown, { columns, signs, marks }: RowContext): PrintLine[] {
  const { model, windowTokens, totalTokens, freeTokens, compactAtTokens, tokens } = context;
  const width = Math.max(10, Math.min(60, columns - 6));
  const cells = (count: number): number =>
    count === 0 ? 0 : Math.max(1, Math.round((count / Math.max(1, windowTokens)) * width));
  const used = contextKinds.map((kind) => ({ kind, cells: cells(tokens[kind]) }));
  const filled = used.reduce((sum, { cells: one }) => sum + one, 0);
  const bar: TextSpan[] = [
    ...used.map(({ kind, cells: count }) => {
      const { name, role: of } = kinds[kind];
      const sign = marks ? (name[0] ?? "") : signs.bar;
      return of ? role(of, sign.repeat(count)) : span(sign.repeat(count));
    }),
    dim(signs.barEmpty.repeat(Math.max(0, width - filled))),
  ];
  const row = (name: string, count: number, of?: TextRole): PrintLine =>
    cut(
      of
        ? role(of, `   ${marks ? (name[0] ?? "") : signs.bar} `)
        : span(`   ${marks ? (name[0] ?? "") : signs.bar} `),
      span(name.padEnd(22)),
      span(sayCount(count).padStart(10)),
      dim(share(count, windowTokens).padStart(9)),
    );
  return [
    cut(
      span(`   ${inertOne(model)}: `),
      bold(sayCount(totalTokens)),
      span(` of ${sayCount(windowTokens)} tokens, ${share(totalTokens, windowTokens)}`),
    ),
    asIs(span("   "), ...bar),
    ...contextKinds
      .filter((kind) => tokens[kind] > 0)
      .map((kind) => row(kinds[kind].name, tokens[kind], kinds[kind].role)),
    cut(
      dim(
        `   ${signs.barEmpty} ${"free".padEnd(22)}${sayCount(freeTokens).padStart(10)}${share(freeTokens, windowTokens).padStart(9)}`,
      ),
    ),
    words(
      [
        dim(
          compactAtTokens === null
            ? "   The conversation is not shortened by itself."
            : `   The conversation is shortened by itself at ${sayCount(compactAtTokens)} tokens; /compact does it now.`,
        ),
      ],
      3,
    ),
  ];
}

const share = (count: number, window: number): string =>
  window > 0 ? `${((count / window) * 100).toFixed(1)} %` : "";

/** By model, with what the cache saved. */
export function costLines(bill: Bill, { columns }: RowContext): PrintLine[] {
  const least = bill.unknownRequests > 0 || bill.unpricedTokens > 0 ? "at least " : "";
  const models = Object.entries(bill.models).flatMap(([name, { usage, costUsd }]) => {
    const read = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    const cached = read > 0 ? (usage.cacheReadTokens / read) * 100 : 0;
    const figures = `${sayCount(read)} read (${cached.toFixed(0)} % from the cache), ${sayCount(usage.outputTokens)} written`;
    const head = cut(span(`   ${inertOne(name)}  `), bold(`$${costUsd.toFixed(4)}`));
    return columns < 50 ? [head, cut(dim(`     ${figures}`))] : [head, words([dim(`     ${figures}`)], 5)];
  });
  return [
    cut(span(`   Cost: ${least}`), bold(`$${bill.costUsd.toFixed(4)}`)),
    ...models,
    ...(bill.unpricedTokens > 0
      ? [cut(dim(`   ${sayCount(bill.unpricedTokens)} tokens have no known price.`))]
      : []),
    ...(bill.unknownRequests > 0
      ? [cut(dim(`   What ${bill.unknownRequests} requests used is not known.`))]
      : []),
    cut(dim(`   Time of the provider: ${sayDuration(bill.apiMs)}`)),
  ];
}

/** The newest try first: what came of it says what is still missing. */
export function goalLines(
  { words: goal, tries }: { readonly words: string; readonly tries: readonly GoalTry[] },
  { now, signs }: Pick<LiveContext, "now" | "signs">,
): PrintLine[] {
  if (goal === "" && tries.length === 0)
    return textLines("There is no goal. /goal npm test passes sets one: each turn goes on until it holds.");
  const last = tries.at(-1);
  const how = last === undefined ? "not tried yet" : last.held ? "holds" : "does not hold yet";
  return [
    words([bold(`   ${inertOne(goal)}`), dim(`  ${how}`)], 3),
    ...tries
      .toReversed()
      .flatMap(({ try: count, held, words: said, at }): PrintLine[] => [
        blank,
        cut(
          role(held ? "done" : "failed", `   ${held ? signs.done : signs.failed} `),
          span(`Try ${count}`),
          dim(`  ${sayAgo(now - at)}`),
        ),
        ...textLines(said.trim() === "" ? "It said nothing." : said).slice(0, linesOfTry),
      ]),
  ];
}

/** What a command printed ends with why it failed; all of it stands in the log. */
const linesOfTry = 12;

export function keyLines(map: KeyMap, { columns }: RowContext): PrintLine[] {
  const width = Math.min(28, Math.floor(columns / 3));
  const groups = [
    { title: "Everywhere and while typing", rows: keyRows.filter(({ in: place }) => place !== "panel") },
    { title: "In questions, lists and screens", rows: keyRows.filter(({ in: place }) => place === "panel") },
  ];
  return groups.flatMap(({ title, rows }, index) => [
    ...(index === 0 ? [] : [blank]),
    cut(bold(`   ${title}`)),
    ...rows.map(({ action, says }) => {
      const keys = sayKeys(map, action) || "(none)";
      return words([span(`   ${keys.padEnd(width)}  `), dim(says)], width + 5);
    }),
  ]);
}

export function rewindLines(
  { files, skipped, lost }: Extract<Receipt, { type: "rewound" }>,
  context: RowContext,
): PrintLine[] {
  const named = (path: string): string => inertOne(shortPath(path, context));
  return [
    ...files.map(({ path, insertions, deletions }) =>
      cut(
        span(named(path)),
        role("added", `  +${insertions}`),
        role("removed", ` ${context.signs.minus}${deletions}`),
      ),
    ),
    ...skipped.map(({ path, why }) => cut(dim(`${named(path)}: left as it is, ${inertOne(why)}`))),
    ...lost.map((path) => cut(dim(`${named(path)}: changed since, and cannot be restored`))),
    ...(files.length + skipped.length + lost.length === 0 ? [cut(dim("No file would change."))] : []),
  ];
}

type ShownServer = InquiryAnswer<"servers">[number];

export function serverLines(server: ShownServer | undefined): PrintLine[] {
  if (!server) return [cut(dim("There is no such server any more."))];
  const error = server["error"];
  const tools = Array.isArray(server["tools"]) ? server["tools"] : [];
  const names = tools.map((tool) => (typeof tool === "string" ? tool : nameIn(tool)));
  return [
    cut(span(`   ${server.status}`)),
    ...(typeof error === "string"
      ? inertLines(error).map((line) => words([role("failed", `   ${line}`)], 3))
      : []),
    ...names.map((name) => cut(dim(`   ${inertOne(name)}`))),
  ];
}

const nameIn = (tool: unknown): string =>
  typeof tool === "object" && tool !== null && "name" in tool ? String(tool.name) : "";
