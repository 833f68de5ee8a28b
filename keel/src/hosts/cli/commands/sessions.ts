/** `keel sessions`: what is kept, listed, shown, exported, imported, deleted, and files put back. No model runs. */
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { oneOf, usage } from "../../../app/flags/arguments.ts";
import { type Home, openHome } from "../../../app/home.ts";
import type { SessionOwner } from "../../../app/sessions/owners.ts";
import type { Sessions, StoredSession } from "../../../app/sessions/sessions.ts";
import { toFault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import { textOf } from "../../../protocol/message.ts";
import { documentOf } from "../../../view/document.ts";
import { isoTime } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";

const maxCharacters = 60;

export const listSessions: CommandRun<{ json: boolean; all: boolean }> = async ({ values }, context) => {
  const { env, cwd, out, err } = context;
  const home = openHome({ env, cwd });
  const stored = await home.sessions.list(values.all ? {} : { cwd });
  const owners = await home.owners(stored.map(({ id }) => id));
  const sessions = stored.map((session) => ({ ...session, owner: owners.get(session.id) ?? null }));
  if (values.json) out.line(toLine(sessions));
  else if (sessions.length > 0)
    out.line(sessions.map((session) => row(session, values.all ? "all" : "one")).join("\n"));
  else
    err.line(
      values.all
        ? "There are no sessions yet."
        : "There are no sessions of this folder yet; --all looks everywhere.",
    );
};

function row(
  {
    id,
    changedAt,
    title,
    firstInput,
    cwd,
    forkedFrom,
    movedTo,
    owner,
  }: StoredSession & { readonly owner: SessionOwner | null },
  folders: "one" | "all",
): string {
  const words = visible(shorten((title ?? firstInput ?? "").replaceAll("\n", " "), maxCharacters));
  const when = (isoTime(changedAt) ?? "").slice(0, 16).replace("T", " ");
  const origin = forkedFrom ? `  (from ${forkedFrom.session.slice(0, 8)})` : "";
  const open = owner ? `  [${sayOwner(owner)}]` : "";
  const moved = movedTo === undefined ? "" : `  [moved to ${visible(movedTo)}]`;
  return [id, when, ...(folders === "all" ? [visible(cwd)] : []), `${words}${origin}${open}${moved}`]
    .join("  ")
    .trimEnd();
}

/** Who has it open; nobody is not named. */
const sayOwner = ({ kind, pid }: SessionOwner): string =>
  kind === "server" ? "open at the server" : `open in process ${pid ?? "unknown"}`;

/** What was said and done, as Markdown. Nothing runs because a session is only shown. */
export const showSession: CommandRun = async ({ positionals }, context) => {
  const id = onlyOne(positionals, "the id of a session");
  const events = await Array.fromAsync(
    openHome(context).sessions.read(id, ({ text }) => context.err.line(`keel: ${text}`)),
  );
  context.out.write((await import("../../../view/markdown.ts")).toMarkdown(documentOf(events)));
};

export const deleteSession: CommandRun = async ({ positionals }, context) => {
  const id = onlyOne(positionals, "the id of a session");
  await openHome(context).sessions.delete(id);
  context.err.line(`Deleted ${id}.`);
};

/** An exported log as a new session of this folder, or transcripts of the official interface as what they are. */
export const importSession: CommandRun<{ all: boolean }> = async ({ values, positionals }, context) => {
  const { sessions } = openHome(context);
  if (values.all && positionals.length > 0) throw usage("Give a file, a folder or --all.");
  const given = values.all
    ? undefined
    : path.resolve(context.cwd, onlyOne(positionals, "the file of a session, or a folder of transcripts"));
  if (given === undefined || (await isFolder(given)))
    return importEach(await sessions.transcripts({ folder: given, env: context.env }), sessions, context);
  const { id, state, events, notices } = await sessions.importFile(given, context);
  context.out.line(id);
  for (const notice of notices) context.err.line(`keel: ${visible(notice)}`);
  const what = state === "there" ? "It is there already; nothing was changed." : `Imported ${events} events.`;
  context.err.line(`${what} To go on: keel -p --resume ${id} "PROMPT"`);
  return exitCodes.ended;
};

const isFolder = async (place: string): Promise<boolean> =>
  (await stat(place).catch(() => undefined))?.isDirectory() ?? false;

/** What one of them is wrong about does not keep the others out. */
async function importEach(files: readonly string[], sessions: Sessions, context: Context): Promise<number> {
  const counts = { new: 0, there: 0, refused: 0 };
  for (const file of files) {
    try {
      const { id, state, notices } = await sessions.importFile(file, context);
      counts[state]++;
      if (state === "new") context.out.line(id);
      for (const notice of notices) context.err.line(`keel: ${visible(notice)}`);
    } catch (thrown) {
      counts.refused++;
      context.err.line(`keel: ${visible(toFault(thrown).message)}`);
    }
  }
  const refused = counts.refused > 0 ? ` ${counts.refused} could not be imported.` : "";
  context.err.line(`Imported ${counts.new} sessions; ${counts.there} were there already.${refused}`);
  return counts.refused > 0 ? exitCodes.turnFailed : exitCodes.ended;
}

/** The log itself, a Markdown page, one HTML page that needs nothing else, or such a page that can be replayed. */
const formats = ["jsonl", "md", "html", "replay"] as const;
type ExportFormat = (typeof formats)[number];

export const exportSession: CommandRun<{ format: string | undefined; output: string | undefined }> = async (
  { values, positionals },
  context,
) => {
  const id = onlyOne(positionals, "the id of a session");
  const format = oneOf("format", values.format, formats) ?? "jsonl";
  const home = openHome(context);
  const parts =
    format === "replay" ? replayPage(home, id, context) : exported(home.sessions, { id, format, context });
  if (values.output === undefined) await toStandardOutput(parts, context);
  else await writeWhole(values.output, parts, context.cwd);
};

async function* exported(
  sessions: Sessions,
  { id, format, context }: { id: string; format: Exclude<ExportFormat, "replay">; context: Context },
): AsyncGenerator<string | Uint8Array> {
  const tell = ({ text }: { text: string }) => context.err.line(`keel: ${text}`);
  if (format === "jsonl") return yield* sessions.exportLines(id, tell);
  const document = documentOf(await Array.fromAsync(sessions.read(id, tell)));
  if (format === "md") return yield (await import("../../../view/markdown.ts")).toMarkdown(document);
  yield (await import("../../../view/html.ts")).toHtml(document);
}

/** Says what was taken out, and what of it will not be as it was. */
async function* replayPage(home: Home, id: string, context: Context): AsyncGenerator<string> {
  const { logsWithAgents } = await import("../../../app/time/replay-sessions.ts");
  const { writeReplay } = await import("../../../app/time/replay-file.ts");
  const { toHtml } = await import("../../../view/html.ts");
  const tell = (text: string): void => context.err.line(`keel: ${visible(text)}`);
  const logs = await Array.fromAsync(logsWithAgents(home.sessions, id, tell));
  const { env, cwd, version } = context;
  const written = await writeReplay({ env, cwd, version, home: home.path }, logs);
  tell(
    `Secrets taken out: ${written.secrets}. Read it before you give it away: what is a secret to you may look like a word.`,
  );
  for (const { name, seq } of written.differs)
    tell(`${name} already goes another way here, from event ${seq} on.`);
  if (written.lost > 0) tell(`${written.lost} kept files are not there any more.`);
  const page = toHtml(documentOf(written.logs[0]?.events ?? []));
  yield page.replace("</body>", () => `${written.block}\n</body>`);
}

/** What a slow reader has not taken yet stays in the log until then. */
const maxWaitingBytes = 1024 * 1024;

async function toStandardOutput(parts: AsyncIterable<string | Uint8Array>, { out }: Context): Promise<void> {
  for await (const part of parts) {
    out.write(typeof part === "string" ? part : Buffer.from(part).toString("utf8"));
    if (out.waitingBytes > maxWaitingBytes) await out.drained();
    if (out.isClosed) return;
  }
}

/**
 * Writes a file that is there whole or not at all, and for this user alone: a session may hold anything. Throws `usage` when the place cannot be written, and whatever the parts throw; nothing is
 * then left behind.
 */
async function writeWhole(
  given: string,
  parts: AsyncIterable<string | Uint8Array>,
  cwd: string,
): Promise<void> {
  const file = path.resolve(cwd, given);
  const draft = `${file}.keel-${process.pid}`;
  const handle = await open(draft, "wx", 0o600).catch(cannotWrite(file));
  try {
    await fill(handle, parts);
    await rename(draft, file).catch(cannotWrite(file));
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
}

async function fill(handle: FileHandle, parts: AsyncIterable<string | Uint8Array>): Promise<void> {
  try {
    for await (const part of parts) await handle.writeFile(part);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

const cannotWrite =
  (file: string) =>
  (thrown: unknown): never => {
    const why = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
    throw usage(`${file} cannot be written (${why}).`);
  };

/** What a session changed in files, and taking it back. */
export const rewindSession: CommandRun<{ preview: boolean; json: boolean }> = async (
  { positionals, values },
  context,
) => {
  const [session, checkpoint, ...more] = positionals;
  if (session === undefined || more.length > 0)
    throw usage("Give the id of a session, and the id of a message to go back to.");
  if (checkpoint === undefined) return listCheckpoints(session, context);
  await using home = openHome(context);
  const receipt = await home.rewindFiles(context, { session, checkpoint, preview: values.preview });
  if (receipt.type !== "rewound") return exitCodes.turnFailed;
  if (values.json) {
    context.out.line(JSON.stringify(receipt));
    return exitCodes.ended;
  }
  const { files, skipped, lost, undo, preview } = receipt;
  if (files.length === 0) context.out.line(preview ? "Nothing would change." : "Nothing had to change.");
  for (const { path, insertions, deletions } of files)
    context.out.line(`${visible(path)}  +${insertions} -${deletions}`);
  for (const { path, why } of skipped) context.err.line(`keel: left alone: ${visible(path)}: ${why}.`);
  for (const path of lost) context.err.line(`keel: changed, cannot be restored: ${visible(path)}`);
  if (undo !== undefined && files.length > 0)
    context.out.line(`To take this back: keel sessions rewind ${session} ${undo}`);
  return exitCodes.ended;
};

/** The messages before which something was kept, oldest first. */
async function listCheckpoints(session: string, context: Context): Promise<number> {
  const words = new Map<string, string>();
  const files = new Map<string, Set<string>>();
  for await (const event of openHome(context).sessions.read(session)) {
    if (event.type === "input.accepted") words.set(event.input.id, textOf(event.input.content));
    if (event.type !== "files.saved") continue;
    const known = files.get(event.checkpoint) ?? new Set();
    for (const { path } of event.files) known.add(path);
    files.set(event.checkpoint, known);
  }
  for (const [checkpoint, changed] of files) {
    const said = words.get(checkpoint) ?? "before a rewind";
    context.out.line(
      `${checkpoint}  ${changed.size} files  ${visible(shorten(said.replaceAll("\n", " "), 60))}`,
    );
  }
  if (files.size === 0) context.err.line("keel: this session has kept no files.");
  return exitCodes.ended;
}

function onlyOne(positionals: readonly string[], what: string): string {
  const [only, ...others] = positionals;
  if (only === undefined || only === "") throw usage(`This command needs ${what}.`);
  if (others.length > 0)
    throw usage(`This command takes only ${what}, not ${JSON.stringify(others[0])} too.`);
  return only;
}
