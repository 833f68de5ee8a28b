/**
 * A session that the server of the home has, for `keel -p --resume`: the prompt becomes a turn of its own there, and is
 * shown from its start to its end as if the session were open here. What others say to it meanwhile is theirs.
 */
import { usage } from "../../../app/flags/arguments.ts";
import { type FlagValues, readUserFlags } from "../../../app/flags/session-flags.ts";
import { connectHere } from "../../../app/sessions/home-server.ts";
import type { KeelClient } from "../../../client/connect.ts";
import { fault } from "../../../kernel/fault.ts";
import type { Command, Receipt } from "../../../protocol/command.ts";
import { type Envelope, type EventHandlers, handle } from "../../../protocol/event/envelope.ts";
import type { OptionName } from "../../../protocol/options.ts";
import type { SettingsPatch } from "../../../protocol/settings.ts";
import { type AttachedSession, attachTo } from "../attach/attached-session.ts";
import type { Context } from "../context.ts";
import type { ConversedSession } from "./converse.ts";

/** What a session that runs can still be told; and what is only about how it is shown here. */
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

export type ServedPrompt = {
  readonly home: string;
  readonly id: string;
  /** Without one it is shown how the turn that runs goes on. */
  readonly prompt: string | undefined;
  /** As far as flags name them. */
  readonly settings: Pick<SettingsPatch, "model" | "effort" | "thinking" | "permissionMode" | "title">;
  readonly uuid: () => string;
  readonly env: Context["env"];
};

/** Throws `usage` for flags that a session which runs elsewhere cannot follow. */
export async function mustBeSayable(
  values: Parameters<typeof readUserFlags>[1] & FlagValues,
  cwd: string,
): Promise<void> {
  const given = Object.entries(await readUserFlags("cli", values, cwd));
  const refused = given.flatMap(([name, value]) => {
    // What no flag says is as it is without one.
    if (isUnsaid(value) || (name === "persistSession" && value === true)) return [];
    return sayable.has(name) || (name === "skills" && values["disable-slash-commands"]) ? [] : [name];
  });
  if (refused.length > 0)
    throw usage(
      `The server of this home has this session, and was not started with ${refused.join(", ")}: leave it out, or go on in a copy with --fork.`,
    );
}

const isUnsaid = (value: unknown): boolean =>
  value === undefined || value === false || (Array.isArray(value) && value.length === 0);

/** Throws `link_lost`, `usage` where nothing is unfinished, and what the server refuses settings with. */
export async function openServed({
  home,
  id,
  prompt,
  settings,
  uuid,
  env,
}: ServedPrompt): Promise<ConversedSession> {
  const { client } = await connectHere(home, "keel -p");
  try {
    const patch = await patchOf(client, id, settings);
    if (Object.keys(patch).length > 0) await client.attach(id).submit({ type: "set", patch });
    if (prompt === undefined && !(await client.session(id)).working)
      throw usage("This session has no unfinished turn: give a prompt to go on.");
    return await conversed(client, await attachTo(client, id, 0), {
      inputId: prompt === undefined ? undefined : uuid(),
      env,
    });
  } catch (thrown) {
    client.close();
    throw thrown;
  }
}

/** A model by one of its short names is one that the session offers. */
async function patchOf(
  client: KeelClient,
  id: string,
  { model, ...rest }: ServedPrompt["settings"],
): Promise<SettingsPatch> {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  if (model === undefined) return given;
  const offered = await client.attach(id).inquire("offeredModels");
  return { ...given, model: offered.find(({ name }) => name === model)?.model.id ?? model };
}

async function conversed(
  client: KeelClient,
  session: AttachedSession,
  { inputId, env }: { readonly inputId: string | undefined; readonly env: Context["env"] },
): Promise<ConversedSession> {
  const { handle } = session;
  const [info, servers] = await Promise.all([handle.inquire("facts"), handle.inquire("servers")]);
  const stop = new AbortController();
  const listeners = new Set<(envelope: Envelope) => void>();
  const ended = Promise.withResolvers<void>();
  const isOwnTurn = ownTurn(inputId);
  const answered = new Set<string>();
  let isOver = false;
  let runs: string | undefined;
  const over = (): void => {
    isOver = true;
    ended.resolve();
  };
  session.onEvent((event) => {
    const part = isOwnTurn(event);
    if (part === "not ours" || isOver) return;
    for (const tell of listeners) tell(event);
    if (event.type === "command.answered") answered.add(event.name);
    if (part === "last" || (runs !== undefined && answered.has(runs))) over();
  });
  const unwatch = giveUpLater(client, ended.reject);
  let following: Promise<void> | undefined;
  // Once those who want to be told are there.
  const follow = (): void => {
    following ??= session.follow(stop.signal).then(() => ended.reject(fault("session_closed")), ended.reject);
  };
  ended.promise.catch(() => undefined); // Heard by who waits for the end.

  async function submit(command: Command): Promise<Receipt> {
    // What others have queued is not ours to drop.
    if (command.type === "interrupt" && isOwnTurn.begun()) return handle.submit({ type: "interrupt" });
    if (command.type === "interrupt" && inputId !== undefined)
      return handle.submit({ type: "drop", inputId });
    if (command.type !== "input" || inputId === undefined) return handle.submit(command);
    follow();
    const receipt = await handle.submit({ ...command, id: inputId });
    if (receipt.type === "ran") runs = receipt.command;
    // Its words may have come before its receipt.
    if (runs !== undefined && answered.has(runs)) over();
    return receipt;
  }

  return {
    id: handle.id,
    info,
    notices: [],
    // As they were when it was met; each turn that begins elsewhere tells no news of them here.
    mcp: { status: () => servers as ReturnType<ConversedSession["mcp"]["status"]> },
    toolNames: () => [...info.tools],
    async fold({ start, step, takeUp }) {
      let memo = start;
      for (let after = 0, more = true; more; ) {
        const page = await client.history({ session: handle.id, after });
        for (const event of page.events) if (event.seq <= session.seq) memo = step(memo, event);
        after = page.events.at(-1)?.seq ?? after;
        more = page.more && after < session.seq;
      }
      return takeUp(memo);
    },
    submit,
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    openAsks: () => (inputId === undefined ? session.openAsks() : []),
    hasWork: () => !isOver,
    idle() {
      follow();
      return ended.promise;
    },
    // They go on at the server, and are told there.
    tasks: () => [],
    async keepRule(rule, to) {
      const { writeRule } = await import("../../../app/maintenance/settings-files.ts");
      return writeRule({ env, cwd: info.cwd }, to, { list: "allow", rule });
    },
    /** The session goes on. */
    async close() {
      stop.abort();
      unwatch();
      await following;
      client.close();
    },
  };
}

/** A server that is started anew is found again; one that stays away is not waited for. */
const maxLostMs = 30_000;

function giveUpLater(client: KeelClient, giveUp: (why: unknown) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const unwatch = client.onLink((status) => {
    clearTimeout(timer);
    if (status.state === "lost")
      timer = setTimeout(() => giveUp(fault("link_lost", { reason: status.reason })), maxLostMs);
  });
  return () => {
    clearTimeout(timer);
    unwatch();
  };
}

type TurnPart = "not ours" | "ours" | "last";

/** Which events belong to the turn of an input, or where there is none to the turn that runs. */
function ownTurn(inputId: string | undefined): ((event: Envelope) => TurnPart) & { begun(): boolean } {
  let isRunning = inputId === undefined;
  const ifRunning = (part: TurnPart): TurnPart => (isRunning ? part : "not ours");
  const isOurs = (id: string): boolean => id === inputId;
  const parts: EventHandlers<Envelope, [], TurnPart> = {
    "turn.started": ({ inputIds }) => {
      isRunning = inputId === undefined || inputIds.some(isOurs);
      return ifRunning("ours");
    },
    "input.joined": ({ inputIds }) => {
      isRunning ||= inputIds.some(isOurs);
      return ifRunning("ours");
    },
    "input.accepted": ({ input }) => (isOurs(input.id) ? "ours" : ifRunning("ours")),
    "input.dropped": (event) => (isOurs(event.inputId) ? "last" : ifRunning("ours")),
    "command.answered": () => "ours",
    "turn.finished": () => ifRunning("last"),
  };
  const part = (event: Envelope): TurnPart =>
    (event.origin ? undefined : handle(parts, event)) ?? ifRunning("ours");
  return Object.assign(part, { begun: () => isRunning });
}
