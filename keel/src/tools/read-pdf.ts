/** The pages of a PDF as Read shows them: as text, a few at a time. */
import type { ToolOutcome } from "../ports/tool.ts";
import type { Documents } from "../ports/workspace.ts";
import { text } from "../protocol/message.ts";
import { failure } from "./built-in.ts";

/** Pages of one call. */
const maxPages = 20;

export type Pages = { readonly first: number; readonly last: number };

export const isPdf = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "%PDF-";

/** `3`, `1-5` or `10-`; a sentence when it is none of them. */
export function parsePages(wanted: string | undefined): Pages | string {
  if (wanted === undefined) return { first: 1, last: maxPages };
  const found = /^\s*(\d{1,6})\s*(?:(-)\s*(\d{1,6})?)?\s*$/.exec(wanted);
  if (!found) return 'pages must be a page or a range of pages, such as "3" or "1-5".';
  const first = Number(found[1]);
  const last = found[3] !== undefined ? Number(found[3]) : found[2] ? first + maxPages - 1 : first;
  if (first < 1 || last < first) return `pages "${wanted}" is not a range: pages count from 1.`;
  if (last - first >= maxPages) return `At most ${maxPages} pages are read at once; "${wanted}" has more.`;
  return { first, last };
}

export async function showPdf(
  { path, bytes, pages }: { path: string; bytes: Uint8Array; pages: Pages },
  { documents, maxCharacters }: { documents: Documents; maxCharacters: number },
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { first, last } = pages;
  const read = await documents.pdfText({ bytes, first, last }, signal);
  if (!read.ok) return failure(`${path}: ${read.why}`);
  const { totalPages } = read;
  if (first > totalPages)
    return failure(`${path} has only ${totalPages} pages; page ${first} is past its end.`);
  const shown: string[] = [];
  let characters = 0;
  for (const [index, page] of read.pages.entries()) {
    const words = `[page ${first + index} of ${totalPages}]\n${page.trim() || "(no text on this page)"}`;
    characters += words.length + 2;
    // The first page comes in any case: a call must show something.
    if (shown.length > 0 && characters > maxCharacters) break;
    shown.push(words.slice(0, maxCharacters));
  }
  const end = first + shown.length - 1;
  const note =
    end < totalPages ? [`(Pages ${first} to ${end} of ${totalPages}. Go on with pages "${end + 1}-".)`] : [];
  return {
    content: [text([...shown, ...note].join("\n\n"))],
    display: { kind: "text", text: `${path}: pages ${first} to ${end} of ${totalPages}` },
    data: {
      type: "pdf",
      file: {
        filePath: path,
        originalSize: bytes.length,
        startPage: first,
        numPages: shown.length,
        totalPages,
      },
    },
  };
}
