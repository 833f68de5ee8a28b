/**
 * The ports of one request, from the log: what was told, offered and answered then. Nothing here reaches outside, and
 * whoever asks for more than the log holds is refused.
 */
import { note } from "../../core/context/blocks.ts";
import type { Limits } from "../../core/limits.ts";
import { notesKept, planBegins, summaryIntroduction } from "../../core/model-text.ts";
import type { SessionState } from "../../core/state/state.ts";
import type { SessionPorts } from "../../engine/step-context.ts";
import type { StopSignal } from "../../kernel/abort.ts";
import { Fault, fault } from "../../kernel/fault.ts";
import { noRules } from "../../policy/decide.ts";
import type { Briefing, BriefingOutput } from "../../ports/briefing.ts";
import type { Clock } from "../../ports/clock.ts";
import { noHooks } from "../../ports/hooks.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import type { ToolHead } from "../../ports/tool.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type Block, text } from "../../protocol/message.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { RequestSums } from "../../protocol/usage.ts";

export type ReplayWorld = {
  /** Today's catalog and today's bytes. Nothing is sent. */
  readonly model: Pick<Model, "info"> & {
    /** `recorded`: what was written down then, for who has several ways to write it. */
    prepare?(
      request: ModelRequest,
      recorded: RequestSums | undefined,
    ): RequestSums | undefined | Promise<RequestSums | undefined>;
  };
  readonly limits: Limits;
  /** Today's words about a tool; where it has none the recorded ones count. */
  readonly specOf?: ((name: string) => ToolSpec | undefined) | undefined;
  /** Today's system prompt in place of the recorded one. */
  readonly systemOf?: ((recorded: readonly string[]) => readonly string[]) | undefined;
  /** Requests went to the provider's cache of this session. */
  readonly cacheKey?: string | undefined;
};

export type RequestOutcome = Extract<
  Durable,
  { type: "model.finished" } | { type: "model.failed" } | { type: "context.compacted" }
>;

type Added = Extract<Durable, { type: "context.added" }>;

/** What stands in the log between the beginning of a step and its request, and what came of the request. */
export type RecordedStep = {
  readonly state: SessionState;
  readonly session: string;
  readonly cwd: string;
  readonly told: readonly Durable[];
  readonly started: Extract<Durable, { type: "model.started" }>;
  readonly outcome: RequestOutcome | undefined;
};

export type LogPorts = {
  readonly parts: SessionPorts;
  /** Fires where the recorded attempt was given up. */
  readonly stop: AbortController;
};

const nothing = async (): Promise<never> => {
  throw fault("unexpected", { reason: "a replay asked for what is not in the log" });
};

export function portsOfLog(step: RecordedStep, world: ReplayWorld, onStream: () => void): LogPorts {
  const { state, session, started, outcome } = step;
  const stop = new AbortController();
  const time = { ms: 0, streams: false };
  const clock: Clock = {
    now: () => started.at,
    monotonicMs: () => time.ms,
    // Pauses before a request are over; deadlines of a recorded reply never come.
    sleep: (_, signal) => (time.streams ? until(signal) : Promise.resolve()),
  };
  const ids = [started.requestId, ...(outcome?.type === "model.finished" ? [outcome.messageId] : [])];
  const prompt = step.told.findLast((event) => event.type === "prompt.fixed") ?? state.prompt;
  const system = prompt?.system ?? [];
  const parts: SessionPorts = {
    log: {
      session,
      lastSeq: state.seq,
      notices: [],
      append: nothing,
      read: () => nothingToRead(),
      close: async () => undefined,
    },
    model: {
      info: (name) => world.model.info(name),
      prepare: (request) => world.model.prepare?.(request, started.sums),
      stream: () => {
        time.streams = true;
        onStream();
        return played(outcome, time, stop);
      },
    },
    clock,
    ids: { uuid: () => ids.shift() ?? "", random: () => 0 },
    workspace: closedWorkspace(step.cwd),
    tools: [
      ...(prompt?.tools ?? []).map((spec) => headOf(world, spec, false)),
      ...heldBack(step, prompt?.tools),
    ],
    rules: noRules,
    // With a hook that watches no call starts while its reply streams.
    hooks: { ...noHooks, watchTools: true },
    spill: nothing,
    limits: world.limits,
    system: world.systemOf?.(system) ?? system,
    promptOnResume: "given",
    cacheKey: world.cacheKey,
    ...briefingOf(step),
    ...memoryOf(step),
    ...planOf(step, prompt?.tools),
  };
  return { parts, stop };
}

const until = (signal: StopSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

async function* nothingToRead(): AsyncGenerator<Durable> {
  // The replay holds the log itself.
}

function headOf(world: ReplayWorld, recorded: ToolSpec, deferred: boolean): ToolHead {
  const spec = world.specOf?.(recorded.name) ?? recorded;
  return { name: spec.name, aliases: [], description: spec.description, spec, deferred, load: nothing };
}

/** Tools of which a conversation knows only the names. */
function heldBack({ state, told }: RecordedStep, offered: readonly ToolSpec[] = []): ToolHead[] {
  const known = new Set(offered.map(({ name }) => name));
  const names = [
    ...state.worklist.announced,
    ...addedIn(told, ["tools_added"]).flatMap(({ tools }) => tools ?? []),
  ];
  const spec = (name: string): ToolSpec => ({ name, description: "", input: { type: "object" } });
  return [...new Set(names)]
    .filter((name) => !known.has(name))
    .map(
      (name): ToolHead => ({
        name,
        aliases: [],
        description: "",
        spec: spec(name),
        deferred: true,
        load: nothing,
      }),
    );
}

const addedIn = (told: readonly Durable[], whys: readonly Added["why"][]): Added[] =>
  told.filter((event) => event.type === "context.added" && whys.includes(event.why)) as Added[];

function briefingOf({ told }: RecordedStep): { briefing?: Briefing } {
  const files = addedIn(told, ["instructions"]).map(
    ({ content, files: paths = [] }): BriefingOutput => ({
      content,
      files: paths.map((path) => ({ path, source: "project" })),
    }),
  );
  const news = addedIn(told, ["skills", "agents", "editor"]);
  if (files.length === 0 && news.length === 0) return {};
  const next = async (): Promise<BriefingOutput> => files.shift() ?? { content: [], files: [] };
  return {
    briefing: {
      start: next,
      near: next,
      news: () => news.flatMap(({ content, why }) => (isNews(why) ? [{ content, why }] : [])),
    },
  };
}

const isNews = (why: Added["why"]): why is "skills" | "agents" | "editor" =>
  why === "skills" || why === "agents" || why === "editor";

function memoryOf({ told }: RecordedStep): Pick<SessionPorts, "memory"> {
  const [added] = addedIn(told, ["memory"]);
  if (!added) return {};
  const index = within(textIn(added), note(notesKept(gap)).text);
  return { memory: { place: "", index: async () => index, recall: nothing, remember: nothing } };
}

function planOf({ told }: RecordedStep, offered: readonly ToolSpec[] = []): Pick<SessionPorts, "plan"> {
  const [added] = addedIn(told, ["plan"]);
  const words = note(planBegins({ file: gap, tools: offered.map(({ name }) => name) })).text;
  if (!added || !words.includes(gap)) return {};
  return { plan: { path: within(textIn(added), words), ready: async () => undefined } };
}

const textIn = ({ content: [first] }: Added): string => (first?.type === "text" ? first.text : "");

/** Stands where today's words have something of the world's. */
const gap = "\u0000";

/** What stands in the recorded words where today's have their gap; all of them where they are not today's words. */
function within(recorded: string, words: string): string {
  const [before = "", after = ""] = words.split(gap);
  return recorded.startsWith(before) && recorded.endsWith(after)
    ? recorded.slice(before.length, recorded.length - after.length)
    : recorded;
}

/** The recorded reply, block by block. The pieces in which it came are not in a log. */
async function* played(
  outcome: RequestOutcome | undefined,
  time: { ms: number },
  stop: AbortController,
): AsyncGenerator<ModelEvent> {
  if (!outcome) throw fault("stream_cut");
  if (outcome.type === "model.failed") {
    // Whether a provider had begun to answer is known by what is not known of the cost.
    if (outcome.usage === null) yield { type: "start", model: outcome.model };
    time.ms = outcome.ms;
    const { code, message, detail = {} } = outcome.fault;
    if (code === "aborted") stop.abort();
    throw new Fault(code, message, detail, undefined);
  }
  const { usage, usageUnsure, model } = outcome;
  const isReply = outcome.type === "model.finished";
  time.ms = isReply ? (outcome.firstMs ?? 0) : 0;
  yield { type: "start", model };
  const content: Block[] = isReply ? outcome.content : [text(notesIn(outcome.summary))];
  for (const [index, block] of content.entries()) {
    yield { type: "block.start", index, block };
    yield { type: "block.end", index, block };
  }
  time.ms = outcome.ms;
  const stopped = isReply ? outcome.stop : "end";
  yield {
    type: "end",
    stop: stopped,
    usage,
    content,
    ...(usageUnsure ? { usageUnsure } : {}),
    ...(isReply ? { providerId: outcome.providerId } : {}),
  };
}

const notesIn = (summary: string): string =>
  summary.startsWith(summaryIntroduction) ? summary.slice(summaryIntroduction.length) : summary;

async function* nothingToRun(): AsyncGenerator<never, never> {
  return nothing();
}

/** Has nothing and runs nothing. */
function closedWorkspace(cwd: string): Workspace {
  return {
    cwd,
    roots: [],
    files: {
      describe: async (path) => ({ path, exists: false, kind: "missing", root: undefined, links: false }),
      expand: nothing,
      read: nothing,
      write: nothing,
    },
    search: { files: nothing, text: nothing },
    documents: { pdfText: nothing },
    shell: { run: () => nothingToRun(), start: nothing },
  };
}
