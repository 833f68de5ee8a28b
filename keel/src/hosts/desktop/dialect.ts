/** The events of a conversation in the words of a desktop shell: a pure fold. */
import { shorten } from "../../kernel/text.ts";
import type { Ask, Origin } from "../../protocol/ask.ts";
import { type Envelope, type EnvelopeOf, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { textOf, toolUses } from "../../protocol/message.ts";
import { outcomeOf } from "../../protocol/outcome.ts";
import type { ResponseOf } from "./responses.ts";

type ToldType = "token" | "withdrawn" | "tool_use" | "tool_result" | "ask" | "ask_closed" | "notice";
/** Without what only the host knows: whose conversation and which request it is. */
export type DesktopLine = {
  [T in ToldType]: Omit<ResponseOf<T>, "id" | "conversation_id"> & {
    /** The input whose turn it is; none where nobody's words began it. */
    readonly inputId?: string | undefined;
  };
}[ToldType];

export type DesktopMemo = {
  /** The inputs of the running turn. */
  readonly inputIds: readonly string[];
  /** What the model has said in it. */
  readonly said: string;
  /** Whether tokens of the reply that is being written went out. */
  readonly hasSpoken: boolean;
};

export const noMemo: DesktopMemo = { inputIds: [], said: "", hasSpoken: false };

export type DesktopDialectOutput = readonly [readonly DesktopLine[], DesktopMemo];

/** What a person reads of a result; the whole of it is the model's. */
const maxResult = 20_000;

export function toLines(envelope: Envelope, memo: DesktopMemo): DesktopDialectOutput {
  const handlers = envelope.origin ? fromAgent : fromSession;
  const [lines, next]: DesktopDialectOutput = handle(handlers, envelope, memo) ?? [[], memo];
  const [inputId] = next.inputIds.length > 0 ? next.inputIds : memo.inputIds;
  return [inputId === undefined ? lines : lines.map((line) => ({ ...line, inputId })), next];
}

type DesktopHandlers = EventHandlers<Envelope, [memo: DesktopMemo], DesktopDialectOutput>;

/** What somebody is asked and what is called is told of agents too; their words are for who gave them the work. */
const fromAgent: DesktopHandlers = {
  "model.finished": (event, memo) => [usesIn(event), memo],
  "tool.finished": (event, memo) => {
    const { callId: toolId, tool: toolName, failed, content, origin } = event;
    const denied = outcomeOf(event).kind === "denied" ? { denied: true } : {};
    const result = shorten(textOf(content), maxResult);
    return [
      [
        {
          type: "tool_result",
          data: { toolId, toolName, result, failed, ...denied, ...agentOf(origin) },
        },
      ],
      memo,
    ];
  },
  "ask.opened": ({ ask, origin }, memo) => [[askLine({ ...ask, origin: ask.origin ?? origin })], memo],
  "ask.closed": ({ askId, answer, by }, memo) => [
    [{ type: "ask_closed", data: { askId, approved: answer.verdict === "allow", by } }],
    memo,
  ],
};

/** The others say nothing to a shell. */
const fromSession: DesktopHandlers = {
  ...fromAgent,
  "turn.started": ({ inputIds }, memo) => [[], { ...memo, inputIds, said: "" }],
  "input.joined": ({ inputIds }, memo) => [[], { ...memo, inputIds: [...memo.inputIds, ...inputIds] }],
  "reply.started": (_, memo) => [[], { ...memo, hasSpoken: false }],
  "text.delta": ({ text: token }, memo) => [[{ type: "token", token }], { ...memo, hasSpoken: true }],
  "reply.withdrawn": (_, memo) => [
    memo.hasSpoken ? [{ type: "withdrawn" }] : [],
    { ...memo, hasSpoken: false },
  ],
  "model.finished": (event, memo) => {
    const words = textOf(event.content);
    const said = [memo.said, words].filter((part) => part !== "").join("\n\n");
    // A reply that did not stream is told as a whole.
    const isNew = words !== "" && !memo.hasSpoken;
    return [
      [...(isNew ? [{ type: "token", token: words } as const] : []), ...usesIn(event)],
      { ...memo, said, hasSpoken: false },
    ];
  },
  "command.answered": ({ text: token }, memo) => [
    [{ type: "token", token }],
    { ...memo, said: memo.inputIds.length > 0 ? memo.said : token },
  ],
  "turn.finished": (_, memo) => [[], { ...memo, inputIds: [] }],
  "notice.raised": ({ code = "", level, text: words }, memo) => [
    money.includes(code) ? [{ type: "notice", data: { code, level, text: words } }] : [],
    memo,
  ],
};

/** What a person pays is theirs to hear; the rest is for who looks at standard error. */
const money = ["cost_alarm", "budget_near"];

const usesIn = ({ content, origin }: EnvelopeOf<"model.finished">): DesktopLine[] =>
  toolUses(content).map(({ id: toolId, name: toolName, input }) => ({
    type: "tool_use",
    data: { toolId, toolName, input, ...agentOf(origin) },
  }));

/** What the session asks, in the words of the shell. */
export function askLine(ask: Ask): DesktopLine {
  const { id: askId, kind: askKind, title, tool, callId, input, reason, schema, origin } = ask;
  return {
    type: "ask",
    data: {
      askId,
      askKind,
      title,
      options: ask.options.map(({ id, label, verdict, rule, preview }) => ({
        id,
        label,
        verdict,
        rule,
        preview,
      })),
      toolId: callId,
      toolName: tool,
      input,
      reason,
      schema,
      ...agentOf(origin),
    },
  };
}

const agentOf = (origin: Origin | undefined): { agentId?: string } =>
  origin ? { agentId: origin.agentId } : {};
