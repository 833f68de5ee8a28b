/** Callbacks of a program as answerers: `canUseTool` answers what the engine asks; without it everything is refused. */
import type { OpenSession } from "../app/open-session.ts";
import type { Json } from "../kernel/json.ts";
import type { Answer, Ask } from "../protocol/ask.ts";
import type { PermissionMode } from "../protocol/settings.ts";

export type PermissionUpdate = {
  type: "addRules" | "replaceRules" | "removeRules" | "setMode" | "addDirectories" | "removeDirectories";
  rules?: { toolName: string; ruleContent?: string }[];
  behavior?: "allow" | "deny" | "ask";
  mode?: string;
  directories?: string[];
  destination: "userSettings" | "projectSettings" | "localSettings" | "session" | "cliArg";
};

export type PermissionResult =
  | {
      behavior: "allow";
      updatedInput?: Record<string, unknown>;
      updatedPermissions?: PermissionUpdate[];
      toolUseID?: string;
    }
  | { behavior: "deny"; message: string; interrupt?: boolean; toolUseID?: string };

export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: {
    signal: AbortSignal;
    suggestions?: PermissionUpdate[];
    toolUseID: string;
    requestId: string;
    decisionReason?: string;
    title?: string;
  },
) => Promise<PermissionResult | null>;

const nobody =
  "Refused: nobody is here to be asked. Go on without it, or say which permission is needed and why.";

/** Answers what is open and what will be; questions may overlap. Returns a function that stops it. */
export function answerWith(session: OpenSession, canUseTool: CanUseTool | undefined): () => void {
  const open = new Map<string, AbortController>();
  const take = (ask: Ask): void => {
    const closed = new AbortController();
    open.set(ask.id, closed);
    void reply(ask, closed.signal);
  };

  async function reply(ask: Ask, signal: AbortSignal): Promise<void> {
    if (!canUseTool) return send(ask, { verdict: "deny", reason: nobody }, "no-host");
    const answer = await askProgram(canUseTool, ask, signal);
    // Null: the program answers by another way.
    if (!answer || signal.aborted) return;
    if (answer.mode !== undefined)
      await session.submit({ type: "set", patch: { permissionMode: answer.mode } }).catch(() => undefined);
    await send(ask, answer.answer, "host");
  }

  async function send(ask: Ask, answer: Answer, by: "host" | "no-host"): Promise<void> {
    // Somebody else may have closed it; then this answer came late, which its receipt says.
    await session.submit({ type: "answer", askId: ask.id, answer, by }).catch(() => undefined);
  }

  const stop = session.onEvent((event) => {
    if (event.type === "ask.opened") take(event.ask);
    if (event.type !== "ask.closed") return;
    open.get(event.askId)?.abort();
    open.delete(event.askId);
  });
  for (const ask of session.openAsks()) take(ask);
  return () => {
    stop();
    for (const controller of open.values()) controller.abort();
  };
}

type Decided = { answer: Answer; mode: PermissionMode | undefined };

async function askProgram(
  canUseTool: CanUseTool,
  ask: Ask,
  signal: AbortSignal,
): Promise<Decided | undefined> {
  const input = inputOf(ask);
  try {
    const result = await canUseTool(ask.tool ?? "", input, {
      signal,
      toolUseID: ask.callId ?? ask.id,
      requestId: ask.id,
      ...(ask.reason === undefined ? {} : { decisionReason: ask.reason }),
      title: ask.title,
      suggestions: suggestionsFor(ask),
    });
    return result === null ? undefined : { answer: answerOf(result), mode: modeIn(result) };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return { answer: { verdict: "deny", reason: `The permission callback failed: ${why}` }, mode: undefined };
  }
}

function answerOf(result: PermissionResult): Answer {
  if (result.behavior === "deny") {
    return { verdict: "deny", reason: result.message, ...(result.interrupt ? { interrupt: true } : {}) };
  }
  const rules = (result.updatedPermissions ?? []).flatMap(rulesIn);
  return {
    verdict: "allow",
    ...(rules.length > 0 ? { rules } : {}),
    ...(result.updatedInput === undefined ? {} : { input: result.updatedInput as Json }),
  };
}

function modeIn(result: PermissionResult): PermissionMode | undefined {
  if (result.behavior === "deny") return undefined;
  const mode = result.updatedPermissions?.findLast(({ type }) => type === "setMode")?.mode;
  return modes.find((known) => known === mode);
}

/** Bypassing is never the answer to a question. */
const modes = ["default", "acceptEdits", "plan", "dontAsk"] as const satisfies readonly PermissionMode[];

/** Whatever the destination, it holds for this session; files are the program's to write. */
const rulesIn = ({ type, behavior, rules = [] }: PermissionUpdate): string[] =>
  type === "addRules" && behavior === "allow"
    ? rules.map(({ toolName, ruleContent }) =>
        ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`,
      )
    : [];

/** What the engine offers to remember, as the interface writes it. */
function suggestionsFor(ask: Ask): PermissionUpdate[] {
  return ask.options.flatMap(({ rule }): PermissionUpdate[] => {
    if (rule === undefined) return [];
    const [, toolName = rule, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
    return [
      {
        type: "addRules",
        behavior: "allow",
        destination: "localSettings",
        rules: [{ toolName, ...(ruleContent === undefined ? {} : { ruleContent }) }],
      },
    ];
  });
}

const inputOf = ({ input }: Ask): Record<string, unknown> =>
  typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
