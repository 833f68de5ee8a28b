/**
 * The one event that a long reply consists of, a further piece of the text or thinking that is being written, cut out
 * without being parsed: it has one form, and where nothing in it is escaped the piece stands there as it is.
 */
export type QuickType = "text_delta" | "thinking_delta";

/** How such an event begins, as it stands on the wire. */
export const startOf = (type: QuickType, index: number): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${fields[type]}":"`;

/** Undefined where it is another event, or one that must be parsed. */
export function pieceOf(record: string, start: string): string | undefined {
  if (!record.startsWith(start) || !record.endsWith(end)) return undefined;
  const piece = record.slice(start.length, -end.length);
  return escaped.test(piece) ? undefined : piece;
}

const fields = { text_delta: "text", thinking_delta: "thinking" } as const;
const end = '"}}';
// What JSON escapes or refuses in a text is left to JSON.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const escaped = /["\\\0-\x1f]/;
