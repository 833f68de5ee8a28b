/** Keeps files before calls change them, and takes changes back. Another's edits are never touched. */

import { filesAt, isSaved } from "../core/state/checkpoint-state.ts";
import type { SessionState } from "../core/state/state.ts";
import { isRunning } from "../core/state/task-state.ts";
import { over } from "../kernel/abort.ts";
import { graceMs, within } from "../kernel/deadline.ts";
import { fault } from "../kernel/fault.ts";
import type { Checkpoints, FileBackup, WantedFile } from "../ports/checkpoints.ts";
import type { FileLedger } from "../ports/file-ledger.ts";
import type { Task } from "../ports/tasks.ts";
import type { Tool, ToolContext } from "../ports/tool.ts";
import type { Command, Receipt } from "../protocol/command.ts";
import type { Claim } from "../protocol/tool.ts";
import { look } from "./calls/look.ts";
import type { CallInput } from "./calls/prepared.ts";
import type { StepContext } from "./step-context.ts";

/** Undefined where nothing is kept. An agent has that of the session above it. */
export function ledgerOf(work: StepContext): FileLedger | undefined {
  const { checkpoints, above } = work.parts;
  if (above) return above.ledger;
  return (
    checkpoints && {
      checkpoints,
      // An agent in the background may work on when no turn runs: then it is what the last input led to.
      checkpoint: () => work.state.turn?.inputIds[0] ?? work.state.files.newest,
      isSaved: (checkpoint, path) => isSaved(work.state.files, checkpoint, path),
      record: (event) => work.record(event),
      saved: () => work.saved(),
    }
  );
}

/**
 * Takes a snapshot of the workspace as soon as a command that may change it is in sight: beside the rest of the reply
 * and beside the person's decision. A turn without such a command copies nothing.
 */
export async function takeSnapshot(
  work: StepContext,
  { tool, context, input }: { tool: Tool; context: ToolContext; input: CallInput },
): Promise<void> {
  const ledger = ledgerOf(work);
  if (!ledger || input.traits().readOnly) return;
  const claims = await look(work, tool.name, async () => input.claims(context));
  const checkpoint = ledger.checkpoint();
  if (checkpoint !== undefined && isCommand(claims))
    // Whoever needs it waits for it again, and then hears what went wrong.
    ledger.checkpoints.prepare(checkpoint, work.signal).catch(() => undefined);
}

/** Before a call: each file that it will write is kept, and before a command the workspace. */
export async function backUpBefore(work: StepContext, claims: readonly Claim[]): Promise<void> {
  const ledger = ledgerOf(work);
  const checkpoint = ledger?.checkpoint();
  if (!ledger || checkpoint === undefined) return;
  const { checkpoints } = ledger;
  const unsaved = writesIn(claims).filter((path) => !ledger.isSaved(checkpoint, path));
  if (unsaved.length > 0) {
    const kept = await Promise.all(unsaved.map((path) => backUpInTime(work, checkpoints, path)));
    save(ledger, checkpoint, { kept, left: [] });
    // Its own log is saved before the call runs; that of another session is not.
    if (work.parts.above) await ledger.saved();
  }
  if (!isCommand(claims)) return;
  const { clock, limits } = work.parts;
  const timed = await within({ clock, ms: limits.checkpointMs, signal: work.signal }, (signal) =>
    checkpoints.prepare(checkpoint, signal),
  );
  if (timed.kind === "late") warn(work, "Files could not be kept in time before the command.");
}

/** After a call: what a command changed, as it was before, and how an agent left the files that it wrote. */
export async function backUpAfter(work: StepContext, claims: readonly Claim[]): Promise<void> {
  const ledger = ledgerOf(work);
  const checkpoint = ledger?.checkpoint();
  if (!ledger || checkpoint === undefined) return;
  const { checkpoints } = ledger;
  if (isCommand(claims)) {
    const found = await changesInTime(work, checkpoints);
    if (!found) warn(work, "What the command changed could not be found out in time.");
    else if (found.kept.length > 0) save(ledger, checkpoint, found);
  }
  // What a tool of the session itself left behind, its result tells; an agent's result stands in another log.
  const written = work.parts.above ? writesIn(claims) : [];
  if (written.length === 0) return;
  const left = await afterCall(work, () => stampsOf(checkpoints, written));
  if (!left) warn(work, "How an agent left its files could not be found out in time.");
  else save(ledger, checkpoint, { kept: [], left });
}

const writesIn = (claims: readonly Claim[]): string[] =>
  claims.filter(({ action }) => action === "write").map(({ target }) => target);

type FileBackups = {
  readonly kept: readonly FileBackup[];
  readonly left: { path: string; stamp: string | null }[];
};

const stampsOf = (checkpoints: Checkpoints, paths: readonly string[]): Promise<FileBackups["left"]> =>
  Promise.all(paths.map(async (path) => ({ path, stamp: await checkpoints.stamp(path) })));

const changesInTime = (work: StepContext, checkpoints: Checkpoints): Promise<FileBackups | undefined> =>
  afterCall(work, async (signal) => {
    const kept = await checkpoints.changes(signal);
    return {
      kept,
      left: await stampsOf(
        checkpoints,
        kept.map(({ path }) => path),
      ),
    };
  });

/** Also after an interrupt, though then not for long: what the call did may have to be taken back. */
async function afterCall<T>(
  work: StepContext,
  look: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const { clock, limits } = work.parts;
  const patience = new AbortController();
  const hurry = (): void => void clock.sleep(graceMs, patience.signal).then(() => patience.abort(over));
  if (work.signal.aborted) hurry();
  else work.signal.addEventListener("abort", hurry, { once: true });
  try {
    const timed = await within({ clock, ms: limits.checkpointMs, signal: patience.signal }, look);
    return timed.kind === "done" ? timed.value : undefined;
  } finally {
    work.signal.removeEventListener("abort", hurry);
    patience.abort(over);
  }
}

/** A file that cannot be kept in time is one that cannot be put back; the call runs all the same. */
async function backUpInTime(work: StepContext, checkpoints: Checkpoints, path: string): Promise<FileBackup> {
  const { clock, limits } = work.parts;
  const timed = await within({ clock, ms: limits.checkpointMs, signal: work.signal }, () =>
    checkpoints.backUp(path),
  );
  return timed.kind === "done" ? timed.value : { path, lost: true, why: "it did not answer in time" };
}

function warn(work: StepContext, words: string): void {
  const text = `${words} \`keel sessions rewind\` may not put all of them back.`;
  work.show({ type: "notice.raised", level: "warning", text, code: "checkpoint_late" });
}

const isCommand = (claims: readonly Claim[]): boolean => claims.some(({ action }) => action === "execute");

function save(ledger: Pick<FileLedger, "record">, checkpoint: string, { kept, left }: FileBackups): void {
  const files = kept.flatMap((file): WantedFile[] =>
    "blob" in file ? [{ path: file.path, blob: file.blob }] : [],
  );
  const lost = kept.flatMap((file) => ("lost" in file ? [file.path] : []));
  ledger.record({
    type: "files.saved",
    checkpoint,
    files,
    ...(lost.length > 0 ? { lost } : {}),
    ...(left.length > 0 ? { left } : {}),
  });
}

/** An agent that has no folder of its own. */
const worksHere = (task: Task): boolean =>
  isRunning(task) && task.data.kind === "agent" && task.data.worktree === undefined;

type Rewound = Extract<Receipt, { type: "rewound" }>;

/** Undefined when nothing was kept under that name. */
async function rewind(
  work: StepContext,
  { checkpoint, preview, checkpoints }: { checkpoint: string; preview: boolean; checkpoints: Checkpoints },
): Promise<Rewound | undefined> {
  const wanted = filesAt(work.state.files, checkpoint);
  if (!wanted) return undefined;
  if (!preview && work.state.tasks.values().some(worksHere))
    throw fault("usage", { reason: "Files cannot be rewound while an agent works on them: stop it first." });
  const { ours, skipped } = await ownFiles(work.state, wanted.files, checkpoints);
  const files = await checkpoints.preview(ours);
  if (preview) return { type: "rewound", preview, files, skipped, lost: wanted.lost };

  // What is there now is kept first, so that the rewind can be taken back too.
  const undo = work.parts.ids.uuid();
  const differing = ours.filter(({ path }) => files.some((file) => file.path === path));
  const kept = await Promise.all(differing.map(({ path }) => checkpoints.backUp(path)));
  for (const file of kept)
    if ("lost" in file)
      skipped.push({ path: file.path, why: file.why ?? "what it holds now cannot be kept" });
  const safe = kept.filter((file) => !("lost" in file));
  const changing = differing.filter(({ path }) => safe.some((file) => file.path === path));
  save(work, undo, { kept: safe, left: [] });
  await work.saved();
  const restored: string[] = [];
  for (const file of changing) {
    const why = await checkpoints.restore(file);
    if (why === undefined) restored.push(file.path);
    else skipped.push({ path: file.path, why });
  }
  const left = await Promise.all(
    restored.map(async (path) => ({ path, stamp: await checkpoints.stamp(path) })),
  );
  if (left.length > 0) save(work, undo, { kept: [], left });
  work.record({ type: "files.rewound", checkpoint, undo, restored, skipped });
  await work.saved();
  return {
    type: "rewound",
    preview,
    files: files.filter(({ path }) => restored.includes(path)),
    skipped,
    lost: wanted.lost,
    undo,
  };
}

/** A file that is not as this session left it was changed by somebody else, and stays. */
async function ownFiles(
  state: SessionState,
  files: readonly WantedFile[],
  checkpoints: Checkpoints,
): Promise<{ ours: WantedFile[]; skipped: Rewound["skipped"] }> {
  const ours: WantedFile[] = [];
  const skipped: Rewound["skipped"] = [];
  for (const file of files) {
    const left = state.files.left.get(file.path);
    const isOurs = left !== undefined && left === (await checkpoints.stamp(file.path));
    if (isOurs) ours.push(file);
    else skipped.push({ path: file.path, why: "somebody else changed it since" });
  }
  return { ours, skipped };
}

type CommandOf<T extends Command["type"]> = Extract<Command, { type: T }>;

/** Puts files or the conversation back as they were, one after the other. No turn begins before that is done. */
export class Restorer {
  #latest: Promise<unknown> = Promise.resolve();

  /** Also whoever came while another was waited for. Never rejects. */
  async settled(): Promise<void> {
    for (let seen: Promise<unknown> | undefined; seen !== this.#latest; ) {
      seen = this.#latest;
      await seen;
    }
  }

  /** When all that came before is settled. */
  async rewind(work: StepContext, { checkpoint, preview = false }: CommandOf<"rewind">): Promise<Receipt> {
    const { checkpoints } = work.parts;
    if (!checkpoints) throw fault("checkpoints_off");
    const receipt = await this.#next(rewind(work, { checkpoint, preview, checkpoints }));
    if (!receipt) throw fault("checkpoint_unknown", { checkpoint });
    return receipt;
  }

  /** What is said from the call on is said to the conversation that comes. */
  async goBack(work: StepContext, command: CommandOf<"return">): Promise<Receipt> {
    const { pending } = work.state;
    const loaded = this.#latest.then(() => import("./return.ts"));
    await this.#next(loaded.then(({ returnToMessage }) => returnToMessage(work, command, pending)));
    return { type: "done" };
  }

  #next<T>(work: Promise<T>): Promise<T> {
    this.#latest = work.catch(() => undefined);
    return work;
  }
}
