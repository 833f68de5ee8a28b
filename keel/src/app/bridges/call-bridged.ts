/** What is asked of a session behind a bridge: what its copy knows is answered here, the rest by the bridge. */
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import {
  type AnswerTo,
  type Caller,
  maxHistory,
  type OperationName,
  type OperationQuestion,
} from "../../protocol/operation.ts";
import type { BridgedSession } from "./bridged-session.ts";
import type { Bridges } from "./bridges.ts";

type BridgedCall = {
  readonly session: BridgedSession;
  readonly bridges: Pick<Bridges, "delete">;
  readonly caller: Caller;
  newId(): string;
};

type SessionOperation = {
  [Name in OperationName]: OperationQuestion<Name> extends { session: string } ? Name : never;
}[OperationName];

type BridgedHandlers = {
  readonly [Name in SessionOperation]?: (
    question: OperationQuestion<Name>,
    call: BridgedCall,
  ) => Promise<AnswerTo<Name>>;
};

const handlers: BridgedHandlers = {
  session: async (_, { session }) => ({
    session: session.id,
    seq: await session.lastSeq(),
    working: session.isWorking,
  }),
  submit: async ({ commandId, command }, { session, caller, newId }) => {
    const id = commandId ?? newId();
    if (command.type === "answer") return session.answer(command, { commandId: id, name: caller.name });
    const question = { session: session.id, commandId: id, command };
    return (await session.call("submit", question, caller.name)) as AnswerTo<"submit">;
  },
  message: async ({ content, id }, { session, caller, newId }) => {
    const command = { type: "input", ...present({ id }), content: [{ type: "text", text: content }] };
    const question = { session: session.id, commandId: id ?? newId(), command };
    return (await session.call("submit", question, caller.name)) as AnswerTo<"message">;
  },
  asks: async (_, { session }) => session.asks(),
  inquire: ({ name, question }, { session, caller }) =>
    session.call("inquire", { session: session.id, name, ...present({ question }) }, caller.name),
  history: async ({ after = 0, limit = maxHistory, last }, { session }) => {
    const most = Math.max(1, Math.min(last ?? limit, maxHistory));
    const from = last === undefined ? after : Math.max(after, (await session.lastSeq()) - most);
    const events: AnswerTo<"history">["events"][number][] = [];
    for await (const event of session.history(from)) {
      if (events.length === most) return { events, more: true };
      events.push(event);
    }
    return { events, more: false };
  },
  label: async ({ title, tag, archived }, { session, caller, newId }) => {
    const command = { type: "set", patch: present({ title, tag, archived }) };
    await session.call("submit", { session: session.id, commandId: newId(), command }, caller.name);
    return {};
  },
  delete: async (_, { session, bridges }) => {
    await bridges.delete(session.id);
    return {};
  },
};

/** Throws `work_refused` for what does not cross a bridge. */
export async function callBridged(
  name: OperationName,
  question: unknown,
  call: BridgedCall,
): Promise<unknown> {
  // By its name an operation finds only the handler that takes its question.
  const handler = (
    handlers as Partial<Record<OperationName, (question: unknown, call: BridgedCall) => Promise<unknown>>>
  )[name];
  if (!handler)
    throw fault("work_refused", { reason: `This session is behind a bridge: ${name} does not go there.` });
  return handler(question, call);
}
