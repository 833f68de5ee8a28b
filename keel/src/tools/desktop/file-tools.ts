/** Files of the allowed folders, by the same looks and writes as the built-in tools. */
import path from "node:path";
import * as z from "zod/mini";
import type { JsonObject } from "../../kernel/json.ts";
import { isObject } from "../../kernel/json.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import { failure, numberField, textField } from "../built-in.ts";
import { findByPattern, globTool } from "../glob.ts";
import { imageType, maxImageBytes } from "../image-type.ts";
import { shownPath } from "../search-notes.ts";
import { claimedPath, decidedPath, movedTarget, targetOf } from "../target.ts";
import { decodeText } from "../text-file.ts";
import { writeTool } from "../write.ts";
import { desktopTool, jsonOutcome, reading, whyOutside } from "./outcomes.ts";

const place = textField("Path of the file, relative to the working folder.");
/** A listing that a model can still read. */
const maxEntries = 500;
const maxFound = 100;

export const fileTools = ({ maxFileBytes }: { readonly maxFileBytes: number }): readonly Tool[] => [
  listFiles,
  readFile(maxFileBytes),
  writeFile(maxFileBytes),
  searchFiles,
];

const readClaim = async (context: ToolContext, name: string) =>
  [{ action: "read", target: await claimedPath(context, name) }] as const;

const listFiles = desktopTool({
  name: "list_files",
  description: "Lists the files and folders in a folder.",
  input: z.object({ path: z.optional(textField("The folder; the working folder when left out.")) }),
  traits: reading,
  claims: ({ path: name = "." }, context) => readClaim(context, name),
  check: ({ path: name = "." }, context) => whyOutside(context, name),
  run: async function* ({ path: name = "." }, context) {
    const { workspace, isDenied = () => false } = context;
    const target = await targetOf(context, { action: "read", path: name });
    if (!target.ok) return failure(target.why);
    const { path: folder, kind, root } = target.facts;
    if (root === undefined) return failure(`${name} lies outside of the allowed folders.`);
    if (kind !== "directory") return failure(`${name} is no folder.`);
    const plain = folder.replaceAll(/[\\*?[\]{}!]/g, "\\$&");
    const both = await Promise.all(["*", ".*"].map((all) => workspace.files.expand(`${plain}/${all}`)));
    if (both.some((names) => names === undefined))
      return failure(`${name} holds too much to list. Look for what you need with search_files.`);
    const names = new Set(both.flatMap((found) => (found ?? []).map((one) => one.path)));
    const entries: JsonObject[] = [];
    for (const file of [...names].toSorted()) {
      const last = path.basename(file);
      if (last === "*" || last === ".*" || last === "." || last === ".." || isDenied(file)) continue;
      const facts = await workspace.files.describe(file);
      if (!facts.exists || facts.own) continue;
      const type = facts.kind === "directory" ? "directory" : "file";
      entries.push({ name: last, type, path: shownPath(workspace.cwd, file) });
      if (entries.length >= maxEntries) break;
    }
    return jsonOutcome({ path: name, entries }, { shows: `${name}: ${entries.length} entries` });
  },
});

const readFile = (maxBytes: number): Tool =>
  desktopTool({
    name: "read_file",
    description: "Reads a text file.",
    input: z.object({ path: place }),
    traits: reading,
    claims: ({ path: name }, context) => readClaim(context, name),
    check: ({ path: name }, context) => whyOutside(context, name),
    run: async function* ({ path: name }, context) {
      const read = await readBytes(name, maxBytes, context);
      if (!read.ok) return failure(read.why);
      const { bytes, stamp, path: file } = read.file;
      const decoded = decodeText(bytes);
      if (!decoded) return failure(`${name} is not text. A picture is shown by analyze_image.`);
      const found = { path: name, content: decoded.text, size: bytes.length };
      const seen = [{ path: file, stamp }];
      return jsonOutcome(found, { shows: `${name}: ${bytes.length} bytes`, seen });
    },
  });

/** Of the file that was decided about, and of no other. */
async function readBytes(name: string, maxBytes: number, context: ToolContext) {
  const decided = decidedPath(context, "read");
  const why = await whyOutside(context, decided ?? name);
  if (why !== undefined) return { ok: false, why } as const;
  const read = await context.workspace.files.read(decided ?? name, { maxBytes });
  if (!read.ok) return read;
  return decided !== undefined && read.file.path !== decided
    ? ({ ok: false, why: movedTarget(name) } as const)
    : read;
}

const writeFile = (maxBytes: number): Tool =>
  desktopTool({
    name: "write_file",
    description:
      "Writes a whole text file and makes missing folders. A file that is there must have been read before.",
    input: z.object({ path: place, content: textField("The whole text of the file.") }),
    claims: ({ path: file_path, content }, context) => writeTool.claims({ file_path, content }, context),
    check: async ({ path: file_path, content }, context) => {
      const size = Buffer.byteLength(content);
      if (size > maxBytes) return `content has ${size} bytes; at most ${maxBytes} are written.`;
      const why = await whyOutside(context, file_path);
      return why ?? writeTool.check({ file_path, content }, context);
    },
    preview: async ({ path: file_path, content }, context) =>
      writeTool.preview?.({ file_path, content }, context),
    run: async function* ({ path: file_path, content }, context, signal) {
      const why = await whyOutside(context, decidedPath(context, "write") ?? file_path);
      if (why !== undefined) return failure(why);
      const outcome = yield* writeTool.run({ file_path, content }, context, signal);
      if (outcome.failed) return outcome;
      const size = Buffer.byteLength(content);
      const said = { path: file_path, size, message: `Wrote ${size} bytes to ${file_path}.` };
      const { display, ...told } = jsonOutcome(said, { shows: "" });
      // The change itself is shown.
      return { ...outcome, ...told };
    },
  });

const searchFiles = desktopTool({
  name: "search_files",
  description: "Finds files by a pattern such as **/*.md. Returns paths, the newest first.",
  input: z.object({
    pattern: textField("The pattern: *, ?, ** and {a,b}."),
    maxResults: numberField(`How many paths at most; default ${maxFound}.`, z.gte(1), z.lte(1_000)),
  }),
  traits: reading,
  claims: ({ pattern }, context) => globTool.claims({ pattern }, context),
  check: async ({ pattern }, context) => {
    const [claim] = await globTool.claims({ pattern }, context);
    const why = claim && (await whyOutside(context, claim.target));
    return why ?? globTool.check({ pattern }, context);
  },
  run: async function* ({ pattern, maxResults = maxFound }, context, signal) {
    const outcome = await findByPattern({ pattern }, context, { signal, maxPaths: maxResults });
    const found = isObject(outcome.data) ? outcome.data : {};
    if (outcome.failed) return outcome;
    const files = found["filenames"] ?? [];
    const { display: _, ...told } = jsonOutcome({ pattern, files }, { shows: "" });
    return { ...outcome, ...told };
  },
});

export const analyzeImage = (maxBytes: number): Tool =>
  desktopTool({
    name: "analyze_image",
    description: "Shows a picture of the disk: PNG, JPEG, GIF or WebP.",
    input: z.object({ path: place }),
    traits: reading,
    claims: ({ path: name }, context) => readClaim(context, name),
    check: ({ path: name }, context) => whyOutside(context, name),
    run: async function* ({ path: name }, context) {
      const read = await readBytes(name, maxBytes, context);
      if (!read.ok) return failure(read.why);
      const { bytes } = read.file;
      const mediaType = imageType(bytes);
      if (mediaType === undefined) return failure(`${name} is no picture in PNG, JPEG, GIF or WebP.`);
      return pictureOutcome(bytes, { mediaType, about: { path: name } });
    },
  });

/** A picture that a model sees, with what is known of it; one that is too large is said so. */
export function pictureOutcome(
  bytes: Uint8Array,
  { mediaType, about }: { mediaType: string; about: JsonObject },
) {
  if (bytes.length > maxImageBytes)
    return failure(`The picture has ${bytes.length} bytes; a model sees at most ${maxImageBytes}.`);
  const data = { ...about, format: mediaType.slice("image/".length), size: bytes.length };
  return jsonOutcome(data, {
    shows: `${mediaType}, ${bytes.length} bytes`,
    more: [{ type: "image", mediaType, data: Buffer.from(bytes).toString("base64") }],
  });
}
