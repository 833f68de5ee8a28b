/** `keel sessions rewind ID [MESSAGE]`: what a session changed in files, and taking it back. */
import { openHome } from "../../../app/home.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import { textOf } from "../../../protocol/message.ts";
import { usage } from "../arguments.ts";
import type { Context } from "../context.ts";

type RewindArguments = {
  positionals: readonly string[];
  values: { preview?: boolean | undefined; json?: boolean | undefined };
};

export async function rewindSession(
  { positionals, values }: RewindArguments,
  context: Context,
): Promise<number> {
  const [session, checkpoint, ...more] = positionals;
  if (session === undefined || more.length > 0)
    throw usage("Give the id of a session, and the id of a message to go back to.");
  if (checkpoint === undefined) return listCheckpoints(session, context);
  await using home = openHome(context);
  const receipt = await home.rewindFiles(context, { session, checkpoint, preview: values.preview ?? false });
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
}

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
