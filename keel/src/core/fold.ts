/** Event → state. The only place where state changes. */

import { List } from "../kernel/list.ts";
import { Lookup } from "../kernel/lookup.ts";
import { never } from "../kernel/result.ts";
import { shorten } from "../kernel/text.ts";
import { learn } from "../policy/changes.ts";
import { foldRefusals } from "../policy/refusals.ts";
import { foldBill } from "../protocol/bill.ts";
import type { Durable, Input } from "../protocol/event/durable.ts";
import { type Block, type Message, type ToolResult, textOf, toolUses } from "../protocol/message.ts";
import { outcomeOf } from "../protocol/outcome.ts";
import { patchSettings } from "../protocol/settings.ts";
import { contextTokens, noUsage } from "../protocol/usage.ts";
import { estimateMessage, foreign, isBlank, note, sayable, sendable } from "./context/blocks.ts";
import {
  foldShares,
  grown,
  modeOf,
  restarted,
  withFailure,
  withPrompt,
  withReply,
  withRequest,
} from "./context/tally.ts";
import { answerToolName } from "./model-text.ts";
import { isEmptySummary } from "./odd-records.ts";
import { arrived, moved } from "./state/arrive.ts";
import {
  batchMessage,
  batchOf,
  callsIn,
  changeCall,
  noCalls,
  settledCalls,
  type ToolCall,
} from "./state/call-state.ts";
import { keepSaved, leaveBehind, markCheckpoints } from "./state/checkpoint-state.ts";
import { foldGoal } from "./state/goal-state.ts";
import { compacted, inherited, notShortened, returned, see } from "./state/replace-conversation.ts";
import type { SessionState } from "./state/state.ts";
import { habitAfter, noHabit, toldHabit } from "./state/stuck.ts";
import { foldTasks } from "./state/task-state.ts";
import { foldTeam } from "./state/team-state.ts";
import { chargedTurn, type Failure, inTurn, newTurn, recovered } from "./state/turn.ts";
import { worklistAfter } from "./state/worklist.ts";

/** Who a missed goal speaks as: it has a bound of its own. */
export const goalName = "Goal";

/** Pure: one fact changes the state. */
export function fold(before: SessionState, event: Durable): SessionState {
  if (event.type === "context.compacted" && isEmptySummary(event)) return notShortened(before, event);
  const state: SessionState = {
    ...before,
    seq: event.seq,
    worklist: worklistAfter(before, event),
    tasks: foldTasks(before, event),
    team: foldTeam(before.team, event),
    goal: foldGoal(before.goal, event),
    shares: foldShares(before.shares, event),
    refusals: foldRefusals(before, event),
    bill: foldBill(before.bill, event),
    turn: before.turn && chargedTurn(before.turn, event),
  };
  switch (event.type) {
    case "session.opened":
      return {
        ...state,
        opened: { cwd: event.cwd, agent: event.agent, at: event.at },
        settings: event.settings,
        closed: false,
      };
    case "settings.changed":
      if (event.why === "fallback")
        return inTurn(state, (turn) => ({
          ...turn,
          model: event.patch.model,
          fallbacks: turn.fallbacks + 1,
          failures: 0,
          failure: null,
        }));
      return {
        ...state,
        settings: state.settings && patchSettings(state.settings, event.patch),
        learnt: learn(state.learnt, event.patch.permissions ?? []),
        seen: see(state.seen, event.patch.seen),
      };
    case "prompt.fixed":
      return {
        ...state,
        prompt: { system: event.system, tools: event.tools },
        tally: withPrompt(state.tally, event),
      };
    case "input.accepted":
      return inTurn({ ...state, closed: false, pending: [...state.pending, event.input] }, (turn) =>
        event.input.from.kind === "hook" && event.input.from.name !== goalName
          ? { ...turn, objections: turn.objections + 1 }
          : turn,
      );
    case "input.dropped":
      return { ...state, pending: state.pending.filter(({ id }) => id !== event.inputId) };
    case "turn.started":
      return takeInputs(
        { ...settleCalls(state), turn: newTurn(event.turnId, event.at), answers: new Map() },
        event,
      );
    case "input.joined":
      return takeInputs(settleCalls(state), event);
    case "turn.interrupted":
      return inTurn(state, (turn) => ({
        ...turn,
        interrupted: true,
        endsAs: event.reason ?? "interrupted",
      }));
    case "context.added":
      return inTurn(addMessage(settleCalls(state), { role: "user", content: event.content }), (turn) =>
        recovered({ ...turn, stopped: turn.stopped ?? event.stop ?? null }, event.why),
      );
    case "model.started":
      return {
        ...state,
        request: { id: event.requestId, purpose: event.purpose, model: event.model },
        tally: withRequest(state.tally, event, modeOf(state.settings)),
      };
    case "model.finished":
      return takeReply(settleCalls(state), event);
    case "model.failed":
      return takeFailure(state, event);
    case "tool.started":
      return {
        ...state,
        calls: changeCall(state.calls, event.callId, (call) => ({
          ...call,
          status: "started",
          input: event.input,
        })),
      };
    case "tool.finished":
      return takeResult(state, event);
    case "ask.opened":
      return { ...state, asks: [...state.asks, event.ask] };
    case "ask.closed":
      return closeAsk(state, event);
    case "compaction.requested":
      return { ...state, compaction: { instructions: event.instructions } };
    case "context.compacted":
      return compacted(settleCalls(state), event);
    case "context.cleared":
      return {
        ...state,
        history: List.empty(),
        contextTokens: 0,
        calls: noCalls,
        // Nobody in the new conversation knows of it.
        keptFolder: null,
        seen: Lookup.empty(),
        tally: restarted(state.tally, 0),
      };
    case "context.returned":
      return returned(settleCalls(state), event);
    case "files.saved":
      return { ...state, files: keepSaved(state.files, event) };
    case "context.inherited":
      return inherited(state, event);
    case "folder.changed":
      return {
        ...state,
        folder: event.worktree ? { cwd: event.cwd, worktree: event.worktree } : null,
        keptFolder: null,
      };
    case "session.moved":
      return moved(state, event);
    case "session.arrived":
      return arrived(state, event);
    case "model.consulted":
    case "task.changed":
    case "team.changed":
    case "goal.tried":
    case "files.rewound":
    case "memory.forgotten":
      return state;
    case "turn.finished":
      return {
        ...settleCalls(state),
        // An objection that the turn did not come to ends with it.
        pending: state.pending.filter(({ id }) => !event.inputIds.includes(id)),
        turn: null,
        turns: state.turns + 1,
        // The end of a turn is a checkpoint too, named by the turn: whatever changes after it can be taken back to it.
        files: markCheckpoints(state.files, [event.turnId]),
        request: null,
        // What belongs to no call does not end with the turn.
        asks: state.asks.filter(({ callId }) => callId === undefined),
        answers: new Map(),
      };
    case "session.closed":
      return { ...state, closed: true };
    default:
      return never(event);
  }
}

function addMessage(state: SessionState, message: Message): SessionState {
  const estimate = estimateMessage(message);
  return {
    ...inTurn(state, (turn) => ({ ...turn, reply: null })),
    history: state.history.append(message),
    contextTokens: state.contextTokens + estimate,
    tally: grown(state.tally, estimate),
  };
}

function takeInputs(
  state: SessionState,
  event: { inputIds: string[]; context?: string[] | undefined },
): SessionState {
  const taken = state.pending.filter(({ id }) => event.inputIds.includes(id));
  const said = taken.flatMap((input) => sayable(input.content));
  const content: Block[] = [...said, ...(event.context ?? []).map(note)];
  const rest = {
    ...state,
    pending: state.pending.filter(({ id }) => !event.inputIds.includes(id)),
    files: markCheckpoints(state.files, event.inputIds),
  };
  const joined = inTurn(rest, (turn) => ({
    ...turn,
    inputIds: [...turn.inputIds, ...event.inputIds],
    // Who was told something new tries with other eyes.
    habit: turn.recoveries.stuck > 0 ? toldHabit : noHabit,
    // What an objection sends back to work is not the answer yet.
    answer: taken.some(({ from }) => from.kind === "hook") ? undefined : turn.answer,
    allow: [...turn.allow, ...taken.flatMap(({ allow = [] }) => allow)],
    words: [...turn.words, ...taken.flatMap(wordsOf)].slice(-maxWords),
    model: turn.model ?? taken.find(({ model }) => model !== undefined)?.model,
    trace: turn.trace ?? taken.find(({ trace }) => trace !== undefined)?.trace,
  }));
  return content.length === 0 ? joined : addMessage(joined, { role: "user", content });
}

/** Enough to know what somebody wants. */
const maxWords = 5;
const maxWordCharacters = 2_000;

const wordsOf = ({ from, content }: Input): string[] =>
  from.kind === "person" ? [shorten(textOf(sayable(content)), maxWordCharacters)].filter(Boolean) : [];

function takeReply(state: SessionState, event: Extract<Durable, { type: "model.finished" }>): SessionState {
  const content = sendable(event.content, event.stop);
  const uses = toolUses(content);
  const blank = isBlank(content);
  const message: Message = { role: "assistant", content };
  const history = blank ? state.history : state.history.append(message);
  const next = inTurn({ ...state, request: null, history }, (turn) => ({
    ...turn,
    requests: turn.requests + 1,
    failures: 0,
    failure: null,
    tooLong: false,
    compactedForLength: false,
    reply: { stop: event.stop, blank },
  }));
  const calls = uses.map((use): ToolCall => ({ use, status: "requested", context: [] }));
  // What nobody can mean says nothing about how full the context is.
  const counted = event.usageUnsure ? noUsage : event.usage;
  return {
    ...next,
    calls: batchOf(calls),
    contextTokens: contextTokens(counted) || state.contextTokens,
    tally: withReply(state.tally, counted, blank ? undefined : message),
  };
}

function takeFailure(state: SessionState, event: Extract<Durable, { type: "model.failed" }>): SessionState {
  const { fault, retryable, retryAfterMs, purpose } = event;
  const tally = withFailure(state.tally, event);
  const next = { ...state, request: null, tally };
  // Between turns nobody waits for a compaction: one that failed is given up, one that was lost is still wanted.
  if (!next.turn) return fault.code === "request_lost" ? next : { ...next, compaction: null };
  const tooLong = next.turn.tooLong || fault.code === "prompt_too_long" || fault.code === "request_too_large";
  const failure: Failure = { fault, retryable, retryAfterMs, purpose };
  return inTurn(next, (turn) => ({ ...turn, failures: turn.failures + 1, failure, tooLong }));
}

function takeResult(state: SessionState, event: Extract<Durable, { type: "tool.finished" }>): SessionState {
  // A damaged log may hold a result without its call: it answers nothing.
  const call = state.calls.byId.get(event.callId);
  if (event.within !== undefined) return takeInnerResult(state, event);
  if (!call || call.status === "settled") return state;
  const result: ToolResult = {
    type: "tool_result",
    callId: event.callId,
    content: foreign(event.content),
    failed: event.failed,
  };
  const calls = changeCall(state.calls, event.callId, (call) => ({
    ...call,
    status: "settled",
    result,
    context: event.context ?? [],
  }));
  // Only a tool that changed something leaves something behind; one that reads may see another's work.
  const outcome = outcomeOf(event);
  const files = event.linesAdded === undefined ? state.files : leaveBehind(state.files, event.seen ?? []);
  const keptFolder = event.keptFolder === undefined ? state.keptFolder : event.keptFolder;
  const next = inTurn({ ...state, calls, files, keptFolder, seen: see(state.seen, event.seen) }, (turn) => ({
    ...turn,
    stopped: turn.stopped ?? event.stop ?? null,
    deferred: turn.deferred || outcome.kind === "deferred",
    answer: (outcome.kind === "answered" ? outcome.answer : undefined) ?? turn.answer,
    allow: event.allow ? [...turn.allow, ...event.allow] : turn.allow,
  }));
  return calls.open === 0 ? closeBatch(next) : next;
}

/** The model sees what its program makes of it; what it did to files is done all the same. */
function takeInnerResult(
  state: SessionState,
  {
    seen,
    linesAdded,
    keptFolder = state.keptFolder,
    allow = [],
  }: Extract<Durable, { type: "tool.finished" }>,
): SessionState {
  const files = linesAdded === undefined ? state.files : leaveBehind(state.files, seen ?? []);
  const calls = { ...state.calls, inner: state.calls.inner + 1 };
  return inTurn({ ...state, calls, files, keptFolder, seen: see(state.seen, seen) }, (turn) => ({
    ...turn,
    allow: [...turn.allow, ...allow],
  }));
}

function closeBatch(before: SessionState): SessionState {
  const calls = callsIn(before.calls);
  const isWrongAnswer = calls.some(
    ({ use, result }) => use.name === answerToolName && result?.failed === true,
  );
  const state = inTurn(before, (turn) => ({
    ...turn,
    habit: habitAfter(turn.habit, calls),
    wrongAnswers: turn.wrongAnswers + (isWrongAnswer ? 1 : 0),
  }));
  return addMessage({ ...state, calls: noCalls, answers: new Map() }, batchMessage(calls));
}

function settleCalls(state: SessionState): SessionState {
  return state.calls.ids.length === 0 ? state : closeBatch({ ...state, calls: settledCalls(state.calls) });
}

function closeAsk(state: SessionState, event: Extract<Durable, { type: "ask.closed" }>): SessionState {
  const ask = state.asks.find(({ id }) => id === event.askId);
  const { answer, by, who } = event;
  const rule = ask?.options.find(({ id }) => id === answer.option)?.rule;
  const added =
    answer.verdict === "deny" ? [] : [...(rule === undefined ? [] : [rule]), ...(answer.rules ?? [])];
  return {
    ...state,
    asks: state.asks.filter(({ id }) => id !== event.askId),
    answers: new Map(state.answers).set(
      event.askId,
      who === undefined ? { answer, by } : { answer, by, who },
    ),
    learnt: learn(state.learnt, [{ type: "rules", change: "add", list: "allow", rules: added }]),
  };
}
