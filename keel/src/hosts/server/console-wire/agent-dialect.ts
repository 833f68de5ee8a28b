/** An agent's events as lines of the console wire, and a client's lines as commands. Pure. */
import { present } from "../../../kernel/json.ts";
import type { Answer } from "../../../protocol/ask.ts";
import type { Command } from "../../../protocol/command.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import { toMessages } from "../../../sdk/dialect/dialect.ts";
import { type DialectMemo, type InitFacts, newMemo } from "../../../sdk/dialect/memo.ts";
import { type Activity, foldActivity, idle } from "../../../view/activity.ts";
import type { AgentClientLine, ConsoleActivity, ToldOfAgent } from "./lines.ts";

export type ConsoleMemo = { readonly dialect: DialectMemo; readonly activity: Activity };

/** Prompts are told as messages, since no client repeats them by itself; replies come piece by piece, too. */
export const newConsoleMemo = (facts: InitFacts): ConsoleMemo => ({
  dialect: newMemo({ ...facts, replayUserMessages: true, partialMessages: true }),
  activity: idle,
});

const states = { running: "active", idle: "idle", asking: "asking" } as const;
export const activityIn = ({ activity }: ConsoleMemo): ConsoleActivity => states[activity.state];

/** The messages first, then what they mean for the state: `idle` comes behind the result. */
export function toLines(envelope: Envelope, memo: ConsoleMemo): [ToldOfAgent[], ConsoleMemo] {
  const [messages, dialect] = toMessages(envelope, memo.dialect);
  const next = { dialect, activity: foldActivity(memo.activity, envelope) };
  const state = activityIn(next);
  return [
    [
      ...messages.map((message): ToldOfAgent => ({ type: "sdk-message", message })),
      ...questionLines(envelope),
      ...(state === activityIn(memo) ? [] : [{ type: "activity" as const, state }]),
      ...(envelope.type === "session.closed" && !envelope.origin
        ? [{ type: "exit" as const, exitCode: 0, signal: null }]
        : []),
    ],
    next,
  ];
}

function questionLines(envelope: Envelope): ToldOfAgent[] {
  if (envelope.type === "ask.opened") return [{ type: "ask", ask: envelope.ask }];
  if (envelope.type !== "ask.closed") return [];
  const { askId, answer, by, who } = envelope;
  return [{ type: "ask-closed", askId, verdict: answer.verdict, by, ...present({ who }) }];
}

/** Undefined for a line that asks for something else than a change. */
export function toCommand(line: AgentClientLine): Command | undefined {
  switch (line.type) {
    case "user-message":
      // A worker that is busy takes it up when it is through.
      return { type: "input", content: [{ type: "text", text: line.content }], ...present({ id: line.id }) };
    case "cancel":
      return { type: "interrupt" };
    case "answer": {
      const { type: _, askId, answers, verdict = "allow", ...more } = line;
      const answer: Answer = { ...more, verdict, ...(answers ? { data: { answers } } : {}) };
      return { type: "answer", askId, answer };
    }
    case "set":
      return { type: "set", patch: line.patch };
    case "request-history":
      return undefined;
  }
}
