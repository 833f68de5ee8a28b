/**
 * A session that the server of the home has, for a program that goes on with it: its prompts become turns of their own
 * there, told from their start to their end as if the session were open here. What others say to it meanwhile is theirs.
 */
import type { KeelClient } from "../../client/connect.ts";
import { fault } from "../../kernel/fault.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { Command, Receipt } from "../../protocol/command.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import type { SessionHandle } from "../../protocol/handle.ts";
import type { OptionName } from "../../protocol/options.ts";
import type { SettingsPatch } from "../../protocol/settings.ts";
import type { OpenSession } from "../open-session.ts";
import type { OpenOptions } from "../options.ts";
import { attachTo } from "./attached-session.ts";
import { connectHere } from "./home-server.ts";
import { OwnTurns } from "./own-turns.ts";

export type JoinedSession = Pick<
  OpenSession,
  | "id"
  | "info"
  | "notices"
  | "toolNames"
  | "submit"
  | "openAsks"
  | "hasWork"
  | "idle"
  | "tasks"
  | "inquire"
  | "fold"
  | "lastSeq"
  | "history"
> & {
  readonly mcp: Pick<OpenSession["mcp"], "status">;
  readonly handle: SessionHandle;
  readonly client: KeelClient;
  /** What belongs to turns of its own. */
  onEvent(listener: (envelope: Envelope) => void): () => void;
  /** What belongs to those of others. */
  onOther(listener: (envelope: Envelope) => void): () => void;
  /** Lets go of it; the session goes on. */
  close(): Promise<void>;
};

export type JoinOptions = {
  readonly id: string;
  /** What the server calls whoever joins. */
  readonly name: string;
  /** `running`: the turn that runs is followed like one of its own. */
  readonly follows: "own turns" | "running";
  readonly settings: Pick<OpenOptions, "model" | "effort" | "thinking" | "permissionMode" | "title">;
};

type JoiningHome = { readonly path: string; readonly clock: Clock; readonly ids: Pick<Ids, "uuid"> };

/** What a session that runs can still be told; and what is only about how it is shown. */
const sayable: ReadonlySet<string> = new Set<OptionName>([
  "resume",
  "continue",
  "model",
  "effort",
  "thinking",
  "maxThinkingTokens",
  "permissionMode",
  "allowDangerouslySkipPermissions",
  "title",
  "permissionPrompts",
  "includePartialMessages",
  "includeHookEvents",
]);

/** Those of the options that a session must have from its start. What is empty says nothing. */
export const unsayable = (options: object): string[] =>
  Object.entries(options).flatMap(([name, value]) => (sayable.has(name) || isUnsaid(value) ? [] : [name]));

const isUnsaid = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0);

/** Throws `link_lost`, `session_closed`, and what the server refuses settings with. */
export async function joinServed(
  { id, name, follows, settings }: JoinOptions,
  home: JoiningHome,
): Promise<JoinedSession> {
  const { client } = await connectHere(home.path, name);
  try {
    const patch = await patchOf(client, id, settings);
    if (Object.keys(patch).length > 0) await client.attach(id).submit({ type: "set", patch });
    return await joined(client, { id, follows, home });
  } catch (thrown) {
    client.close();
    throw thrown;
  }
}

/** A model by one of its short names is one that the session offers. */
async function patchOf(
  client: KeelClient,
  id: string,
  { model, ...rest }: JoinOptions["settings"],
): Promise<SettingsPatch> {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  if (model === undefined) return given;
  const offered = await client.attach(id).inquire("offeredModels");
  return { ...given, model: offered.find(({ name }) => name === model)?.model.id ?? model };
}

async function joined(
  client: KeelClient,
  { id, follows, home }: Pick<JoinOptions, "id" | "follows"> & { readonly home: JoiningHome },
): Promise<JoinedSession> {
  const session = await attachTo(client, id, 0);
  const { handle } = session;
  const [info, servers] = await Promise.all([handle.inquire("facts"), handle.inquire("servers")]);
  const stop = new AbortController();
  const turns = new OwnTurns(follows === "running");
  const own = new Set<(envelope: Envelope) => void>();
  const others = new Set<(envelope: Envelope) => void>();
  let lastSeq = session.seq;
  session.onEvent((event) => {
    if ("seq" in event && !event.origin) lastSeq = event.seq;
    const isOwn = turns.owns(event);
    // As a session of this process, it is ahead of what is told of it.
    turns.heard(event);
    for (const tell of isOwn ? own : others) tell(event);
  });
  const unwatch = giveUpLater(client, home.clock, (why) => turns.fail(why));
  let following: Promise<void> | undefined;
  // Once those who want to be told are there.
  const follow = (): void => {
    following ??= session.follow(stop.signal).then(
      () => turns.fail(fault("session_closed")),
      (thrown: unknown) => turns.fail(thrown),
    );
  };

  /** What others have queued is not its to drop. */
  async function interrupt(dropQueued: boolean): Promise<Receipt> {
    const running = turns.isRunning;
    if (running) await handle.submit({ type: "interrupt" });
    const stillQueued: string[] = [];
    const dropped: string[] = [];
    for (const inputId of turns.waiting()) {
      const receipt = dropQueued ? await handle.submit({ type: "drop", inputId }) : undefined;
      (receipt?.type === "dropped" && receipt.found ? dropped : stillQueued).push(inputId);
    }
    return { type: "interrupted", running, stillQueued, dropped };
  }

  async function submit(command: Command): Promise<Receipt> {
    follow();
    if (command.type === "interrupt") return interrupt(command.dropQueued ?? false);
    // What joins the next turn, whosever that is, has none of its own.
    if (command.type !== "input" || command.when === "with-next") return handle.submit(command);
    const inputId = command.id ?? home.ids.uuid();
    return turns.say(inputId, () => handle.submit({ ...command, id: inputId }));
  }

  return {
    id: handle.id,
    handle,
    client,
    info,
    notices: [],
    // As they were when it was met; each turn that begins elsewhere tells no news of them here.
    mcp: { status: () => servers as ReturnType<OpenSession["mcp"]["status"]> },
    toolNames: () => [...info.tools],
    async fold({ start, step, takeUp }) {
      let memo = start;
      for await (const event of history(client, id))
        if (event.seq <= session.seq) memo = step(memo, event);
        else break;
      return takeUp(memo);
    },
    submit,
    onEvent: listening(own),
    onOther: listening(others),
    openAsks: () => (follows === "running" ? session.openAsks() : []),
    hasWork: () => turns.hasWork(),
    idle() {
      follow();
      return turns.ended();
    },
    tasks: () => turns.tasks(),
    inquire: (name, ...question) => handle.inquire(name, ...question),
    lastSeq: () => lastSeq,
    history: (after) => history(client, id, after),
    async close() {
      stop.abort();
      unwatch();
      await following;
      client.close();
    },
  };
}

const listening =
  <Listener>(listeners: Set<Listener>) =>
  (listener: Listener): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

async function* history(client: KeelClient, session: string, from = 0): AsyncGenerator<Durable, void> {
  for (let after = from, more = true; more; ) {
    const page = await client.history({ session, after });
    yield* page.events;
    after = page.events.at(-1)?.seq ?? after;
    more = page.more && page.events.length > 0;
  }
}

/** A server that is started anew is found again; one that stays away is not waited for. */
const maxLostMs = 30_000;

function giveUpLater(client: KeelClient, clock: Clock, giveUp: (why: unknown) => void): () => void {
  let waiting: AbortController | undefined;
  const unwatch = client.onLink((status) => {
    waiting?.abort();
    if (status.state !== "lost") return;
    waiting = new AbortController();
    const { signal } = waiting;
    void clock.sleep(maxLostMs, signal).then(() => {
      if (!signal.aborted) giveUp(fault("link_lost", { reason: status.reason }));
    });
  });
  return () => {
    waiting?.abort();
    unwatch();
  };
}
