/**
 * A session that the server of the home has, for `query({ resume })`: its messages are those of a session of this process.
 * What a session has from its start, such as servers and hooks of the program, is refused by name.
 */
import type { Home } from "../../app/home.ts";
import type { WantedChange } from "../../app/maintenance/change-permissions.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { OpenOptions } from "../../app/options.ts";
import { type JoinedSession, unsayable } from "../../app/sessions/joined-session.ts";
import { fault } from "../../kernel/fault.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import type { Options } from "../options/options.ts";

export type ServedSession = OpenSession & Pick<JoinedSession, "onOther">;

/** About the program itself and how it is told, and what changes nothing anywhere. */
const aboutProgram: ReadonlySet<string> = new Set<keyof Options>([
  "abortController",
  "canUseTool",
  "cwd",
  "enableFileCheckpointing",
  "env",
  "extraArgs",
  "forwardSubagentText",
  "keepOpen",
  "onElicitation",
  "stderr",
  "verbatimPrompts",
  "agentProgressSummaries",
  "debug",
  "debugFile",
  "onUserDialog",
  "supportedDialogKinds",
  "perTaskStopAffordance",
  "planModeInstructions",
  "pluginDelivery",
  "promptSuggestions",
  "resumeDropsTurn",
  "taskBudget",
  "toolConfig",
]);

/** Throws `usage` for options that only a session of one's own can have, `link_lost`, and what the server refuses. */
export async function openServed(
  options: Options,
  { join, id, wanted }: { join: Home["join"]; id: string; wanted: OpenOptions },
): Promise<ServedSession> {
  mustBeSayable(options);
  const { model, effort, thinking, permissionMode, title } = wanted;
  const session = await join({
    id,
    name: "a program",
    follows: "own turns",
    settings: {
      model,
      effort,
      thinking,
      permissionMode: options.permissionMode === undefined ? undefined : permissionMode,
      title,
    },
  });
  const closed = Promise.withResolvers<void>();
  return {
    ...session,
    location: undefined,
    run: () => session.idle(),
    attach: (after, signal): AsyncIterable<Envelope> => session.handle.events(after ?? 0, signal),
    changePermissions: (changes) => changeThere(session, changes),
    keepRule: (rule, to) => session.client.keepRule({ session: id, rule, to }),
    mcp: {
      ...session.mcp,
      start: () => undefined,
      tools: () => session.info.tools.filter((name) => name.startsWith("mcp__")),
      prompts: () => [],
      resources: () => [],
      onChange: () => () => undefined,
      set: refuses("servers of its own"),
      toggle: refuses("a switch of its servers"),
      reconnect: refuses("a switch of its servers"),
      prompt: refuses("a call of its servers"),
      resource: refuses("a call of its servers"),
      call: refuses("a call of its servers"),
    },
    updateSettings: refuses("settings by a program"),
    readFile: refuses("a read of its files"),
    seedRead: refuses("a read of its files"),
    callTool: refuses("a call of its tools"),
    reload: refuses("a reading of its files anew"),
    whyNotAttached: async () => undefined,
    setOwnTools: refusesNow("tools of its own"),
    bill: refusesNow("a bill"),
    contextTokens: refusesNow("a size"),
    context: refusesNow("a size"),
    isLoaded: () => true,
    unload: async () => false,
    close: () => session.close().finally(closed.resolve),
    // Others may be at it: it is let go of where it is.
    leave: async () => false,
    closed: closed.promise,
  };
}

function mustBeSayable({ persistSession, ...options }: Options): void {
  const kept = persistSession === false ? ["persistSession"] : [];
  const refused = [...unsayable(options).filter((name) => !aboutProgram.has(name)), ...kept];
  if (refused.length > 0)
    throw fault("usage", {
      reason: `The server of this home has this session, and was not started with ${refused.join(", ")}: leave it out, or go on in a copy with forkSession.`,
    });
}

/** What holds for the rest of the session is a setting of it; an allow rule may be kept in a file too. */
async function changeThere(session: JoinedSession, changes: readonly WantedChange[]): Promise<void> {
  for (const { to, ...change } of changes) {
    if (change.type === "mode") {
      await session.submit({ type: "set", patch: { permissionMode: change.mode } });
      continue;
    }
    await session.submit({ type: "set", patch: { permissions: [change] } });
    if (to === "session" || to === "command-line") continue;
    if (change.type !== "rules" || change.list !== "allow" || change.change !== "add")
      throw fault("usage", { reason: notHere("any other change of a file than a new allow rule") });
    for (const rule of change.rules) await session.client.keepRule({ session: session.id, rule, to });
  }
}

const notHere = (what: string): string =>
  `The server of this home has this session: a program that joins it cannot give it ${what}.`;

const refuses = (what: string) => async (): Promise<never> => {
  throw fault("usage", { reason: notHere(what) });
};

const refusesNow = (what: string) => (): never => {
  throw fault("usage", { reason: notHere(what) });
};
