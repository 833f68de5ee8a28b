/**
 * What a recorded session gives for tools to be run once more: what was said when, what the model answered, and what came
 * of each call.
 */

import { canonicalJson } from "../../kernel/json.ts";
import type { Durable, Input } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { type ResultPart, textOf, toolUses } from "../../protocol/message.ts";

type RecordedResult = Extract<Durable, { type: "tool.finished" }>;
export type RecordedReply = Extract<Durable, { type: "model.finished" }>;

export type RecordedCall = {
  readonly callId: string;
  readonly tool: string;
  /** Of the event with which it ended; -1 where it never did. */
  readonly seq: number;
  readonly at: number;
  /** As canonical JSON. */
  readonly input: string;
  readonly content: readonly ResultPart[];
  readonly failed: boolean;
  /** Where the whole of its output stood. */
  readonly spilled: string | undefined;
  /** Ran to its end; anything else is not run again. */
  readonly ran: boolean;
};

/** `inputs`: what was said while so many replies of the turn were there. */
export type RecordedTurn = {
  readonly inputs: readonly Input[];
  readonly replies: readonly RecordedReply[];
  readonly joined: readonly { readonly behind: number; readonly input: Input }[];
  /** Files were put back before it, as they were before these messages. */
  readonly rewinds: readonly string[];
};

export type TaskNames = { readonly task: string; readonly session: string | undefined };

/** One conversation: of the session, or of one of its agents. */
export type RecordedRun = {
  readonly session: string;
  /** The first words of an agent, which it is known by. */
  readonly begins: string;
  readonly turns: readonly RecordedTurn[];
  readonly calls: ReadonlyMap<string, RecordedCall>;
  /** What its tasks and agents were called, by the calls that started them. */
  readonly tasks: ReadonlyMap<string, TaskNames>;
};

export function recordedRun(events: readonly Durable[]): RecordedRun {
  const inputs = new Map<string, Input>();
  const uses = new Map<string, string>();
  const started = new Set<string>();
  const calls = new Map<string, RecordedCall>();
  const tasks = new Map<string, TaskNames>();
  const turns: {
    inputs: Input[];
    replies: RecordedReply[];
    joined: { behind: number; input: Input }[];
    rewinds: string[];
  }[] = [];
  let rewinds: string[] = [];
  const named = (ids: readonly string[]): Input[] => ids.flatMap((id) => inputs.get(id) ?? []);
  const handlers: EventHandlers<Durable, [], void> = {
    "input.accepted": ({ input }) => void inputs.set(input.id, input),
    "turn.started": ({ inputIds }) => {
      turns.push({ inputs: named(inputIds), replies: [], joined: [], rewinds });
      rewinds = [];
    },
    "input.joined": ({ inputIds }) => {
      const turn = turns.at(-1);
      for (const input of named(inputIds)) turn?.joined.push({ behind: turn.replies.length, input });
    },
    "model.finished": (event) => {
      turns.at(-1)?.replies.push(event);
      for (const { id, input } of toolUses(event.content)) uses.set(id, canonicalJson(input));
    },
    "tool.started": ({ callId, input }) => {
      started.add(callId);
      if (input !== undefined) uses.set(callId, canonicalJson(input));
    },
    "tool.finished": (event) => {
      if (event.within === undefined) calls.set(event.callId, callOf(event, uses, started));
    },
    "task.changed": ({ taskId, data }) => {
      if (data?.callId !== undefined) tasks.set(data.callId, { task: taskId, session: data.session });
    },
    "files.rewound": ({ checkpoint }) => void rewinds.push(checkpoint),
  };
  for (const event of events) handle(handlers, event);
  const [first] = turns.flatMap((turn) => turn.inputs);
  return {
    session: events[0]?.session ?? "",
    begins: first ? textOf(first.content) : "",
    turns,
    calls,
    tasks,
  };
}

const callOf = (
  event: RecordedResult,
  uses: ReadonlyMap<string, string>,
  started: ReadonlySet<string>,
): RecordedCall => ({
  callId: event.callId,
  tool: event.tool,
  seq: event.seq,
  at: event.at,
  input: uses.get(event.callId) ?? "{}",
  content: event.content,
  failed: event.failed,
  spilled: event.spilled?.path,
  ran: started.has(event.callId) && !event.denied && !event.invalid && !event.interrupted && !event.deferred,
});
