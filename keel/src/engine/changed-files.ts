/**
 * Files that are no longer as the model knows them: changed by somebody else before a turn, or by a hook right behind the
 * model's own change. It is told, so that it neither undoes the change nor stumbles over it.
 */
import { defuse, note } from "../core/context/blocks.ts";
import { changedAfterwards, changedTooMuch, filesChanged } from "../core/model-text.ts";
import { oneLine } from "../kernel/text.ts";
import { deniesReading } from "../policy/decide.ts";
import type { ToolOutcome } from "../ports/tool.ts";
import type { FileSeen } from "../protocol/tool.ts";
import type { StepContext } from "./step-context.ts";

/** The newest of the files that the model knows are looked at, and not those that are large. */
const maxFiles = 30;
const maxBytes = 1_000_000;

/** Before a turn: each file is named once, until it is read again. */
export async function tellChangedFiles(work: StepContext): Promise<void> {
  const told = new Set(work.state.worklist.changed);
  const known = [...work.state.seen].slice(-maxFiles).filter(([path]) => !told.has(path));
  const found = await Promise.all(
    known.map(async ([path, stamp]) => ((await hasChanged(work, path, stamp)) ? path : undefined)),
  );
  const changed = found.filter((path) => path !== undefined);
  if (changed.length === 0) return;
  const words = filesChanged(changed.map((path) => defuse(oneLine(path))));
  work.record({ type: "context.added", content: [note(words)], why: "reminder", changed });
}

/** What cannot be read any more has changed only if it is gone. */
async function hasChanged(work: StepContext, path: string, stamp: string): Promise<boolean> {
  if (!mayRead(work, path)) return false;
  const { files } = work.parts.workspace;
  const read = await files.read(path, { maxBytes });
  return read.ok ? read.file.stamp !== stamp : (await files.describe(path)).kind === "missing";
}

function mayRead({ parts: { rules, workspace } }: StepContext, path: string): boolean {
  return !deniesReading(rules, path, { roots: workspace.roots, home: workspace.commands?.home ?? "/" });
}

export type WrittenFile = FileSeen & { readonly text: string };

/** The files that a call has written, as it left them: looked at before hooks hear of it. */
export async function writtenBy(work: StepContext, outcome: ToolOutcome): Promise<WrittenFile[]> {
  if (outcome.linesAdded === undefined || outcome.failed) return [];
  const files = await Promise.all((outcome.seen ?? []).map((seen) => textOfFile(work, seen)));
  return files.filter((file) => file !== undefined);
}

export type AfterHooks = { readonly seen: readonly FileSeen[]; readonly words: readonly string[] };

/** What hooks made of them. The model knows a file that it was shown the change of, and must read any other again. */
export async function changedByHooks(
  work: StepContext,
  written: readonly WrittenFile[],
): Promise<AfterHooks> {
  const seen: FileSeen[] = [];
  const words: string[] = [];
  for (const before of written) {
    const after = await textOfFile(work, before);
    if (!after || after.stamp === before.stamp) continue;
    const lines = changedLines(before.text, after.text);
    if (lines === undefined) words.push(changedTooMuch(before.path));
    else {
      words.push(changedAfterwards(before.path, lines));
      seen.push({ path: after.path, stamp: after.stamp });
    }
  }
  return { seen, words };
}

async function textOfFile(work: StepContext, { path }: FileSeen): Promise<WrittenFile | undefined> {
  if (!mayRead(work, path)) return undefined;
  const read = await work.parts.workspace.files.read(path, { maxBytes });
  if (!read.ok || read.file.bytes.includes(0)) return undefined;
  return { path, stamp: read.file.stamp, text: new TextDecoder().decode(read.file.bytes) };
}

const maxLines = 60;
const maxCharacters = 4_000;

/** From the first line that differs to the last, numbered as Read does it; undefined where that is too much to show. */
function changedLines(before: string, after: string): string | undefined {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const start = now.findIndex((line, at) => line !== old[at]);
  const from = start === -1 ? now.length : start;
  let end = now.length;
  for (let at = old.length; end > from && at > from && now[end - 1] === old[at - 1]; end--) at -= 1;
  const lines = now.slice(from, end);
  const shown = lines.map((line, at) => `${from + at + 1}\t${line}`).join("\n");
  if (lines.length > maxLines || shown.length > maxCharacters) return undefined;
  return lines.length === 0 ? `(lines were removed at line ${from + 1})` : shown;
}
