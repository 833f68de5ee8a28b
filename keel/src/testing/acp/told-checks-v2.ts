import path from "node:path";
import { asObject, isObject, type JsonObject } from "../../kernel/json.ts";
import { type CheckOutcome, said } from "./stage.ts";
import {
  askWords,
  type CheckV2,
  chunkKinds,
  endsInIdle,
  firstBad,
  isDefined,
  isFilled,
  notApplicable,
  objectsIn,
  ofKind,
  permissionsIn,
  shown,
  statesTold,
  wholeKinds,
  withSessions,
  withTurn,
} from "./stage-v2.ts";

/** Judges updates of a kind, where there are any. */
const whereTold = (
  kinds: readonly string[],
  judge: (updates: readonly JsonObject[]) => CheckOutcome,
): CheckV2 =>
  withTurn(askWords, ({ updates }) => {
    const meant = ofKind(updates, ...kinds);
    return meant.length === 0 ? notApplicable(`no ${kinds.join(" or ")} was told`) : judge(meant);
  });

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const isBase64 = (value: unknown): boolean =>
  typeof value === "string" && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

const toolKinds = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
];
const callStates = ["pending", "in_progress", "paused", "completed", "failed", "cancelled"];
const planStates = ["pending", "in_progress", "completed", "cancelled"];
const updateKinds = [
  ...wholeKinds,
  ...chunkKinds,
  "state_update",
  "tool_call_content_chunk",
  "tool_call_update",
  "terminal_update",
  "terminal_output_chunk",
  "plan_update",
  "plan_removed",
  "available_commands_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
  "notice",
  "compaction_update",
  "compaction_summary_chunk",
];

export const toldChecksV2 = {
  "ACP-PATCH-201": whereTold([...wholeKinds, ...chunkKinds], (updates) =>
    firstBad(updates, ({ messageId }) => isFilled(messageId)),
  ),
  "ACP-PATCH-203": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    const [first, second] = [await stage.turn(sessionId), await stage.turn(sessionId)];
    const isRight = isFilled(first.messageId) && isFilled(second.messageId);
    if (!isRight) return "a prompt has no id";
    return first.messageId === second.messageId ? "two prompts have one id" : undefined;
  }),
  "ACP-PATCH-204": whereTold(["tool_call_update", "tool_call_content_chunk"], (updates) =>
    firstBad(
      updates,
      ({ sessionUpdate, toolCallId, content }) =>
        isFilled(toolCallId) && (sessionUpdate === "tool_call_update" || isObject(content)),
    ),
  ),
  "ACP-PATCH-205": whereTold(["plan_update"], (updates) =>
    firstBad(updates, ({ plan }) => isFilled(asObject(plan)["planId"])),
  ),
  "ACP-PATCH-206": whereTold(["terminal_update"], (updates) => {
    const folders = new Map<unknown, unknown>();
    return firstBad(updates, ({ terminalId, cwd }) => {
      if (isAbsent(cwd)) return isFilled(terminalId);
      const before = folders.get(terminalId) ?? cwd;
      folders.set(terminalId, cwd);
      return isFilled(terminalId) && typeof cwd === "string" && path.isAbsolute(cwd) && before === cwd;
    });
  }),
  "ACP-PATCH-207": withTurn(askWords, ({ updates }) => {
    const printed = ofKind(updates, "terminal_output_chunk", "terminal_update").flatMap((update) =>
      update["sessionUpdate"] === "terminal_output_chunk"
        ? [update["data"]]
        : isAbsent(update["output"])
          ? []
          : [asObject(update["output"])["data"]],
    );
    if (printed.length === 0) return notApplicable("nothing that a terminal prints was told");
    const bad = printed.find((data) => !isBase64(data));
    return bad === undefined ? undefined : `what a terminal prints is ${shown(bad)}`;
  }),
  "ACP-PATCH-208": whereTold(["tool_call_update"], (updates) => {
    const names = new Map<unknown, unknown>();
    return firstBad(updates, ({ toolCallId, title, name }) => {
      const isFirst = !names.has(toolCallId);
      const before = names.get(toolCallId) ?? name;
      names.set(toolCallId, before);
      return (!isFirst || isFilled(title)) && (isAbsent(name) || name === before);
    });
  }),
  "ACP-PATCH-209": withTurn(askWords, (turn, stage) => {
    if (permissionsIn(stage, turn.from).length === 0) return notApplicable("no permission was asked for");
    const states = statesTold(turn.updates);
    const waits = states.lastIndexOf("requires_action");
    if (waits < 0) return `while it waits it says ${shown(states)}`;
    if (["refusal", "cancelled"].includes(String(turn.idle?.["stopReason"]))) return undefined;
    return states.slice(waits).includes("running") ? undefined : `when it goes on it says ${shown(states)}`;
  }),
  "ACP-ENUM-201": withTurn(askWords, ({ updates }) => {
    const calls = ofKind(updates, "tool_call_update");
    const entries = ofKind(updates, "plan_update").flatMap(({ plan }) =>
      objectsIn(asObject(plan)["entries"]),
    );
    const badCall = firstBad(
      calls,
      ({ kind, status }) =>
        (isAbsent(kind) || isDefined(kind, toolKinds)) && (isAbsent(status) || isDefined(status, callStates)),
    );
    return (
      badCall ??
      firstBad(
        entries,
        ({ priority, status }) =>
          isDefined(priority, ["high", "medium", "low"]) && isDefined(status, planStates),
      )
    );
  }),
  "ACP-ENUM-202": withTurn(askWords, ({ updates }) => {
    const content = updates.flatMap((update) => objectsIn([update["content"]].flat()));
    const calls = ofKind(updates, "tool_call_update").flatMap((update) => objectsIn(update["content"]));
    return (
      firstBad(updates, ({ sessionUpdate }) => isDefined(sessionUpdate, updateKinds)) ??
      firstBad(ofKind(updates, "state_update"), ({ state }) =>
        isDefined(state, ["running", "idle", "requires_action"]),
      ) ??
      firstBad(calls, ({ type }) => isDefined(type, ["content", "diff", "terminal"])) ??
      firstBad(content, ({ type }) => typeof type === "string")
    );
  }),
  "ACP-ENUM-203": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    stage.peer.outcome = { outcome: "_kit_unknown" };
    const turn = await stage.turn(sessionId, { words: askWords(stage.options) });
    if (permissionsIn(stage, turn.from).length === 0) return notApplicable("no permission was asked for");
    const goesOn = await stage.peer.request("session/list", {});
    return goesOn && !("error" in (turn.response ?? {}))
      ? undefined
      : said("after an unknown answer", turn.response);
  }),
  "ACP-META-001": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    const more = { _meta: { traceparent: "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01" } };
    return endsInIdle("a prompt with _meta", await stage.turn(sessionId, { more }));
  }),
} as const satisfies Readonly<Record<string, CheckV2>>;
