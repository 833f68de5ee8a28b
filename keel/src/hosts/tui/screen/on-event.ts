/** What an event of the session changes on the screen. Pure. */
import { type Envelope, type EventHandlers, handle, isDurable } from "../../../protocol/event/envelope.ts";
import { lastTextOf, textOf } from "../../../protocol/message.ts";
import { contextTokens } from "../../../protocol/usage.ts";
import { foldActivity } from "../../../view/activity.ts";
import { foldTotals } from "../../../view/totals.ts";
import { foldTranscript } from "../../../view/transcript.ts";
import { openDialog } from "../dialog/dialog.ts";
import type { Effect } from "./effects.ts";
import type { ScreenState } from "./state.ts";

export type ScreenStep = { readonly state: ScreenState; readonly effects: readonly Effect[] };

export const just = (state: ScreenState, ...effects: Effect[]): ScreenStep => ({ state, effects });

const maxPast = 200;
const maxTries = 50;

export function onEvent(before: ScreenState, event: Envelope): ScreenStep {
  const folded: ScreenState = {
    ...before,
    transcript: foldTranscript(before.transcript, event),
    activity: foldActivity(before.activity, event),
    totals: before.phase === "live" ? foldTotals(before.totals, event) : before.totals,
  };
  const changed = event.origin ? folded : (handle(changes, event, folded) ?? folded);
  if (event.type === "ask.opened") return openAsk(changed, event);
  if (event.type === "ask.closed") return just(closeAsk(changed, event.askId));
  if (event.type === "folder.changed" && !event.origin)
    return just(changed, { type: "inquire", name: "facts", question: {}, tag: "facts" });
  return just(changed);
}

/** What only the session itself says of itself. */
const changes: EventHandlers<Envelope, [state: ScreenState], ScreenState> = {
  "settings.changed": ({ patch }, state) => ({
    ...state,
    goal: patch.goal === undefined ? state.goal : { words: patch.goal, tries: [] },
    session: {
      ...state.session,
      model: patch.model ?? state.session.model,
      mode: patch.permissionMode ?? state.session.mode,
      title: patch.title ?? state.session.title,
    },
  }),
  "session.opened": ({ settings }, state) => ({
    ...state,
    goal: { words: settings.goal ?? "", tries: [] },
    session: {
      ...state.session,
      model: settings.model,
      mode: settings.permissionMode,
      title: settings.title,
    },
  }),
  "goal.tried": ({ try: count, held, words, at }, { goal, ...state }) => ({
    ...state,
    goal: { ...goal, tries: [...goal.tries, { try: count, held, words, at }].slice(-maxTries) },
  }),
  "turn.started": (event, state) => ({ ...remember(state, event), written: 0 }),
  "input.accepted": ({ input }, state) => ({
    ...state,
    session:
      input.from.kind === "person" && state.mine.includes(input.id)
        ? { ...state.session, name: input.from.name }
        : state.session,
    past:
      input.from.kind === "person"
        ? [...state.past, { id: input.id, seq: 0, text: textOf(input.content).slice(0, 400), at: 0 }].slice(
            -maxPast,
          )
        : state.past,
  }),
  "input.dropped": ({ inputId }, state) => ({
    ...state,
    past: state.past.filter(({ id }) => id !== inputId),
  }),
  "text.delta": ({ text }, state) => ({ ...state, written: state.written + text.length }),
  "thinking.delta": ({ text }, state) => ({ ...state, written: state.written + text.length }),
  "call.delta": ({ json }, state) => ({ ...state, written: state.written + json.length }),
  "model.finished": ({ usage, content }, state) => ({
    ...state,
    contextTokens: contextTokens(usage),
    reply: lastTextOf(content) || state.reply,
  }),
  "context.compacted": ({ tokensAfter }, state) => ({ ...state, contextTokens: tokensAfter }),
  "context.cleared": (_, state) => ({ ...state, contextTokens: 0, todos: [], past: [] }),
  "context.returned": ({ tokens, to, known }, state) => ({
    ...state,
    contextTokens: tokens,
    todos: known.todos,
    past: state.past.filter(({ seq }) => seq <= to),
  }),
  "tool.finished": ({ todos }, state) => (todos ? { ...state, todos } : state),
  "folder.changed": ({ cwd, worktree }, state) => ({
    ...state,
    session: { ...state.session, cwd, branch: worktree?.branch ?? state.session.branch },
  }),
};

/** From when on a message is part of the conversation: what stands before can be gone back to. */
function remember(
  state: ScreenState,
  event: Envelope & { readonly inputIds: readonly string[] },
): ScreenState {
  const seq = isDurable(event) ? event.seq : 0;
  const { inputIds, at } = event;
  return { ...state, past: state.past.map((one) => (inputIds.includes(one.id) ? { ...one, seq, at } : one)) };
}

function openAsk(state: ScreenState, { ask, origin }: Extract<Envelope, { type: "ask.opened" }>): ScreenStep {
  const asked = origin && !ask.origin ? { ...ask, origin } : ask;
  if (state.asks.some(({ id }) => id === ask.id)) return just(state);
  const asks = [...state.asks, asked];
  return lookAt({ ...state, asks });
}

/** The question in front, opened; and what is known of its command is asked for. */
export function lookAt(state: ScreenState): ScreenStep {
  const [first] = state.asks;
  if (state.dialog || !first) return just(state);
  const opened = { ...state, dialog: openDialog(first), dialogAt: state.now };
  const isCommand = first.claims?.some(({ action }) => action === "execute") ?? false;
  const { input, tool } = first;
  if (!isCommand || tool === undefined || typeof input !== "object" || input === null || Array.isArray(input))
    return just(opened);
  return just(opened, {
    type: "inquire",
    name: "explain",
    question: { tool, input },
    tag: `explain:${first.id}`,
  });
}

export function closeAsk(state: ScreenState, askId: string): ScreenState {
  const asks = state.asks.filter(({ id }) => id !== askId);
  const { [askId]: _, ...explanations } = state.explanations;
  const isShown = state.dialog?.ask.id === askId;
  const next: ScreenState = { ...state, asks, explanations, dialog: isShown ? null : state.dialog };
  return isShown ? lookAt(next).state : next;
}
