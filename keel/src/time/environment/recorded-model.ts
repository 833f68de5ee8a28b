/** A model that says once more what was said: each conversation is given its own replies, in their order. */

import type { StopSignal } from "../../kernel/abort.ts";
import { fault } from "../../kernel/fault.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import { type Block, text, textOf } from "../../protocol/message.ts";
import { type ModelInfo, noUsage } from "../../protocol/usage.ts";
import type { RecordedReply, RecordedRun } from "./recorded-run.ts";

/** A conversation that runs once more. */
export type Lane = {
  readonly run: RecordedRun;
  /** An agent goes from turn to turn by itself. */
  readonly goes: "by itself" | "when told";
  turn: number;
  reply: number;
};

export class RecordedModel implements Model {
  readonly #lanes = new Map<string, Lane>();
  readonly #waiting: RecordedRun[];
  readonly #info: (name: string) => ModelInfo;
  readonly #tell: (lane: Lane, reply: RecordedReply) => Promise<readonly Block[]>;
  #replies = 0;

  /** `tell` is asked, while a reply is on its way, for its words as they are to be said today. */
  constructor(
    agents: readonly RecordedRun[],
    info: (name: string) => ModelInfo,
    tell: (lane: Lane, reply: RecordedReply) => Promise<readonly Block[]>,
  ) {
    this.#waiting = [...agents];
    this.#info = info;
    this.#tell = tell;
  }

  get replies(): number {
    return this.#replies;
  }

  /** The conversation of a session, or of an agent, as it is called today. */
  laneOf(session: string): Lane | undefined {
    return this.#lanes.get(session);
  }

  lanes(): readonly Lane[] {
    return [...this.#lanes.values()];
  }

  begin(session: string, run: RecordedRun, goes: Lane["goes"] = "when told"): Lane {
    const lane = { run, goes, turn: 0, reply: 0 };
    this.#lanes.set(session, lane);
    return lane;
  }

  /** What is said does not depend on the window, so nothing is shortened. */
  info(name: string): ModelInfo {
    return { ...this.#info(name), windowTokens: 1_000_000_000 };
  }

  async *stream(request: ModelRequest, signal: StopSignal): AsyncGenerator<ModelEvent> {
    const lane = this.#lanes.get(request.session) ?? this.#agent(request);
    if (!lane) throw fault("unexpected", { reason: "a replay has no answer to this" });
    if (signal.aborted) throw fault("aborted");
    const said = next(lane);
    yield { type: "start", model: request.model };
    const content = said ? [...(await this.#tell(lane, said))] : [text("(Nothing more is on record.)")];
    if (signal.aborted) throw fault("aborted");
    if (said) this.#replies++;
    for (const [index, block] of content.entries()) {
      yield { type: "block.start", index, block };
      yield { type: "block.end", index, block };
    }
    yield { type: "end", stop: said?.stop ?? "end", usage: noUsage, content };
  }

  /** An agent is known by its first words. */
  #agent({ session, messages }: ModelRequest): Lane | undefined {
    const said = messages
      .filter(({ role }) => role === "user")
      .map(({ content }) => textOf(content))
      .join("\n");
    const at = this.#waiting.findIndex(({ begins }) => begins !== "" && said.includes(begins));
    const [run] = at < 0 ? [] : this.#waiting.splice(at, 1);
    return run && this.begin(session, run, "by itself");
  }
}

function next(lane: Lane): RecordedReply | undefined {
  const turns = lane.run.turns.length;
  if (lane.goes === "by itself")
    while (lane.turn < turns && lane.reply >= (lane.run.turns[lane.turn]?.replies.length ?? 0)) {
      lane.turn++;
      lane.reply = 0;
    }
  const said = lane.run.turns[lane.turn]?.replies[lane.reply];
  if (said) lane.reply++;
  return said;
}
