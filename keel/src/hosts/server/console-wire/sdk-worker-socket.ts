/**
 * The socket of an agent by another engine on the console wire: the same lines as of one of ours, over the messages that
 * its engine gave. What it has no word for (settings) is an error.
 */
import type { ServedSessions } from "../../../app/sessions/served-sessions.ts";
import { fault, toFault } from "../../../kernel/fault.ts";
import { oneLine, shorten } from "../../../kernel/text.ts";
import type { Ask } from "../../../protocol/ask.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import type { Caller } from "../../../protocol/operation.ts";
import type { AgentUpdate, WorkerEntry, WorkspaceUpdate } from "../../../protocol/workspace.ts";
import { noFacts } from "../../../sdk/dialect/memo.ts";
import type { SDKSentMessage } from "../../../sdk/messages/messages.ts";
import type { ClientConnection } from "../connection.ts";
import type { LineQueue } from "../line-queue.ts";
import { newConsoleMemo, toLines } from "./agent-dialect.ts";
import { activityOf } from "./app-dialect.ts";
import {
  type AgentClientLine,
  agentLineSchema,
  type ConsoleActivity,
  readLine,
  type ToldOfAgent,
} from "./lines.ts";

export async function openMessages(
  {
    served,
    caller,
    worker,
  }: { readonly served: ServedSessions; readonly caller: Caller; readonly worker: string },
  lines: LineQueue,
): Promise<Pick<ClientConnection, "receive" | "end">> {
  const stop = new AbortController();
  const { workers } = served.workspaces;
  const say = (line: ToldOfAgent): void => {
    const text = JSON.stringify(line);
    if (line.type === "sdk-message" && line.message.type === "stream_event") lines.sayLive(text);
    else lines.say(text);
  };
  const tell = (thrown: unknown): void => {
    const { code, message } = toFault(thrown);
    say({ type: "error", message, code });
  };
  const unlessOver = (thrown: unknown): void => {
    if (!stop.signal.aborted) tell(thrown);
  };
  let shown: ConsoleActivity | undefined;
  const show = (state: ConsoleActivity): void => {
    if (state !== shown && !stop.signal.aborted) say({ type: "activity", state });
    shown = state;
  };
  /** The state of the list comes by another way than the messages: `idle` is said behind the result. */
  const followState = async (): Promise<void> => {
    for await (const update of served.workspaces.watch(stop.signal)) {
      const found = workerIn(update, worker);
      if (!found) continue;
      if (shown !== undefined) await new Promise((resolve) => setImmediate(resolve));
      show(activityOf(found.activity));
    }
  };
  const updates = await workers.watchMessages(worker, null, stop.signal);
  const followMessages = async (): Promise<void> => {
    const toldOf = toldBy();
    for await (const update of updates) for (const line of toldOf(update)) say(line);
  };
  followMessages().catch(unlessOver);
  followState().catch(unlessOver);

  const take = async (line: AgentClientLine): Promise<void> => {
    switch (line.type) {
      case "user-message":
        return void (await served.call("tellWorker", { worker, content: line.content, id: line.id }, caller));
      case "cancel":
        return void (await served.call("interruptWorker", { worker }, caller));
      case "answer": {
        const { late } = (await served.call("answerWorker", { worker, ...answerOf(line) }, caller)) as {
          late: boolean;
        };
        if (late) say({ type: "error", message: "Answered before.", code: "answered_before" });
        return;
      }
      case "set":
        throw fault("work_refused", { reason: "The settings of this agent are its engine's." });
      case "request-history": {
        const messages: SDKSentMessage[] = [];
        const toldOf = toldBy();
        for await (const update of await workers.storedMessages(worker, line.lastUuid ?? undefined))
          for (const told of toldOf(update)) if (told.type === "sdk-message") messages.push(told.message);
        // Messages that are made of events have names of their own: what the client has is left out here.
        const known = messages.findIndex(({ uuid }) => uuid === line.lastUuid);
        const last = messages.at(-1)?.uuid ?? line.lastUuid ?? null;
        return say({ type: "message-history", messages: messages.slice(known + 1), lastUuid: last });
      }
    }
  };
  // In their order: what is cancelled is what was said before.
  let taking: Promise<void> = Promise.resolve();
  return {
    receive(message) {
      const read = readLine(agentLineSchema, message);
      if (!read.ok) return say({ type: "error", message: read.error, code: "line_invalid" });
      taking = taking.then(() => take(read.value)).catch(tell);
    },
    end() {
      stop.abort();
      lines.end();
    },
  };
}

/** Of an engine that tells events of ours, the lines are those that a session of ours has; its state comes by the list. */
function toldBy(): (update: AgentUpdate) => ToldOfAgent[] {
  let memo = newConsoleMemo(noFacts);
  return (update) => {
    switch (update.kind) {
      case "message":
        // As its engine gave it.
        return [{ type: "sdk-message", message: update.message as unknown as SDKSentMessage }];
      case "event": {
        const [lines, next] = toLines(update.event as unknown as Envelope, memo);
        memo = next;
        return lines.filter(({ type }) => type !== "activity");
      }
      case "ask":
        return [{ type: "ask", ask: askOf(update.ask) }];
      case "answered":
        return [{ type: "ask-closed", askId: update.ask, verdict: update.verdict ?? "deny", by: "host" }];
    }
  };
}

const maxTitle = 200;

const askOf = ({ id, tool, input }: Extract<AgentUpdate, { kind: "ask" }>["ask"]): Ask => ({
  id,
  kind: tool === "AskUserQuestion" ? "question" : "permission",
  title: tool,
  body: { kind: "text", text: shorten(oneLine(JSON.stringify(input)), maxTitle) },
  options: [
    { id: "allow", label: "Allow", verdict: "allow" },
    { id: "deny", label: "Deny", verdict: "deny", takesWords: true },
  ],
  tool,
  input,
});

function answerOf({ askId, verdict, option, reason, answers }: Extract<AgentClientLine, { type: "answer" }>) {
  const picked = option === "deny" ? "deny" : "allow";
  const said = Object.entries(answers ?? {}).map(
    ([question, words]) => `${question}: ${[words].flat().join(", ")}`,
  );
  const words = reason ?? (said.length > 0 ? said.join("\n") : undefined);
  return { ask: askId, verdict: verdict ?? picked, ...(words === undefined ? {} : { words }) };
}

function workerIn(update: WorkspaceUpdate, id: string): WorkerEntry | undefined {
  const isIt = (one: WorkerEntry): boolean => one.id === id;
  if (update.kind === "worker") return isIt(update.worker) ? update.worker : undefined;
  if (update.kind === "workspace") return update.workspace.workers.find(isIt);
  return update.kind === "all" ? update.workspaces.flatMap(({ workers }) => workers).find(isIt) : undefined;
}
