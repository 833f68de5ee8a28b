/**
 * Which projects are trusted, and what was shown when they were: one private file outside of every project. A root that
 * is not in it is not trusted; nothing is inherited from the folders above.
 */
import * as z from "zod/mini";
import { type Fault, fault } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { readPlainText } from "./plain-text.ts";
import { changeJson, type Lock } from "./save.ts";

export type TrustRecord = {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The marks of what was shown. */
  readonly shown: readonly string[];
};

/** By the real path of the root. */
export type TrustBook = ReadonlyMap<string, TrustRecord>;

const bookSchema = z.object({
  version: z.literal(1),
  roots: z.record(z.string(), z.object({ at: z.number(), shown: z.array(z.string()) })),
});

/** A file that cannot be read trusts nothing, and is told. */
export async function readTrust(file: string): Promise<{ book: TrustBook; fault?: Fault }> {
  const read = await readPlainText(file, { links: "follow" });
  if (read.kind === "missing") return { book: new Map() };
  const parsed = read.kind === "text" ? parseBook(read.text) : failed(read.why);
  if (parsed.ok) return { book: parsed.value };
  const reason = `${parsed.error}; until then no project is trusted`;
  return { book: new Map(), fault: fault("settings_invalid", { path: file, reason }) };
}

/** Throws `settings_unwritable`. */
export function changeTrust(
  saving: { file: string; lock: Lock },
  change: (book: TrustBook) => TrustBook,
): Promise<void> {
  return changeJson(saving, parseBook, (book = new Map()) => {
    const sorted = [...change(book)].sort(([left], [right]) => (left < right ? -1 : 1));
    return { version: 1, roots: Object.fromEntries(sorted) };
  });
}

export const withRoot = (book: TrustBook, root: string, trusted: TrustRecord): TrustBook =>
  new Map([...book, [root, trusted]]);

export const withoutRoot = (book: TrustBook, root: string): TrustBook =>
  new Map([...book].filter(([known]) => known !== root));

/** What Keel itself wrote into a trusted project on a person's word was seen by that person. */
export function withShown(book: TrustBook, root: string, mark: string): TrustBook {
  const trusted = book.get(root);
  if (!trusted || trusted.shown.includes(mark)) return book;
  return withRoot(book, root, { ...trusted, shown: [...trusted.shown, mark] });
}

function parseBook(text: string): Result<TrustBook> {
  const written = parseJson(text);
  if (written === undefined) return failed("it is not JSON");
  const parsed = bookSchema.safeParse(written);
  return parsed.success ? ok(new Map(Object.entries(parsed.data.roots))) : failed("it has another form");
}
