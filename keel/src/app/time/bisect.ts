/**
 * `keel bisect`: the message, the call and the change with which a command began to fail, in a copy of the folder with
 * the files as they were; or the event with which something about the log became true. The session is only read.
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createTwoFilesPatch } from "diff";
import { fold } from "../../core/fold.ts";
import { emptyState, type SessionState } from "../../core/state/state.ts";
import { fault } from "../../kernel/fault.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { firstBad, type PointSearch } from "../../time/bisect/first-bad.ts";
import { pastOf } from "../../time/bisect/moments.ts";
import { openBlobs } from "../../workspace/checkpoints/blobs.ts";
import type { ProcessEnvironment } from "../../workspace/processes/environment.ts";
import { folderChecks } from "./check-command.ts";
import { isSame, type Moment, momentsOf } from "./moments.ts";
import { openScratch, type Scratch } from "./scratch.ts";

export type Bisected = {
  /** How many moments there are, and how often it was looked. */
  readonly points: number;
  readonly looks: number;
  /** Undefined: it does not fail now. `start`: it failed before the first message. */
  readonly found:
    | { readonly kind: "never" }
    | { readonly kind: "start" }
    | { readonly kind: "unsure" }
    | {
        readonly kind: "found";
        readonly seq: number;
        readonly message?: string | undefined;
        readonly said?: string | undefined;
        readonly callId?: string | undefined;
        readonly tool?: string | undefined;
        /** Where no single call can be told: all of the message that may have done it. */
        readonly calls?: readonly { readonly callId: string; readonly tool: string }[] | undefined;
        readonly diff?: string | undefined;
      };
  /** Files that cannot be had back as they were. */
  readonly lost: readonly string[];
};

export type CommandPredicate = {
  readonly command: string;
  readonly cwd: string;
  readonly blobs: string;
  readonly env: ProcessEnvironment;
  readonly twice: boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  tell(text: string): void;
};

/** Exit code 0 is good, every other bad, as for `git bisect`. */
export async function bisectByCommand(
  events: readonly Durable[],
  { command, cwd, blobs: folder, env, twice, signal, timeoutMs, tell }: CommandPredicate,
): Promise<Bisected> {
  const past = pastOf(events);
  const blobs = openBlobs({ folder, now: () => 0 });
  const { moments, lost } = await momentsOf(past, cwd, async (name) => blobs.get(name));
  await using scratch = await openScratch(cwd, env, signal);
  await using checks = folderChecks({ env, timeoutMs, signal });
  const search = await firstBad(
    moments.length,
    async (point) => {
      await putAt(scratch, moments[point]);
      const bad = (await checks.run(command, scratch.folder)).exitCode !== 0;
      tell(`${bad ? "fails" : "works"}  ${nameOf(moments, point)}`);
      return bad;
    },
    { twice },
  );
  return { points: moments.length, looks: search.looks, found: foundIn(moments, search, cwd), lost };
}

/** Whether something holds for what the log folds to, or for its text, up to an event; once true it stays so. */
export async function bisectByEvents(
  events: readonly Durable[],
  isBad: (upTo: readonly Durable[], state: () => SessionState) => boolean | Promise<boolean>,
): Promise<Bisected> {
  const search = await firstBad(events.length, (point) => {
    const upTo = events.slice(0, point + 1);
    return isBad(upTo, () => upTo.reduce(fold, emptyState));
  });
  const { first, looks } = search;
  const event = first === undefined ? undefined : events[first];
  const points = events.length;
  if (!event) return { points, looks, found: { kind: "never" }, lost: [] };
  const call = "callId" in event ? { callId: event.callId } : {};
  return { points, looks, found: { kind: "found", seq: event.seq, ...call }, lost: [] };
}

/** A function of the person's own: `export default (state) => boolean`. */
export async function stateFunction(
  file: string,
): Promise<(state: SessionState) => boolean | Promise<boolean>> {
  const loaded: { default?: unknown } = await import(pathToFileURL(path.resolve(file)).href);
  const { default: given } = loaded;
  if (typeof given !== "function")
    throw fault("usage", { reason: `${file} exports no function by default.` });
  return async (state) => Boolean(await given(state));
}

async function putAt(scratch: Scratch, moment: Moment | undefined): Promise<void> {
  for (const [file, content] of moment?.files ?? []) await scratch.put(file, content);
}

function nameOf(moments: readonly Moment[], point: number): string {
  const { turn, call } = moments[point] ?? {};
  if (!turn) return "before the first message";
  const said = turn.said.replaceAll("\n", " ").slice(0, 60);
  return call ? `after ${call.tool} ${call.callId} of "${said}"` : `after "${said}"`;
}

function foundIn(moments: readonly Moment[], { first, unsure }: PointSearch, cwd: string): Bisected["found"] {
  if (unsure.length > 0) return { kind: "unsure" };
  if (first === undefined) return { kind: "never" };
  const moment = moments[first];
  if (!moment?.turn) return { kind: "start" };
  const { turn, call } = moment;
  return {
    kind: "found",
    seq: call?.seq ?? turn.seq,
    message: turn.checkpoint,
    said: turn.said,
    ...(call
      ? { callId: call.callId, tool: call.tool }
      : { calls: [...turn.edits, ...turn.others].map(named) }),
    diff: diffOf(moments[first - 1]?.files, moment.files, cwd),
  };
}

const named = ({ callId, tool }: { callId: string; tool: string }) => ({ callId, tool });

const decoder = new TextDecoder();

function diffOf(before: Moment["files"] | undefined, after: Moment["files"], cwd: string): string {
  const text = (content: Uint8Array | null | undefined): string => (content ? decoder.decode(content) : "");
  return [...after]
    .filter(([file, content]) => !isSame(before?.get(file) ?? null, content))
    .map(([file, content]) => {
      const name = path.relative(cwd, file);
      return createTwoFilesPatch(name, name, text(before?.get(file)), text(content), "", "");
    })
    .join("\n");
}
