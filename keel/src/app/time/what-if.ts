/**
 * `keel what-if`: a recorded session from one of its moments on, once more and with one change, as often as wanted. Each
 * runs in a copy of the folder with the files as they were, and has a log of its own; session and folder are only read.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fault } from "../../kernel/fault.ts";
import type { Ids } from "../../ports/clock.ts";
import { costOf } from "../../protocol/bill.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import { pastOf } from "../../time/bisect/moments.ts";
import { replayLog } from "../../time/replay/replay.ts";
import type { RequestDifference } from "../../time/replay/replayed.ts";
import { comparedPage, comparedTable } from "../../time/what-if/compare.ts";
import {
  type ForkPoint,
  forkPoint,
  isInstructed,
  laterMessages,
  movedLog,
  recordedFrom,
} from "../../time/what-if/fork-point.ts";
import { outcomeOf, type TurnsOutcome } from "../../time/what-if/outcome.ts";
import { openBlobs } from "../../workspace/checkpoints/blobs.ts";
import { catalogOf } from "../compose/model.ts";
import { readSettings } from "../compose/settings.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import { type CheckRun, folderChecks } from "./check-command.ts";
import { type Moment, momentsOf } from "./moments.ts";
import { replayWorld } from "./replay-world.ts";
import { openScratch, type Scratch } from "./scratch.ts";
import { changesBetween, type TreeChange } from "./tree.ts";
import { Purse, runTrial, type TrialRun } from "./trial.ts";

/** What is other than it was; nothing: the same once more. */
export type WhatIfChange = {
  readonly model?: string | undefined;
  /** In place of the system prompt. */
  readonly prompt?: string | undefined;
  /** In place of what the project's file of instructions says. */
  readonly instructions?: string | undefined;
  /** Rules that are laid over the settings in force. */
  readonly permissions?: KeelSettings["permissions"];
  /** In place of what the message said. */
  readonly message?: string | undefined;
  /** In place of what the model was told of the call at which the session goes another way. */
  readonly result?: string | undefined;
};

export type WhatIfWish = {
  readonly events: readonly Durable[];
  /** The folder of the session. */
  readonly cwd: string;
  /** The id of a message, or the number of an event. */
  readonly at: string;
  readonly change: WhatIfChange;
  readonly samples: number;
  /** How many recorded messages are said again. */
  readonly messages: number;
  readonly mode: PermissionMode;
  readonly command?: string | undefined;
  readonly budgetUsd?: number | undefined;
  readonly timeoutMs: number;
  /** Goes on although today's Keel would not have come to that moment as it was recorded. */
  readonly anyway: boolean;
  readonly signal: AbortSignal;
};

export type WhatIfPlace = SettingsLocation & {
  /** The home whose settings, keys and kept files count. */
  readonly home: string;
  readonly version: string;
  readonly ids: Ids;
};

export type WhatIfRow = {
  readonly name: string;
  readonly outcome: TurnsOutcome;
  readonly files: readonly TreeChange[];
  readonly check?: CheckRun | undefined;
  readonly stopped?: TrialRun["stopped"];
  /** What kept it from running. */
  readonly failure?: string | undefined;
};

export type WhatIfPlan = {
  readonly point: ForkPoint;
  /** Where today's Keel goes another way before the moment is reached. */
  readonly difference: RequestDifference | undefined;
  readonly lacks: readonly string[];
  /** What it cost then, and what the samples would at the prices of their model; undefined where nobody knows. */
  readonly recorded: TurnsOutcome;
  readonly estimateUsd: number | undefined;
  /** Files that cannot be had back as they were. */
  readonly lost: readonly string[];
  /** Undefined where the log does not say what the files were. */
  readonly moments: { readonly before: Moment; readonly after: Moment } | undefined;
};

/** What would be done, without doing it. Throws `usage`. */
export async function planWhatIf(place: WhatIfPlace, wish: WhatIfWish): Promise<WhatIfPlan> {
  const { events, cwd } = wish;
  const point = forkPoint(events, wish.at);
  if (!point) throw fault("usage", { reason: `There is no message or event ${wish.at} in this session.` });
  mustFit(events, point, wish);
  const world = (await replayWorld(place, {}))(events);
  // Without an event before it there is nothing to play.
  const played = await replayLog(events, world, { to: point.seq });
  const blobs = openBlobs({ folder: path.join(place.home, "blobs"), now: () => 0 });
  const { moments, lost } = await momentsOf(pastOf(events), cwd, async (name) => blobs.get(name));
  const recordedEvents = recordedFrom(events, point, wish.messages);
  const recorded = outcomeOf(recordedEvents);
  const before = momentAt(moments, point);
  const after = momentAfter(moments, events, point, wish.messages);
  return {
    point,
    difference: played.difference,
    lacks: played.lacks,
    recorded,
    estimateUsd: await estimate(place, { wish, recordedEvents, recorded }),
    lost,
    moments: before && after && { before, after },
  };
}

function mustFit(events: readonly Durable[], point: ForkPoint, { change }: WhatIfWish): void {
  if (change.message !== undefined && point.within)
    throw fault("usage", { reason: "Other words need a message to stand in for, not an event behind it." });
  if (change.instructions !== undefined && !isInstructed(events, point))
    throw fault("usage", {
      reason: "The model had no file of instructions there; from its first message it would.",
    });
  const last = events[point.kept - 1];
  if (change.result !== undefined && (!point.within || last?.type !== "tool.finished"))
    throw fault("usage", {
      reason: "Another result needs the event with which a call ended (tool.finished).",
    });
}

/** The files at that moment, where the log tells them. */
function momentAt(moments: readonly Moment[], { message, seq, within }: ForkPoint): Moment | undefined {
  const end = moments.findLastIndex(({ turn }) => turn?.checkpoint === message);
  const first = moments.findIndex(({ turn }) => turn?.checkpoint === message);
  const before = moments[first - 1];
  const turn = moments[end]?.turn;
  if (!turn) return undefined;
  if (!within) return before;
  const ends = [...turn.edits, ...turn.others].map((call) => call.seq);
  if (ends.every((each) => each > seq)) return before;
  if (ends.every((each) => each <= seq)) return moments[end];
  const steps = moments.slice(first, end + 1);
  // Only where each change of the turn is the change of one edit.
  if (steps.length !== turn.edits.length) return undefined;
  return steps.findLast(({ call }) => call !== undefined && call.seq <= seq) ?? before;
}

function momentAfter(
  moments: readonly Moment[],
  events: readonly Durable[],
  { kept, within, message }: ForkPoint,
  messages: number,
): Moment | undefined {
  const turns = events.slice(kept).flatMap((event) => (event.type === "turn.started" ? [event] : []));
  const last = turns[messages - 1 - (within ? 1 : 0)]?.inputIds[0] ?? turns.at(-1)?.inputIds[0] ?? message;
  const wanted = messages === 1 && within ? message : last;
  return moments.findLast(({ turn }) => turn?.checkpoint === wanted);
}

async function estimate(
  place: WhatIfPlace,
  {
    wish,
    recordedEvents,
    recorded,
  }: { wish: WhatIfWish; recordedEvents: readonly Durable[]; recorded: TurnsOutcome },
): Promise<number | undefined> {
  const { settings } = await readSettings(place);
  const catalog = catalogOf(settings);
  if (wish.change.model === undefined) return recorded.costUsd * wish.samples;
  const prices = catalog.info(catalog.unalias(wish.change.model))?.prices ?? null;
  let usd = 0;
  for (const event of recordedEvents) {
    if (event.type !== "model.finished") continue;
    const cost = costOf(event.usage, prices);
    if (cost === null) return undefined;
    usd += cost;
  }
  return usd * wish.samples;
}

export type WhatIfResult = {
  readonly rows: readonly WhatIfRow[];
  readonly spentUsd: number;
  readonly budgetUsd: number | undefined;
};

/** The recorded way first. Throws `aborted`, `usage`, and what keeps every sample from running. */
export async function runWhatIf(
  place: WhatIfPlace,
  wish: WhatIfWish,
  plan: WhatIfPlan,
  tell: (row: WhatIfRow) => void = () => undefined,
): Promise<WhatIfResult> {
  if (plan.difference && !wish.anyway)
    throw fault("usage", {
      reason: `Today's Keel does not come to that moment as it was recorded: at event ${plan.difference.seq}, ${plan.difference.cause}: ${plan.difference.what}. --anyway goes on all the same.`,
    });
  const { moments } = plan;
  if (!moments)
    throw fault("usage", {
      reason:
        "What the files were at that moment is not on record: a command changed some in between. Name the message, or the end of its turn.",
    });
  await using before = await openScratch(wish.cwd, place.env, wish.signal);
  await putAll(before, moments.before);
  await using checks = folderChecks({ env: place.env, timeoutMs: wish.timeoutMs, signal: wish.signal });
  const purse = new Purse(wish.budgetUsd ?? Number.POSITIVE_INFINITY);
  const rows: WhatIfRow[] = [await recordedRow()];
  const baseline = rows[0];
  if (baseline) tell(baseline);
  const commons: TrialCommons = {
    sources: await trustedSources(place, wish.cwd),
    purse,
    spentBefore: outcomeOf(wish.events.slice(0, plan.point.kept)).costUsd,
  };
  const waiting = Array.from({ length: wish.samples }, (_, number) => number + 1);
  const worker = async (): Promise<void> => {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      if (wish.signal.aborted) throw fault("aborted");
      const row = await sample(`sample ${number}`);
      rows.push(row);
      tell(row);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(maxBeside, wish.samples) }, worker));
  const failed = workers.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
  const byName = (row: WhatIfRow): number => Number(row.name.split(" ")[1] ?? 0);
  return {
    rows: [...rows.slice(0, 1), ...rows.slice(1).toSorted((one, other) => byName(one) - byName(other))],
    spentUsd: purse.spentUsd,
    budgetUsd: wish.budgetUsd,
  };

  async function recordedRow(): Promise<WhatIfRow> {
    await using scratch = await openScratch(before.folder, place.env, wish.signal);
    await putAll(scratch, moved(moments?.after, wish.cwd, before.folder));
    const files = await changesBetween(before.folder, scratch.folder);
    return { name: "as recorded", outcome: plan.recorded, files, ...(await checked(scratch.folder)) };
  }

  async function sample(name: string): Promise<WhatIfRow> {
    if (purse.isEmpty) return { name, outcome: outcomeOf([]), files: [], stopped: "budget" };
    await using scratch = await openScratch(before.folder, place.env, wish.signal, { historyOf: wish.cwd });
    if (wish.change.instructions !== undefined)
      await instruct(scratch, before.folder, wish.change.instructions);
    const id = place.ids.uuid();
    const tried = await runTrial({
      options: optionsFor(place, wish, scratch.folder, commons),
      logs: scratch.beside("keel"),
      log: {
        id,
        events: movedLog(wish.events, plan.point, {
          session: id,
          from: wish.cwd,
          to: scratch.folder,
          change: wish.change,
        }),
      },
      says: laterMessages(wish.events, plan.point, wish.messages - 1),
      timeoutMs: wish.timeoutMs,
      signal: wish.signal,
      purse,
    });
    if (tried.stopped === "person") throw fault("aborted");
    const files = await changesBetween(before.folder, scratch.folder);
    return {
      name,
      outcome: outcomeOf(tried.events),
      files,
      stopped: tried.stopped,
      ...(await checked(scratch.folder)),
    };
  }

  async function checked(folder: string): Promise<{ check?: CheckRun }> {
    return wish.command === undefined ? {} : { check: await checks.run(wish.command, folder) };
  }
}

/** As many as two cores and a provider's limits bear. */
const maxBeside = 4;

export async function putAll(scratch: Scratch, moment: Pick<Moment, "files"> | undefined): Promise<void> {
  for (const [file, content] of moment?.files ?? []) await scratch.put(file, content);
}

/** The same files below another folder. */
const moved = (moment: Moment | undefined, from: string, to: string): Pick<Moment, "files"> => ({
  files: new Map(
    [...(moment?.files ?? [])].map(([file, content]) => [path.join(to, path.relative(from, file)), content]),
  ),
});

const instructionFiles: readonly string[] = ["AGENTS.md", "CLAUDE.md"];

/** In the place of the file that the project has, or of the usual one. */
async function instruct(scratch: Scratch, original: string, words: string): Promise<void> {
  const there: string[] = [];
  for (const name of instructionFiles)
    if ((await readFile(path.join(scratch.folder, name)).catch(() => undefined)) !== undefined)
      there.push(name);
  const [first = "AGENTS.md", ...others] = there;
  await scratch.put(path.join(original, first), new TextEncoder().encode(words));
  for (const name of others) await scratch.put(path.join(original, name), null);
}

/** A copy of a trusted project is as trusted as the project: it has the same files. */
export async function trustedSources(
  place: Pick<WhatIfPlace, "env" | "home">,
  cwd: string,
): Promise<{ settingSources?: ("user" | "project" | "local")[] }> {
  const { trust } = await readSettings({ env: place.env, cwd, home: place.home });
  const isWhole = trust.state === "trusted" && trust.waiting.length === 0;
  return isWhole ? { settingSources: ["user", "project", "local"] } : {};
}

type TrialCommons = {
  readonly sources: Awaited<ReturnType<typeof trustedSources>>;
  readonly purse: Purse;
  /** A session that goes on counts what it has cost before. */
  readonly spentBefore: number;
};

function optionsFor(
  { env, home, version }: WhatIfPlace,
  { change, mode, cwd: original }: WhatIfWish,
  cwd: string,
  { sources, purse, spentBefore }: TrialCommons,
): Parameters<typeof runTrial>[0]["options"] {
  return {
    version,
    env,
    home,
    cwd,
    ...sources,
    model: change.model,
    systemPrompt: change.prompt,
    permissionMode: mode,
    // The folder itself, and what Keel keeps, are not the copy's to change.
    disallowedTools: [original, home].map((folder) => `Edit(/${folder}/**)`),
    ...(change.permissions ? { settings: { permissions: change.permissions } } : {}),
    ...(Number.isFinite(purse.budgetUsd) ? { maxBudgetUsd: spentBefore + purse.budgetUsd } : {}),
  };
}

/** A line of names, then a row for what was recorded and for each sample. */
export const whatIfTable = (rows: readonly WhatIfRow[]): string[][] => comparedTable(rows);

/** The same with answers and changes, as one page that needs nothing else. */
export function whatIfPage(
  session: string,
  { rows, spentUsd }: Pick<WhatIfResult, "rows" | "spentUsd">,
  { wish: { change }, plan: { point } }: { wish: WhatIfWish; plan: WhatIfPlan },
): string {
  const changed = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const facts: [string, string][] = [
    ["Session", session],
    ["From", point.within ? `behind event ${point.seq}` : `message ${point.message}`],
    ["Said", change.message ?? point.said],
    ["Changed", changed.join(", ") || "nothing"],
    ["Model", change.model ?? "as recorded"],
    ["Spent", `${spentUsd.toFixed(4)} USD`],
  ];
  return comparedPage(`What if: session ${session}`, facts, rows);
}
