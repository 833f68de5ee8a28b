/** What a log said, as rows of the tables of conversations. Pure: the same log always gives the same rows. */
import type { Json } from "../../kernel/json.ts";
import { shorten } from "../../kernel/text.ts";
import type { ConversationMessage, LoggedToolUse } from "../../ports/conversations.ts";
import { isCharge } from "../../protocol/bill.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { text, toolUses } from "../../protocol/message.ts";
import { outcomeOf } from "../../protocol/outcome.ts";
import { endsWell } from "../../protocol/reasons.ts";
import type { Charge } from "../../store/sqlite/counted.ts";
import type { LoggedFailure } from "../../store/sqlite/found.ts";
import { saidIn } from "../sessions/said-in.ts";
import { textOfParts } from "../transcripts/wire-blocks.ts";

/** Of what a tool gave back. */
const RESULT_CHARACTERS = 2_000;

export class SaidInLog {
  readonly messages: ConversationMessage[] = [];
  readonly uses: LoggedToolUse[] = [];
  readonly charges: Charge[] = [];
  readonly failures: LoggedFailure[] = [];
  /** Sessions of agents that have ended, each with a log of its own. */
  readonly agents = new Set<string>();
  /** The event up to which nothing need be looked at again: calls that still run are known by what came before them. */
  get seq(): number {
    const [first] = this.#running.values();
    return first === undefined ? this.#last : first - 1;
  }
  #last: number;
  /** By the event that asked for them; calls, and agents. */
  readonly #running = new Map<string, number>();
  readonly #inputs = new Map<string, Json>();
  readonly #leaves = new Map<string, string>();
  readonly #agents = new Map<string, string>();

  constructor(after: number) {
    this.#last = after;
  }

  add(event: Durable): void {
    this.#last = event.seq;
    this.messages.push(...messagesIn(event));
    this.charges.push(...chargesIn(event));
    handle(this.#heard, event);
  }

  readonly #heard: EventHandlers<Durable, [], void> = {
    "model.finished": ({ content, seq }) => {
      for (const { id, input } of toolUses(content)) {
        this.#inputs.set(id, input);
        this.#running.set(id, seq);
      }
    },
    "tool.started": ({ callId, by, input }) => {
      this.#leaves.set(callId, by);
      if (input !== undefined) this.#inputs.set(callId, input);
    },
    "tool.finished": (event) => {
      this.uses.push(this.#use(event));
      this.#running.delete(event.callId);
    },
    "task.changed": (event) => this.#follow(event),
    "model.failed": ({ fault, at }) => void this.failures.push({ code: fault.code, at }),
    "turn.finished": ({ fault, reason, at }) => {
      if (fault) this.failures.push({ code: fault.code, at });
      if (!endsWell(reason)) this.failures.push({ code: reason, at });
    },
  };

  /** What an agent did stands in its log by the time it has ended. */
  #follow({ taskId, status, data, seq }: Durable & { type: "task.changed" }): void {
    if (data?.session !== undefined) this.#agents.set(taskId, data.session);
    const session = this.#agents.get(taskId);
    if (session === undefined) return;
    if (status === "running") this.#running.set(taskId, this.#running.get(taskId) ?? seq);
    else {
      this.#running.delete(taskId);
      this.agents.add(session);
    }
  }

  #use(event: Durable & { type: "tool.finished" }): LoggedToolUse {
    const { callId, tool, content, ms, at } = event;
    const by = this.#leaves.get(callId);
    return {
      callId,
      tool,
      input: this.#inputs.get(callId) ?? {},
      result: shorten(textOfParts(content), RESULT_CHARACTERS),
      outcome: outcomeOf(event).kind,
      ...(by === undefined ? {} : { by }),
      at,
      ms,
    };
  }
}

/** As the bill counts them: what an agent used comes with its end. */
function chargesIn(event: Durable): Charge[] {
  const { at } = event;
  if (isCharge(event)) return event.costUsd ? [{ request: event.requestId, at, usd: event.costUsd }] : [];
  if (event.type !== "task.changed" || event.status === "running" || !event.data?.bill?.costUsd) return [];
  return [{ request: `${event.taskId} ${at}`, at, usd: event.data.bill.costUsd }];
}

function messagesIn(event: Durable): ConversationMessage[] {
  if (event.type === "input.accepted" && event.input.from.kind === "person")
    return [{ id: event.input.id, role: "user", content: event.input.content, at: event.at }];
  return saidIn(event).map(({ row, text: words }) => ({
    id: row,
    role: "assistant",
    content: [text(words)],
    at: event.at,
  }));
}
