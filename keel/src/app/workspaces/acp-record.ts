/** What is kept of an agent of other people: its events, each with its number, what a list shows of it, and what is left open. */
import { asObject, type JsonObject } from "../../kernel/json.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import { type Envelope, type EnvelopeOf, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { LiveEvent } from "../../protocol/event/live.ts";
import { noUsage } from "../../protocol/usage.ts";
import type { AgentUpdate } from "../../protocol/workspace.ts";
import { AgentFeed } from "./agent-feed.ts";
import { type AgentLine, foldAgentLine, noLine } from "./agent-line.ts";
import type { WorkerContext } from "./worker.ts";

export class AcpRecord {
  readonly feed: AgentFeed;
  readonly #context: Pick<WorkerContext, "clock" | "record" | "changed">;
  /** Inputs that are known, by the ids that came with them. */
  readonly #said = new Set<string>();
  #seq = 0;
  #line: AgentLine = noLine;

  /** With what an end of the server left open closed: nobody waits for it any more. */
  static async open(
    context: Pick<WorkerContext, "clock" | "record" | "changed" | "folder">,
  ): Promise<AcpRecord> {
    const { feed, lines } = await AgentFeed.open(context.folder, updateOf);
    const record = new AcpRecord(context, feed);
    let left = nothingLeft;
    for (const line of lines) {
      const event = asObject(line["event"]) as unknown as Durable;
      record.#seq = Math.max(record.#seq, event.seq);
      record.#fold(event);
      left = handle(leftOpen, event, left) ?? left;
    }
    for (const event of closing(left)) await record.keep(event);
    return record;
  }

  private constructor(context: Pick<WorkerContext, "clock" | "record" | "changed">, feed: AgentFeed) {
    this.#context = context;
    this.feed = feed;
  }

  /** What a list shows of it. */
  get line(): AgentLine {
    return this.#line;
  }

  has(inputId: string): boolean {
    return this.#said.has(inputId);
  }

  /** Told at once; resolves when it is on disk. */
  keep(event: DurableEvent): Promise<void> {
    this.#seq += 1;
    const whole = { ...event, ...this.#about(), seq: this.#seq };
    this.#fold(whole);
    const line = { uuid: `${whole.session}:${this.#seq}`, event: whole };
    return this.feed.keep(line as unknown as JsonObject);
  }

  /** Told, and not kept. */
  show(event: LiveEvent): void {
    const whole = { ...event, ...this.#about() } as Envelope;
    this.#fold(whole);
    this.feed.tell({ kind: "event", event: whole as unknown as JsonObject });
  }

  /** As it is told to who comes later. */
  again(event: DurableEvent): AgentUpdate {
    const whole = { ...event, ...this.#about(), seq: this.#seq };
    return { kind: "event", event: whole as unknown as JsonObject };
  }

  #about() {
    return { at: this.#context.clock.now(), session: this.#context.record().id };
  }

  #fold(event: Envelope): void {
    if (event.type === "input.accepted") this.#said.add(event.input.id);
    const line = foldAgentLine(this.#line, event);
    if (line === this.#line) return;
    this.#line = line;
    this.#context.changed();
  }
}

const updateOf = (line: JsonObject): AgentUpdate => ({
  kind: "event",
  uuid: String(line["uuid"]),
  event: asObject(line["event"]) as JsonObject,
});

/** What an end of the server may leave open. */
type LeftOpen = {
  readonly asks: readonly string[];
  readonly turn: EnvelopeOf<"turn.started"> | undefined;
  /** Those that no turn has taken. */
  readonly inputs: readonly string[];
};

const nothingLeft: LeftOpen = { asks: [], turn: undefined, inputs: [] };

const leftOpen: EventHandlers<Durable, [left: LeftOpen], LeftOpen> = {
  "ask.opened": ({ ask }, left) => ({ ...left, asks: [...left.asks, ask.id] }),
  "ask.closed": ({ askId }, left) => ({ ...left, asks: left.asks.filter((id) => id !== askId) }),
  "input.accepted": ({ input }, left) => ({ ...left, inputs: [...left.inputs, input.id] }),
  "input.dropped": ({ inputId }, left) => ({ ...left, inputs: left.inputs.filter((id) => id !== inputId) }),
  "turn.started": (turn, left) => ({
    ...left,
    turn,
    inputs: left.inputs.filter((id) => !turn.inputIds.includes(id)),
  }),
  "turn.finished": (_, left) => ({ ...left, turn: undefined }),
};

function closing({ asks, turn, inputs }: LeftOpen): DurableEvent[] {
  return [
    ...asks.map(
      (askId): DurableEvent => ({
        type: "ask.closed",
        askId,
        answer: { verdict: "deny" },
        by: "shutdown",
      }),
    ),
    ...(turn ? [turnEnd(turn, { reason: "lost" })] : []),
    ...inputs.map((inputId): DurableEvent => ({ type: "input.dropped", inputId, why: "lost" })),
  ];
}

/** What it used nobody knows; what it cost is told by the agent itself. */
export const turnEnd = (
  { turnId, inputIds }: { readonly turnId: string; readonly inputIds: readonly string[] },
  how: Pick<Extract<DurableEvent, { type: "turn.finished" }>, "reason" | "fault"> & {
    readonly requests?: number;
    readonly ms?: number;
  },
): DurableEvent => ({
  type: "turn.finished",
  turnId,
  inputIds: [...inputIds],
  usage: noUsage,
  costUsd: 0,
  requests: 0,
  ms: 0,
  apiMs: 0,
  ...how,
});
