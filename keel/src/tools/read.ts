/** Read: a file as numbered lines, an image, the cells of a notebook or the pages of a PDF. */
import * as z from "zod/mini";
import type { ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { builtInTool, failure, numberField, pathField, textField } from "./built-in.ts";
import { imageType, maxImageBytes } from "./image-type.ts";
import { parseNotebook } from "./notebook.ts";
import { countOf } from "./occurrences.ts";
import { showNotebook } from "./read-notebook.ts";
import { isPdf, parsePages, showPdf } from "./read-pdf.ts";
import { claimedPath, decidedPath, movedTarget, targetOf } from "./target.ts";
import { decodeText, firstLines } from "./text-file.ts";

const mebibyte = 1024 * 1024;
/** What is read into memory at most; a part of a longer file is better cut out by a command. */
const maxFileBytes = 16 * mebibyte;
/** More than other tools may return: a file that is cut in its middle has to be read again. */
const resultCharacters = 100_000;
/** Of them what is not needed for notes. */
const maxCharacters = resultCharacters - 1_000;
const maxLines = 2_000;
const maxLineCharacters = 2_000;

const input = z.object({
  file_path: pathField,
  offset: numberField("First line, or cell of a notebook; default 1.", z.gte(1)),
  limit: numberField(`Number of lines; default ${maxLines}.`, z.gte(1)),
  pages: z.optional(textField('PDF only: pages to read, such as "3" or "1-5".')),
});

export const readTool = builtInTool({
  name: "Read",
  family: "reads",
  description: `Reads a file. Each line is shown as its number, a tab and its text; number and tab are not part of the file. Long files are shown in part: continue with offset and limit. Shows PNG, JPEG, GIF and WebP files as images, PDF files as text by page, notebooks (.ipynb) as cells with outputs. For directories use Glob.`,
  input,
  resultCharacters,
  traits: { readOnly: true, concurrent: true, replay: "safe" },
  claims: async ({ file_path }, context) => [
    { action: "read", target: await claimedPath(context, file_path) },
  ],
  check: async ({ file_path, pages }, context) => {
    const wanted = parsePages(pages);
    if (typeof wanted === "string") return wanted;
    const { problem, kind } = await context.workspace.files.describe(file_path);
    // A pipe or a device is refused at once and not after a question about it.
    return (
      problem ??
      (kind === "other" ? `${file_path} is not a regular file (a pipe, a device or a socket).` : undefined)
    );
  },
  run: async function* ({ file_path, offset = 1, limit = maxLines, pages }, context, signal) {
    const wantedPages = parsePages(pages);
    if (typeof wantedPages === "string") return failure(wantedPages);
    const { files } = context.workspace;
    const decided = decidedPath(context, "read");
    const read = await files.read(decided ?? file_path, { maxBytes: maxFileBytes });
    if (!read.ok) return failure(await sayUnread(file_path, { context, why: read.why }));
    const { bytes, path, stamp } = read.file;
    // The file was opened without a second look: it must be the one that was decided about.
    if (decided !== undefined && path !== decided) return failure(movedTarget(file_path));
    const seen = [{ path, stamp }];
    const type = imageType(bytes);
    if (type) return showImage(bytes, { path, seen, type });
    if (isPdf(bytes)) {
      const room = { documents: context.workspace.documents, maxCharacters };
      const shown = await showPdf({ path, bytes, pages: wantedPages }, room, signal);
      return shown.failed ? shown : { ...shown, seen };
    }
    const window = { path, seen, offset, limit };
    const isNotebook = path.endsWith(".ipynb");
    const start = isNotebook ? undefined : firstLines(bytes, offset - 1 + limit);
    if (start) return showLines(start.text, { ...window, totalLines: start.totalLines });
    const decoded = decodeText(bytes);
    if (!decoded)
      return failure(
        `${file_path} is not text: ${bytes.length} bytes of binary data. ${otherWays(file_path)}`,
      );
    const notebook = isNotebook ? parseNotebook(decoded.text) : undefined;
    // A notebook that is damaged is still text.
    if (notebook?.ok)
      return { ...showNotebook(notebook.notebook, { path, offset, limit, maxCharacters }), seen };
    return showLines(decoded.text, window);
  },
});

async function sayUnread(
  file_path: string,
  { context, why }: { context: ToolContext; why: string },
): Promise<string> {
  const target = await targetOf(context, { action: "read", path: file_path });
  if (!target.ok) return target.why;
  if (target.facts.kind === "directory")
    return `${file_path} is a directory. List it with Glob: path ${quoted(file_path)}, pattern *`;
  return target.facts.exists ? `${why} ${otherWays(file_path)}` : why;
}

type ReadFile = { readonly path: string; readonly seen: NonNullable<ToolOutcome["seen"]> };
type LineWindow = {
  /** The number of the first line. */
  readonly offset: number;
  readonly limit: number;
  /** Where the text is only the start of a longer one: how many lines that has. */
  readonly totalLines?: number;
};

/** Some lines of a text, numbered, within bounds, and with notes about what is not shown. */
function showLines(
  whole: string,
  { path, seen, offset, limit, ...given }: ReadFile & LineWindow,
): ToolOutcome {
  const { totalLines = countOf(whole, "\n") + 1 } = given;
  const numbered: string[] = [];
  const shown: string[] = [];
  let characters = 0;
  let cutLines = 0;
  for (let start = startOfLine(whole, offset); start >= 0 && shown.length < limit; ) {
    const found = whole.indexOf("\n", start);
    const end = found < 0 ? whole.length : found;
    const line = whole.slice(start, whole[end - 1] === "\r" && end > start ? end - 1 : end);
    const more = line.length - maxLineCharacters;
    const bounded = more > 0 ? `${line.slice(0, maxLineCharacters)}… [${more} more characters]` : line;
    const row = `${offset + shown.length}\t${bounded}`;
    characters += row.length + 1;
    // The first line comes in any case: a window of one line must show something.
    if (characters > maxCharacters && shown.length > 0) break;
    if (more > 0) cutLines += 1;
    numbered.push(row);
    shown.push(bounded);
    start = found < 0 ? -1 : found + 1;
  }
  const [numLines, content] = [shown.length, shown.join("\n")];
  if (numLines === 0) return failure(`${path} has only ${totalLines} lines; line ${offset} is past its end.`);
  const last = offset + numLines - 1;
  const notes = [
    ...(totalLines === 1 && content === "" ? ["The file is empty."] : []),
    ...(cutLines > 0 ? [`Lines longer than ${maxLineCharacters} characters are cut: ${cutLines} here.`] : []),
    ...(last < totalLines
      ? [`Lines ${offset} to ${last} of ${totalLines}. Go on with offset ${last + 1}.`]
      : []),
  ];
  const extent = numLines === totalLines ? totalLines : `${numLines} of ${totalLines}`;
  return {
    content: [text([numbered.join("\n"), ...notes.map((note) => `(${note})`)].join("\n\n"))],
    display: { kind: "text", text: `${path}: ${extent} lines` },
    data: { type: "text", file: { filePath: path, content, numLines, startLine: offset, totalLines } },
    seen,
  };
}

/** Where a line begins, or -1 when the text has fewer lines. */
function startOfLine(text: string, number: number): number {
  let start = 0;
  for (let line = 1; line < number; line++) {
    const found = text.indexOf("\n", start);
    if (found < 0) return -1;
    start = found + 1;
  }
  return start;
}

function showImage(bytes: Uint8Array, { path, seen, type }: ReadFile & { type: string }): ToolOutcome {
  if (bytes.length > maxImageBytes)
    return failure(
      `${path} is an image of ${bytes.length} bytes; at most ${maxImageBytes} can be shown. Make it smaller first.`,
    );
  return {
    content: [{ type: "image", mediaType: type, data: Buffer.from(bytes).toString("base64") }],
    display: { kind: "text", text: `${path}: ${type}, ${bytes.length} bytes` },
    // The picture itself stands in the content; a second copy would double the log.
    data: { type: "image", file: { filePath: path, type, originalSize: bytes.length } },
    seen,
  };
}

const otherWays = (path: string): string =>
  `A part of it can be shown with Bash, for example: head -c 2000 ${quoted(path)}`;

/** As a shell takes it. */
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
