/** Callbacks of a program as answerers: `canUseTool` answers what the engine asks; without it everything is refused. */

import type { WantedChange } from "../../app/maintenance/change-permissions.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { OpenOptions } from "../../app/options.ts";
import { withDefaults } from "../../app/transcripts/wire-blocks.ts";
import { reasonOf, toFault } from "../../kernel/fault.ts";
import { asObject, asText, isJson, type Json, present } from "../../kernel/json.ts";
import { oneLine } from "../../kernel/text.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import type { HookEvent } from "../../protocol/hook.ts";
import { answerEach, sendAnswer } from "../../view/answer-asks.ts";
import type { AnyHookInput, HookMap } from "./hooks.ts";
import { changeOf, type PermissionUpdate, suggestionsFor } from "./permission-updates.ts";

export type PermissionDecisionClassification = "user_permanent" | "user_reject" | "user_temporary";

export type PermissionResult = {
  toolUseID?: string;
  decisionClassification?: PermissionDecisionClassification;
} & (
  | { behavior: "allow"; updatedInput?: Record<string, unknown>; updatedPermissions?: PermissionUpdate[] }
  | { behavior: "deny"; message: string; interrupt?: boolean }
);

export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: {
    /** Fires when the question is over: answered by somebody else, or the turn has ended. */
    signal: AbortSignal;
    suggestions?: PermissionUpdate[];
    toolUseID: string;
    requestId: string;
    /** Why it is asked. */
    decisionReason?: string;
    title?: string;
    displayName?: string;
    description?: string;
    /** The server that a tool belongs to. */
    mcpServer?: { name: string; source: string };
    blockedPath?: string;
    defaultToNo?: boolean;
    suppressAlwaysAllowRule?: boolean;
    agentID?: string;
    matchedAskRule?: { source: string; toolName: string; ruleContent?: string };
    /** What wants the question: a `rule`, a `hook`, the `mode`, `workingDir` or `safetyCheck`. */
    decisionReasonType?: string;
  },
) => Promise<PermissionResult | null>;

const nobody =
  "Refused: nobody is here to be asked. Go on without it, or say which permission is needed and why.";

/** Answers what is open and what will be; questions may overlap. Returns a function that stops it. */
export function answerWith(
  session: OpenSession,
  {
    canUseTool,
    onElicitation,
    sourceOf,
    tell,
  }: {
    canUseTool: CanUseTool | undefined;
    onElicitation?: OnElicitation | undefined;
    /** Where a server was named: `sdk` for those of the program. */
    sourceOf?: ((server: string) => string) | undefined;
    tell: (problem: string) => void;
  },
): () => void {
  async function reply(ask: Ask, signal: AbortSignal): Promise<void> {
    if (ask.kind === "elicitation") {
      const answer = await askElicitation(onElicitation, ask, signal);
      if (answer && !signal.aborted) await sendAnswer(session, ask, answer, "host");
      return;
    }
    if (!canUseTool) return sendAnswer(session, ask, { verdict: "deny", reason: nobody }, "no-host");
    const decided = await askProgram(canUseTool, ask, { signal, ...serverOf(ask.tool, sourceOf) });
    // Null: the program answers by another way.
    if (!decided || signal.aborted) return;
    await change(decided.changes, ask);
    await sendAnswer(session, ask, decided.answer, "host");
  }

  /** What it wants to change holds before the call goes on; what cannot be changed is told, and the answer stands. */
  async function change(changes: readonly WantedChange[], ask: Ask): Promise<void> {
    for (const one of changes) {
      try {
        await session.changePermissions([one], { except: ask.id });
      } catch (thrown) {
        tell(toFault(thrown).message);
      }
    }
  }

  return answerEach(session, (ask, signal) => void reply(ask, signal));
}

type Decided = { answer: Answer; changes: WantedChange[] };

async function askProgram(
  canUseTool: CanUseTool,
  ask: Ask,
  about: Pick<CallTold, "signal" | "mcpServer">,
): Promise<Decided | undefined> {
  try {
    const result = await canUseTool(ask.tool ?? "", asObject(withDefaults(ask.tool ?? "", ask.input ?? {})), {
      ...about,
      toolUseID: ask.callId ?? ask.id,
      requestId: ask.id,
      ...(ask.reason === undefined ? {} : { decisionReason: ask.reason }),
      title: ask.title,
      displayName: ask.tool ?? ask.title,
      description: descriptionOf(ask),
      ...basisOf(ask),
      ...(ask.origin ? { agentID: ask.origin.agentId } : {}),
      suggestions: suggestionsFor(ask),
    });
    return result === null ? undefined : { answer: answerOf(result), changes: changesIn(result) };
  } catch (thrown) {
    const why = reasonOf(thrown);
    return { answer: { verdict: "deny", reason: `The permission callback failed: ${why}` }, changes: [] };
  }
}

/** The words that the model gave its call, or what the call is about to touch: hosts show it below the tool's name. */
function descriptionOf({ title, input, claims = [], facts }: Ask): string {
  const said = asText(asObject(input)["description"]).trim();
  const [target = title] = claims.map((claim) => claim.target);
  const folder = facts?.cwd === undefined ? "" : `${facts.cwd}/`;
  return said || oneLine(folder !== "" && target.startsWith(folder) ? target.slice(folder.length) : target);
}

type CallTold = Parameters<CanUseTool>[2];

const ruleParts = ({ text, source }: { text: string; source: string }) => {
  const [, toolName = text, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(text) ?? [];
  return { source, toolName, ...present({ ruleContent }) };
};

/** What the decision to ask rests on, in the words of the interface. */
function basisOf({ facts }: Ask): Pick<CallTold, "decisionReasonType" | "blockedPath" | "matchedAskRule"> {
  if (!facts) return {};
  if (facts.hook?.verdict === "ask") return { decisionReasonType: "hook" };
  if (facts.rule?.list === "ask")
    return { decisionReasonType: "rule", matchedAskRule: ruleParts(facts.rule) };
  if (facts.rule) return { decisionReasonType: "rule" };
  const looked = [...facts.claims.map((claim) => ({ ...claim, path: claim.target })), ...(facts.paths ?? [])];
  const own = looked.find((found) => found.own);
  if (own) return { decisionReasonType: "safetyCheck", blockedPath: own.path };
  const outside = looked.find((found) => found.outside);
  return outside
    ? { decisionReasonType: "workingDir", blockedPath: outside.path }
    : { decisionReasonType: "mode" };
}

function answerOf(result: PermissionResult): Answer {
  if (result.behavior === "deny") {
    return { verdict: "deny", reason: result.message, ...(result.interrupt ? { interrupt: true } : {}) };
  }
  return {
    verdict: "allow",
    ...(result.updatedInput === undefined ? {} : { input: result.updatedInput as Json }),
  };
}

/** Bypassing is never the answer to a question. */
function changesIn(result: PermissionResult): WantedChange[] {
  if (result.behavior === "deny") return [];
  return (result.updatedPermissions ?? [])
    .map(changeOf)
    .filter((change) => change.type !== "mode" || change.mode !== "bypassPermissions");
}

function serverOf(
  tool: string | undefined,
  sourceOf: (server: string) => string = () => "",
): Pick<CallTold, "mcpServer"> {
  const [, name] = /^mcp__(.+?)__/.exec(tool ?? "") ?? [];
  return name === undefined ? {} : { mcpServer: { name, source: sourceOf(name) } };
}

type ProgramHook = NonNullable<OpenOptions["hooks"]>[number];

/** The callbacks of a program as hooks of the engine. */
export function hooksOf(map: HookMap = {}): ProgramHook[] {
  return Object.entries(map).flatMap(([event, matchers = []]) =>
    matchers.flatMap(({ matcher, hooks, timeout, onFailure }) =>
      hooks.map(
        (callback, index): ProgramHook => ({
          event: event as HookEvent,
          matcher,
          name: callback.name || `number ${index + 1}`,
          timeoutMs: timeout === undefined ? undefined : timeout * 1000,
          onFailure,
          call: (input, { callId, signal }) => callback(input as AnyHookInput, callId, { signal }),
        }),
      ),
    ),
  );
}

export type ElicitationRequest = {
  serverName: string;
  message: string;
  mode?: "form" | "url";
  url?: string;
  elicitationId?: string;
  /** JSON Schema of what is wanted. */
  requestedSchema?: Record<string, unknown>;
  title?: string;
  displayName?: string;
  description?: string;
};

export type ElicitResult = {
  action: "accept" | "decline" | "cancel";
  content?: { [name: string]: boolean | number | string | string[] };
};
export type ElicitationResult = ElicitResult;

/** Null: it was answered by another way. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<ElicitResult | null>;

/** Without a callback servers are told no; undefined: it is answered by another way. */
async function askElicitation(
  callback: OnElicitation | undefined,
  ask: Ask,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  if (!callback) return { verdict: "deny", reason: "Nobody is here to be asked." };
  try {
    const result = await callback(requestOf(ask), { signal, requestId: ask.id });
    if (result === null) return undefined;
    if (result.action !== "accept") return { verdict: "deny", reason: `The program said ${result.action}.` };
    return { verdict: "allow", ...(isJson(result.content) ? { data: result.content } : {}) };
  } catch (thrown) {
    const why = reasonOf(thrown);
    return { verdict: "deny", reason: `The elicitation callback failed: ${why}` };
  }
}

function requestOf({ input, schema }: Ask): ElicitationRequest {
  const { server, message, mode, url } = asObject(input);
  return {
    serverName: String(server ?? ""),
    message: String(message ?? ""),
    mode: mode === "url" ? "url" : "form",
    ...(typeof url === "string" ? { url } : {}),
    ...(schema ? { requestedSchema: schema } : {}),
  };
}
