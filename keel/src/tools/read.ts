/** Read: a file as numbered lines, an image, the cells of a notebook or the pages of a PDF. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { type Excerpt, excerptOf } from "./excerpt.ts";
import { failure } from "./failure.ts";
import { toolHeads } from "./heads.ts";
import { imageType } from "./image-type.ts";
import { parseNotebook } from "./notebook.ts";
import { showNotebook } from "./read-notebook.ts";
import { isPdf, parsePages, showPdf } from "./read-pdf.ts";
import { claimedPath, decidedPath, movedTarget, targetOf } from "./target.ts";
import { decodeText, firstLines } from "./text-file.ts";

const mebibyte = 1024 * 1024;
/** What is read into memory at most; a part of a longer file is better cut out by a command. */
const maxFileBytes = 16 * mebibyte;
/** Providers take images up to 5 MB in base64, which is a third longer than the bytes. */
const maxImageBytes = 3_750_000;
/** More than other tools may return: a file that is cut in its middle has to be read again. */
const resultCharacters = 100_000;
/** Of them what is not needed for notes. */
const maxCharacters = resultCharacters - 1_000;
const maxLines = 2_000;
const maxLineCharacters = 2_000;

const input = z.object({
  file_path: z.string().check(z.describe("Path of the file, absolute or relative to the working directory.")),
  offset: z.optional(
    z.int().check(z.gte(1), z.describe("Number of the first line, or cell of a notebook; 1 if left out.")),
  ),
  limit: z.optional(z.int().check(z.gte(1), z.describe(`How many lines to show; ${maxLines} if left out.`))),
  pages: z.optional(z.string().check(z.describe('Of a PDF: the pages to show, such as "3" or "1-5".'))),
});
type ReadInput = z.infer<typeof input>;

export const readTool: Tool<ReadInput> = defineTool({
  name: "Read",
  family: "reads",
  description: `Reads a file. Each line is shown as its number, a tab and its text; number and tab are not part of the file. Long files are shown in part: go on with offset and limit. PNG, JPEG, GIF and WebP files are shown as images, PDF files as the text of their pages, notebooks (.ipynb) as cells with their outputs. Lists no directories: use Glob for that.`,
  input: schemaOf(input, toolHeads.Read.input),
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
  run: async function* (
    { file_path, offset = 1, limit = maxLines, pages },
    context,
    signal,
  ): AsyncGenerator<never, ToolOutcome> {
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
    if (type) return image({ path, type, bytes, seen });
    if (isPdf(bytes)) {
      const room = { documents: context.workspace.documents, maxCharacters };
      const shown = await showPdf({ path, bytes, pages: wantedPages }, room, signal);
      return shown.failed ? shown : { ...shown, seen };
    }
    const bounds = { offset, limit, maxLineCharacters, maxCharacters };
    const isNotebook = path.endsWith(".ipynb");
    const start = isNotebook ? undefined : firstLines(bytes, offset - 1 + limit);
    if (start)
      return lines(excerptOf(start.text, { ...bounds, totalLines: start.totalLines }), { path, seen });
    const decoded = decodeText(bytes);
    if (!decoded)
      return failure(
        `${file_path} is not text: ${bytes.length} bytes of binary data. ${otherWays(file_path)}`,
      );
    const notebook = isNotebook ? parseNotebook(decoded.text) : undefined;
    // A notebook that is damaged is still text.
    if (notebook?.ok)
      return { ...showNotebook(notebook.notebook, { path, offset, limit, maxCharacters }), seen };
    return lines(excerptOf(decoded.text, bounds), { path, seen });
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

type SeenFile = NonNullable<ToolOutcome["seen"]>;

function lines(excerpt: Excerpt, { path, seen }: { path: string; seen: SeenFile }): ToolOutcome {
  const { numbered, content, startLine, numLines, totalLines, notes } = excerpt;
  if (numLines === 0)
    return failure(`${path} has only ${totalLines} lines; line ${startLine} is past its end.`);
  const empty = totalLines === 1 && content === "" ? ["The file is empty."] : [];
  return {
    content: [text([numbered, ...[...empty, ...notes].map((note) => `(${note})`)].join("\n\n"))],
    display: {
      kind: "text",
      text: `${path}: ${numLines === totalLines ? "" : `${numLines} of `}${totalLines} lines`,
    },
    data: { type: "text", file: { filePath: path, content, numLines, startLine, totalLines } },
    seen,
  };
}

function image({
  path,
  type,
  bytes,
  seen,
}: {
  path: string;
  type: string;
  bytes: Uint8Array;
  seen: SeenFile;
}): ToolOutcome {
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
