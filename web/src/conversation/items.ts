/** Rows as the items of a virtual list. A long reply is several: what is far from the screen is not on the page. */
import type { Row } from "keel/view";
import { noParts, type Parted, partText } from "../markdown/parts.ts";
import type { RowPart } from "../rows/row-view.tsx";

export type Item = { readonly key: string; readonly row: Row; readonly part?: RowPart | undefined };

export type Items = {
  readonly rows: readonly Row[];
  readonly items: readonly Item[];
  /** Where the items of each row begin. */
  readonly starts: readonly number[];
  /** Calls that are told by the row of their agent. */
  readonly claimed: ReadonlySet<string>;
  /** Of the last reply, as far as it was parted: it goes on from there. */
  readonly growing: Growing | null;
};

type Growing = {
  readonly id: string;
  readonly text: string;
  readonly parted: Parted;
  readonly gathered: Gathered;
};

export const noItems: Items = { rows: [], items: [], starts: [], claimed: new Set(), growing: null };

/** Parts are gathered up to this many characters: few items, and none that takes long to draw. */
const maxItem = 1_000;

/** What did not change is taken from before, also the parts of a reply that only grew. */
export function itemsOf(rows: readonly Row[], before: Items = noItems): Items {
  let same = 0;
  while (same < rows.length && rows[same] === before.rows[same]) same += 1;
  if (same === rows.length && same === before.rows.length) return before;
  const claimed = withCalls(before.claimed, rows, same);
  // The call of an agent stands before it, and gives way to it.
  if (claimed !== before.claimed) same = Math.min(same, firstCall(rows, claimed, before.claimed));
  const items = before.items.slice(0, before.starts[same] ?? before.items.length);
  const starts = before.starts.slice(0, same);
  let growing = before.growing;
  for (const row of rows.slice(same)) {
    starts.push(items.length);
    if (row.kind === "tool" && claimed.has(row.callId)) continue;
    if (row.kind !== "text" || row.text.length <= maxItem) {
      items.push({ key: row.id, row });
      continue;
    }
    const isSame = growing?.id === row.id && row.text.startsWith(growing.text);
    const parted = partText(row.text, isSame && growing ? growing.parted : noParts);
    const gathered = gather(parted.parts, isSame && growing ? growing.gathered : noneGathered);
    growing = { id: row.id, text: row.text, parted, gathered };
    for (const [index, part] of gathered.parts.entries())
      items.push({ key: `${row.id}#${index}`, row, part });
  }
  return { rows, items, starts, claimed, growing };
}

function withCalls(known: ReadonlySet<string>, rows: readonly Row[], from: number): ReadonlySet<string> {
  const found = rows
    .slice(from)
    .flatMap((row) => (row.kind === "agent" && row.data.callId !== undefined ? [row.data.callId] : []))
    .filter((call) => !known.has(call));
  return found.length === 0 ? known : new Set([...known, ...found]);
}

function firstCall(rows: readonly Row[], now: ReadonlySet<string>, before: ReadonlySet<string>): number {
  const index = rows.findIndex(
    (row) => row.kind === "tool" && now.has(row.callId) && !before.has(row.callId),
  );
  return index === -1 ? rows.length : index;
}

type Gathered = {
  readonly parts: readonly RowPart[];
  /** Where the last of them begins among the parts of the text: those before it stay as they are. */
  readonly from: number;
};
const noneGathered: Gathered = { parts: [], from: 0 };

function gather(parts: readonly string[], before: Gathered): Gathered {
  const done = before.parts.slice(0, -1);
  let { from } = before;
  let text = "";
  for (let at = from; at < parts.length; at += 1) {
    const part = parts[at] ?? "";
    if (text !== "" && text.length + part.length > maxItem) {
      done.push({ text, isFirst: done.length === 0, isLast: false });
      from = at;
      text = "";
    }
    text += part;
  }
  return { parts: [...done, { text, isFirst: done.length === 0, isLast: true }], from };
}

/** The item in which a row begins; undefined for a row that is not there. */
export function itemOfRow({ rows, starts }: Items, id: string): number | undefined {
  const index = rows.findIndex((row) => row.id === id);
  return index === -1 ? undefined : starts[index];
}

/** The next item of a kind after (or before) one; undefined where there is none. */
export function nextItem(
  { items }: Items,
  from: number,
  { step, fits }: { readonly step: 1 | -1; readonly fits: (row: Row) => boolean },
): number | undefined {
  for (let at = from + step; at >= 0 && at < items.length; at += step) {
    const item = items[at];
    if (item && (item.part?.isFirst ?? true) && fits(item.row)) return at;
  }
  return undefined;
}

/** What people jump to. */
export const jumps = {
  change: (row: Row): boolean => row.kind === "tool" && (row.linesAdded ?? 0) + (row.linesRemoved ?? 0) > 0,
  question: (row: Row): boolean => row.kind === "ask",
  error: (row: Row): boolean =>
    (row.kind === "tool" && (row.status === "failed" || row.status === "denied")) ||
    (row.kind === "turn-end" && row.fault !== undefined),
  message: (row: Row): boolean => row.kind === "user" && row.from.kind === "person",
} as const;
export type Jump = keyof typeof jumps;
