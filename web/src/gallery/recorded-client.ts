/** A server that is only a recording: it tells what happened once, and answers what the page asks about it. */
import type { AgentUpdate, KeelClient, LinkStatus, SessionHandle } from "keel/client";
import type {
  Access,
  AnswerTo,
  Ask,
  DeviceEntry,
  DiffSummary,
  Durable,
  Envelope,
  FileDiff,
  InquiryName,
  TerminalUpdate,
  WorkspaceEntry,
} from "keel/protocol";
import type { UnsentInput } from "../live/kept-events.ts";

export type Recording = {
  readonly link?: LinkStatus | undefined;
  readonly workspaces?: readonly WorkspaceEntry[] | undefined;
  readonly sessions?: Readonly<Record<string, readonly Envelope[]>> | undefined;
  /** Answers of inquiries, the same for every session; or what makes one of the question. */
  readonly inquiries?: Partial<Record<InquiryName, unknown>> | undefined;
  readonly diff?: DiffSummary | undefined;
  readonly fileDiffs?: Readonly<Record<string, FileDiff>> | undefined;
  readonly terminal?: readonly TerminalUpdate[] | undefined;
  /** What an agent of another engine said. */
  readonly messages?: readonly AgentUpdate[] | undefined;
  readonly devices?: readonly DeviceEntry[] | undefined;
  readonly found?: AnswerTo<"search">["found"] | undefined;
  /** What earlier conversations said. */
  readonly memory?: AnswerTo<"memory">["found"] | undefined;
  readonly schedules?: AnswerTo<"schedules">["schedules"] | undefined;
  readonly groups?: AnswerTo<"groups">["groups"] | undefined;
  readonly groupLines?: AnswerTo<"groupLog">["lines"] | undefined;
  /** What the browser has noted, and what it has not sent yet. */
  readonly notes?: Readonly<Record<string, string>> | undefined;
  readonly unsent?: readonly UnsentInput[] | undefined;
  readonly access?: Access | undefined;
  /** What a new agent can be made of. */
  readonly choices?: AnswerTo<"choices"> | undefined;
};

const forever = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

async function* told<T>(all: readonly T[], signal: AbortSignal): AsyncGenerator<T, void> {
  yield* all;
  await forever(signal);
}

export function recordedClient(recording: Recording): KeelClient {
  const {
    workspaces = [],
    sessions = {},
    inquiries = {},
    link = { state: "connected", since: 0 },
  } = recording;
  const eventsOf = (session: string): readonly Envelope[] =>
    Object.hasOwn(sessions, session) ? (sessions[session] ?? []) : [];
  const nothing = async (): Promise<never> => {
    throw new Error("This is a recording: nothing can be done in it.");
  };
  const attach = (session: string): SessionHandle => ({
    id: session,
    // Nobody is there to refuse it.
    submit: link.state === "lost" ? () => new Promise(() => undefined) : nothing,
    events: (_after, signal = new AbortController().signal) => told(eventsOf(session), signal),
    asks: async () => openAsksIn(eventsOf(session)),
    inquire: (async (name: InquiryName, question: unknown) => {
      const answer = Object.hasOwn(inquiries, name) ? inquiries[name] : [];
      return typeof answer === "function" ? answer(question) : answer;
    }) as SessionHandle["inquire"],
    detach: async () => undefined,
  });
  const client: Partial<KeelClient> = {
    link,
    onLink: () => () => undefined,
    greeting: async () => ({ keel: "0.1.0", boot: "recorded", access: recording.access ?? "work" }),
    sessions: async () => [],
    attach,
    // What is told live stands between what is stored: a feed is told all of it as it happens.
    history: async ({ session, last }) => ({
      events: last === undefined ? eventsOf(session).filter(isStored) : [],
      more: false,
    }),
    workspaces: {
      choices: async () => recording.choices ?? { engines: [], agents: [], models: [] },
      watch: (signal: AbortSignal) =>
        told(link.state === "connecting" ? [] : [{ kind: "all" as const, workspaces }], signal),
      watchDiff: (_: string, signal: AbortSignal) => told(recording.diff ? [recording.diff] : [], signal),
      fileDiff: async ({ path }: { path: string }) =>
        recording.fileDiffs?.[path] ?? { path, stamp: "", hunks: [] },
      messages: (_: string, signal: AbortSignal) => told(recording.messages ?? [], signal),
      terminal: () => ({
        updates: (signal: AbortSignal) => told(recording.terminal ?? [], signal),
        type: async () => undefined,
        resize: async () => undefined,
      }),
    } as unknown as KeelClient["workspaces"],
    search: async ({ words }) => ({ found: words === "clock" ? (recording.found ?? []) : [], more: false }),
    memory: {
      find: async () => ({ found: recording.memory ?? [], meaning: false }),
      stats: async () => ({
        chunks: 1_284,
        sessions: 37,
        bytes: 4_200_000,
        embedded: 0,
        work: "idle" as const,
      }),
      forget: nothing,
    },
    schedules: {
      list: async () => ({
        schedules: recording.schedules ?? [],
        total: (recording.schedules ?? []).length,
      }),
      pause: nothing,
      run: nothing,
      remove: nothing,
    },
    groups: {
      list: async () => ({ groups: recording.groups ?? [], atOnce: 5 }),
      log: async () => ({ lines: recording.groupLines ?? [] }),
      say: nothing,
    },
    devices: {
      list: async () => recording.devices ?? [],
      pair: async () => ({ pairing: "1", code: "K7Q2M9XW", until: 0, url: "https://shop.example:7777" }),
      pairing: () => new Promise(() => undefined),
    } as unknown as KeelClient["devices"],
    close: () => undefined,
  };
  return new Proxy(client as KeelClient, {
    get: (target, name) => Reflect.get(target, name) ?? nothing,
  });
}

const isStored = (event: Envelope): event is Durable => "seq" in event && !event.origin;

function openAsksIn(events: readonly Envelope[]): readonly Ask[] {
  const open = new Map<string, Ask>();
  for (const event of events) {
    if (event.type === "ask.opened") open.set(event.ask.id, event.ask);
    if (event.type === "ask.closed") open.delete(event.askId);
  }
  return [...open.values()];
}
