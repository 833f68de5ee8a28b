/** What a change broke, added to its result, where somebody looks after such files. */
import type { FileWatch } from "../ports/diagnostics.ts";
import type { ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";

/** To be called before the change. */
export async function watchFile(
  { workspace }: ToolContext,
  file: { path: string; before: string | null },
  signal: AbortSignal,
): Promise<FileWatch | undefined> {
  return workspace.diagnostics?.watch(file, signal);
}

export async function withNewErrors(
  outcome: ToolOutcome,
  { watch, path, after }: { watch: FileWatch | undefined; path: string; after: string },
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (!watch) return outcome;
  const { errors, omitted, notes } = await watch.newErrors(after, signal);
  const said = [
    ...(errors.length > 0 ? [`New errors in ${path}:`, ...errors] : []),
    ...(omitted > 0 ? [`… and ${omitted} more.`] : []),
    ...notes.map((note) => `(No diagnostics. ${note}.)`),
  ];
  return said.length === 0 ? outcome : { ...outcome, content: [...outcome.content, text(said.join("\n"))] };
}
