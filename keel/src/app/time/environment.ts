/**
 * `keel replay --environment`: the recorded replies, with tools that really run, in a copy of the folder with the files as
 * they were at the start. It ends at the first call that says something else than it said then.
 */
import path from "node:path";
import { answerToolName } from "../../core/model-text.ts";
import type { Hook } from "../../hooks/run.ts";
import { fault } from "../../kernel/fault.ts";
import { isObject } from "../../kernel/json.ts";
import type { Answer } from "../../protocol/ask.ts";
import type { Durable, Input } from "../../protocol/event/durable.ts";
import { type Envelope, type EventHandlers, handle, isDurable } from "../../protocol/event/envelope.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import { pastOf } from "../../time/bisect/moments.ts";
import { type Lane, RecordedModel } from "../../time/environment/recorded-model.ts";
import { type RecordedCall, type RecordedRun, recordedRun } from "../../time/environment/recorded-run.ts";
import { type ResultDifference, resultDifference } from "../../time/environment/same-result.ts";
import { movePaths } from "../../time/what-if/fork-point.ts";
import { toolHeads } from "../../tools/heads.ts";
import { openBlobs } from "../../workspace/checkpoints/blobs.ts";
import { homeResources } from "../compose/home-resources.ts";
import { catalogOf } from "../compose/model.ts";
import { readSettings } from "../compose/settings.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import { type OpenSession, openSession } from "../open-session.ts";
import { momentsOf } from "./moments.ts";
import { openScratch, type Scratch } from "./scratch.ts";
import { putAll, trustedSources } from "./what-if.ts";

export type EnvironmentWish = {
  /** Of the session, and of each of its agents. */
  readonly logs: readonly (readonly Durable[])[];
  /** The folder in whose copy it runs: its own, or one with the same files. */
  readonly cwd: string;
  /** Kept files, where they are not those of the home. */
  readonly blobs?: ReadonlyMap<string, Uint8Array> | undefined;
  readonly mode: PermissionMode;
  /** `as then`: what was asked and allowed then is allowed; otherwise whatever would be asked does not run. */
  readonly asked: "as then" | "refused";
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

export type EnvironmentPlace = SettingsLocation & { readonly home: string; readonly version: string };

export type CallDifference = ResultDifference & {
  readonly session: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: string;
  /** The event with which the call ended then. */
  readonly seq: number;
};

export type EnvironmentReplay = {
  readonly session: string;
  readonly replies: number;
  /** Calls that said what they said then. */
  readonly equalCalls: number;
  readonly difference: CallDifference | undefined;
  /** Calls that ran then and not today, and why; what they would have changed is missing. */
  readonly notRun: readonly {
    readonly callId: string;
    readonly tool: string;
    readonly seq: number;
    readonly why: string;
  }[];
  /** Calls that ran then, and that were not come to. */
  readonly unreached: number;
  /** Files that cannot be had back as they were. */
  readonly lost: readonly string[];
  readonly stopped: "time" | undefined;
};

/** Throws `aborted`, and what keeps the session from opening. */
export async function replayEnvironment(
  place: EnvironmentPlace,
  wish: EnvironmentWish,
): Promise<EnvironmentReplay> {
  const [events = [], ...agents] = elsewhere(wish);
  const kept = wish.blobs ?? openBlobs({ folder: path.join(place.home, "blobs"), now: () => 0 });
  const { moments, lost } = await momentsOf(pastOf(events), wish.cwd, async (name) => kept.get(name));
  const { settings } = await readSettings(place);
  const catalog = catalogOf(settings);
  await using scratch = await openScratch(wish.cwd, place.env, wish.signal, { historyOf: wish.cwd });
  await putAll(scratch, moments[0]);
  const live = new LiveRun(
    agents.map((log) => recordedRun(log)),
    { wish, folder: scratch.folder, info: (name) => catalog.info(catalog.unalias(name)) },
  );
  const stopped = await performed(place, { wish, scratch, live, main: recordedRun(events) });
  if (wish.signal.aborted) throw fault("aborted");
  return { ...live.report(), session: events[0]?.session ?? "", lost, stopped };
}

/** As if it had been recorded in this folder. */
function elsewhere({ logs, cwd }: EnvironmentWish): readonly (readonly Durable[])[] {
  const opened = logs[0]?.find((event) => event.type === "session.opened");
  if (!opened || opened.cwd === cwd) return logs;
  // Paths are texts: the shape is the same.
  return movePaths(logs, opened.cwd, cwd) as readonly (readonly Durable[])[];
}

async function performed(
  place: EnvironmentPlace,
  {
    wish,
    scratch,
    live,
    main,
  }: { wish: EnvironmentWish; scratch: Scratch; live: LiveRun; main: RecordedRun },
): Promise<EnvironmentReplay["stopped"]> {
  const resources = homeResources(scratch.beside("keel"));
  try {
    const session = await openSession(
      {
        ...place,
        ...(await trustedSources(place, wish.cwd)),
        cwd: scratch.folder,
        permissionMode: wish.mode,
        model: main.turns[0]?.replies[0]?.model,
        answers: live.model,
        hooks: [live.onlyWhatRan],
        checkpoints: "on",
        // Whoever may be asked is offered the tools that ask.
        asks: "answered",
        // The folder itself, and what Keel keeps, are not the copy's to change.
        disallowedTools: [wish.cwd, place.home].map((folder) => `Edit(/${folder}/**)`),
      },
      resources,
    );
    try {
      return await live.play(session, main, (ms, signal) => resources.clock.sleep(ms, signal));
    } finally {
      await session.close("stopped");
    }
  } finally {
    await resources.close();
  }
}

type LiveWorld = {
  readonly wish: EnvironmentWish;
  readonly folder: string;
  readonly info: ConstructorParameters<typeof RecordedModel>[1];
};

/** How long a turn is waited for that began by itself then. */
const ownTurnMs = 10_000;

/** The session as it runs today, beside what was recorded of it. */
class LiveRun {
  readonly model: RecordedModel;
  readonly #world: LiveWorld;
  /** Other names of the same, from today's to those of then. */
  readonly #names: [string, string][];
  readonly #equal = new Set<RecordedCall>();
  readonly #notRun = new Map<RecordedCall, string>();
  #difference: { readonly call: RecordedCall; readonly found: CallDifference } | undefined;
  #session: OpenSession | undefined;
  #isStopping = false;

  constructor(agents: readonly RecordedRun[], world: LiveWorld) {
    this.#world = world;
    this.#names = [[world.folder, world.wish.cwd]];
    this.model = new RecordedModel(agents, world.info, async (lane, { content }) => {
      await this.#sayWhatJoined(lane);
      // All calls of the reply before have ended: which of them was the first to differ is known.
      if (this.#difference) await this.#stop();
      return this.#asToday(content);
    });
  }

  /** What did not run to its end then is not tried now. */
  readonly onlyWhatRan: Hook = {
    event: "PreToolUse",
    name: "replay",
    onFailure: "block",
    call: async (_, { callId = "" }) => {
      const calls = this.model.lanes().flatMap(({ run }) => run.calls.get(callId) ?? []);
      if (calls.some(isWorthRunning)) return {};
      return {
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "deny",
          permissionDecisionReason: "It did not run then.",
        },
      };
    },
  };

  async play(
    session: OpenSession,
    main: RecordedRun,
    sleep: (ms: number, signal: AbortSignal) => Promise<unknown>,
  ): Promise<EnvironmentReplay["stopped"]> {
    const { signal, timeoutMs } = this.#world.wish;
    this.#session = session;
    const lane = this.model.begin(session.id, main);
    const over = new AbortController();
    let isLate = false;
    const late = (): void => {
      isLate = !over.signal.aborted;
      if (isLate) void this.#stop();
    };
    void sleep(timeoutMs, over.signal).then(late, () => undefined);
    const byPerson = (): void => void this.#stop();
    signal.addEventListener("abort", byPerson, { once: true });
    const begun = new TurnCount();
    const off = session.onEvent((event) => {
      begun.hear(event);
      this.#hear(event);
    });
    try {
      if (signal.aborted) byPerson();
      for (const [number, turn] of main.turns.entries()) {
        if (this.#isStopping) break;
        Object.assign(lane, { turn: number, reply: 0 });
        for (const checkpoint of turn.rewinds) await session.submit({ type: "rewind", checkpoint });
        const said = turn.inputs.filter(isSaid);
        for (const input of said) await this.#say(input);
        if (said.length === 0) await begun.reach(number + 1, (stop) => sleep(ownTurnMs, stop));
        await session.idle();
      }
      return isLate ? "time" : undefined;
    } finally {
      over.abort();
      off();
      signal.removeEventListener("abort", byPerson);
    }
  }

  report(): Omit<EnvironmentReplay, "session" | "lost" | "stopped"> {
    const runs = this.model.lanes().map(({ run }) => run);
    const ran = runs.flatMap(({ calls }) => [...calls.values()].filter(isWorthRunning));
    const known = this.#equal.size + this.#notRun.size;
    return {
      replies: this.model.replies,
      equalCalls: this.#equal.size,
      difference: this.#difference?.found,
      notRun: [...this.#notRun].map(([{ callId, tool, seq }, why]) => ({ callId, tool, seq, why })),
      unreached: Math.max(0, ran.length - known - (this.#difference ? 1 : 0)),
    };
  }

  #hear(event: Envelope): void {
    if (event.type === "ask.opened") void this.#answer(event.ask);
    const lane = this.model.laneOf(event.session);
    if (lane && isDurable(event)) handle(this.#handlers, event, lane);
  }

  readonly #handlers: EventHandlers<Durable, [Lane], void> = {
    "task.changed": ({ taskId, data }, { run }) => {
      const then = run.tasks.get(data?.callId ?? "");
      if (!then) return;
      this.#name(taskId, then.task);
      this.#name(data?.session, then.session);
    },
    "tool.finished": (event, { run }) => {
      const call = run.calls.get(event.callId);
      if (!call || event.within !== undefined || !isWorthRunning(call)) return;
      this.#name(event.spilled?.path, call.spilled);
      if (event.denied) this.#notRun.set(call, event.denied.reason);
      else if (event.interrupted) this.#notRun.set(call, "It was stopped.");
      else this.#compare(run, call, event);
    },
  };

  #compare(run: RecordedRun, call: RecordedCall, event: Extract<Durable, { type: "tool.finished" }>): void {
    const differs = isOfItsMoment(call) ? undefined : resultDifference(call, event, this.#names);
    if (!differs) {
      this.#equal.add(call);
      return;
    }
    // Of calls beside each other the one that ended first then.
    const first = this.#difference?.call;
    if (first && (first.at < call.at || (first.at === call.at && first.seq <= call.seq))) return;
    const { callId, tool, input, seq } = call;
    this.#difference = { call, found: { session: run.session, callId, tool, input, seq, ...differs } };
  }

  async #answer(ask: Extract<Envelope, { type: "ask.opened" }>["ask"]): Promise<void> {
    const isAllowed = this.#world.wish.asked === "as then" && ask.kind === "permission";
    const refused = { verdict: "deny", reason: "Nobody is there to be asked." } as const;
    const answer: Answer = isAllowed ? { verdict: "allow" } : refused;
    await this.#session
      ?.submit({ type: "answer", askId: ask.id, answer, by: isAllowed ? "host" : "no-host" })
      .catch(() => undefined);
  }

  #name(today: string | undefined, then: string | undefined): void {
    if (today === undefined || then === undefined || today === then) return;
    // A longer name first: it may begin like a shorter one.
    if (!this.#names.some(([known]) => known === today)) this.#names.unshift([today, then]);
  }

  /** What was said then, with the names of today. */
  #asToday<T>(value: T): T {
    const { wish, folder } = this.#world;
    const named = mapTexts(value, (words) =>
      this.#names.slice(0, -1).reduce((text, [today, then]) => text.replaceAll(then, today), words),
    );
    return movePaths(named, wish.cwd, folder) as T;
  }

  async #sayWhatJoined({ run, turn, reply, goes }: Lane): Promise<void> {
    if (goes === "by itself") return;
    for (const { behind, input } of run.turns[turn]?.joined ?? [])
      if (behind === reply && isSaid(input)) await this.#say(input);
  }

  async #say({ id, content, from, when, allow }: Input): Promise<void> {
    const said = this.#asToday(content);
    await this.#session?.submit({ type: "input", id, content: said, from, when, allow, words: "as-is" });
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    await this.#session?.submit({ type: "interrupt", dropQueued: true }).catch(() => undefined);
  }
}

class TurnCount {
  #turns = 0;
  #wake: () => void = () => undefined;

  hear(event: Envelope): void {
    if (event.type !== "turn.started" || event.origin !== undefined) return;
    this.#turns++;
    this.#wake();
  }

  async reach(wanted: number, patience: (stop: AbortSignal) => Promise<unknown>): Promise<void> {
    if (this.#turns >= wanted) return;
    const over = new AbortController();
    const reached = new Promise<void>((resolve) => {
      this.#wake = () => {
        if (this.#turns >= wanted) resolve();
      };
    });
    await Promise.race([reached, patience(over.signal).catch(() => undefined)]);
    over.abort();
  }
}

/** What tasks, agents and hooks said comes by itself. */
const isSaid = ({ from: { kind } }: Input): boolean => kind === "person" || kind === "channel";

const families: Readonly<Record<string, { readonly family?: string | undefined }>> = toolHeads;

/** What a person said cannot be had again, and an answer in a wanted form is the model's own. */
const isWorthRunning = ({ ran, tool }: RecordedCall): boolean =>
  ran && tool !== answerToolName && families[tool]?.family !== "person";

/** How far something was in the background depends on when it was asked. */
const isOfItsMoment = ({ tool }: RecordedCall): boolean => tool === "TaskOutput" || tool === "TaskStop";

function mapTexts(value: unknown, map: (words: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, map)]));
}
