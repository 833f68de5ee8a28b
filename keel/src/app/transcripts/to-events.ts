/**
 * A conversation of another agent as a log of ours, line by line: what was said, called, found and used. Pure; what is not
 * understood is left out. What was allowed there is nowhere in it.
 */
import { interruptedResult } from "../../core/model-text.ts";
import { costOf } from "../../protocol/bill.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import { type Block, type InputBlock, type ResultPart, text, toolUses } from "../../protocol/message.ts";
import type { TurnReason } from "../../protocol/reasons.ts";
import type { TaskData } from "../../protocol/task.ts";
import { addUsage, noUsage, type Prices, type Usage } from "../../protocol/usage.ts";

/** A line of theirs, in the words that we keep. */
export type OtherLine = { readonly at: number } & (
  | { readonly kind: "said"; readonly id?: string | undefined; readonly content: InputBlock[] }
  /** Said while the model was at work. */
  | { readonly kind: "joined"; readonly id?: string | undefined; readonly content: InputBlock[] }
  /** Words of the harness, which the model read. */
  | { readonly kind: "added"; readonly content: InputBlock[] }
  | {
      readonly kind: "replied";
      /** Lines of one id are one reply. */
      readonly id: string;
      readonly model: string;
      readonly content: Block[];
      readonly usage?: Usage | undefined;
      readonly costUsd?: number | undefined;
    }
  | {
      readonly kind: "found";
      readonly callId: string;
      readonly content: ResultPart[];
      readonly failed: boolean;
      readonly data?: DataOfResult;
    }
  | {
      readonly kind: "shortened";
      readonly summary: string;
      readonly trigger: "manual" | "full";
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly ms: number;
    }
  | { readonly kind: "stopped" }
);

type DataOfResult = Extract<Durable, { type: "tool.finished" }>["data"];
type Line<K extends OtherLine["kind"]> = Extract<OtherLine, { kind: K }>;

export type OtherSession = {
  readonly id: string;
  readonly cwd: string;
  readonly version: string;
  readonly model: string;
  readonly title?: string | undefined;
  readonly parent?: { readonly session: string; readonly callId: string } | undefined;
  readonly agent?: string | undefined;
  /** What a reply costs that nobody told the price of. */
  prices(model: string): Prices | null;
  /** The agent that a call started, and what it used. */
  agentOf?(callId: string): { readonly taskId: string; readonly data: TaskData } | undefined;
};

type OpenReply = {
  readonly id: string;
  readonly model: string;
  content: Block[];
  usage: Usage | undefined;
  costUsd: number | undefined;
  readonly at: number;
  readonly found: Map<string, Line<"found">>;
  /** What was said before all results were there. */
  readonly late: (Line<"joined"> | Line<"added">)[];
};

type OpenTurn = {
  readonly id: string;
  readonly at: number;
  readonly inputIds: string[];
  usage: Usage;
  costUsd: number;
  requests: number;
};

/** What was read of the last line, and whether the model waits for something. */
export class LogBuilder {
  readonly #about: OtherSession;
  #events: Durable[] = [];
  #seq = 0;
  #made = 0;
  #at = 0;
  #turn: OpenTurn | undefined;
  #reply: OpenReply | undefined;
  #isAnswered = false;

  constructor(about: OtherSession) {
    this.#about = about;
  }

  /** What there is to write so far, once. */
  taken(): Durable[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  get count(): number {
    return this.#seq;
  }

  take(line: OtherLine): void {
    this.#at = Math.max(this.#at, line.at);
    this.#begin();
    switch (line.kind) {
      case "said":
        return this.#say(line);
      case "joined":
      case "added":
        return this.#add(line);
      case "replied":
        return this.#hear(line);
      case "found":
        if (this.#reply && !this.#reply.found.has(line.callId)) this.#reply.found.set(line.callId, line);
        return;
      case "shortened":
        return this.#shorten(line);
      case "stopped":
        this.#settle();
        return this.#endTurn("interrupted");
    }
  }

  /** `more`: what belongs to the session and to no line of it. */
  end(more: readonly DurableEvent[] = []): void {
    this.#begin();
    this.#settle();
    this.#endTurn(this.#isAnswered ? "completed" : "interrupted");
    for (const event of more) this.#record(event);
    const { title } = this.#about;
    if (title !== undefined) this.#record({ type: "settings.changed", patch: { title }, why: "host" });
    this.#record({ type: "session.closed", reason: "ended" });
  }

  #begin(): void {
    if (this.#seq > 0) return;
    const { version, cwd, model, parent, agent } = this.#about;
    const settings = { model, permissionMode: "default", thinking: { kind: "usual" } } as const;
    const place = { ...(agent === undefined ? {} : { agent }), ...(parent ? { parent } : {}) };
    this.#record({ type: "session.opened", keel: version, cwd, settings, ...place });
  }

  #say({ id = this.#newId("input"), content }: Line<"said">): void {
    this.#settle();
    this.#endTurn(this.#isAnswered ? "completed" : "interrupted");
    this.#accept(id, content, "after");
    const turn = { id: this.#newId("turn"), at: this.#at, inputIds: [id] };
    this.#turn = { ...turn, usage: noUsage, costUsd: 0, requests: 0 };
    this.#isAnswered = false;
    this.#record({ type: "turn.started", turnId: turn.id, inputIds: [id] });
  }

  #accept(id: string, content: InputBlock[], when: "now" | "after"): void {
    this.#record({ type: "input.accepted", input: { id, content, when, from: { kind: "person" } } });
  }

  #add(line: Line<"joined"> | Line<"added">): void {
    if (!this.#turn) {
      // Nobody had asked for anything: a person's words begin a turn, those of the harness are for none.
      if (line.kind === "joined") this.#say({ ...line, kind: "said" });
      return;
    }
    if (this.#reply && this.#unanswered().length > 0) return void this.#reply.late.push(line);
    this.#settle();
    if (line.kind === "added")
      return this.#record({ type: "context.added", content: line.content, why: "reminder" });
    const { id = this.#newId("input"), content } = line;
    this.#accept(id, content, "now");
    this.#turn.inputIds.push(id);
    this.#record({ type: "input.joined", inputIds: [id] });
  }

  #hear({ id, model, content, usage, costUsd, at }: Line<"replied">): void {
    if (!this.#turn) return;
    const reply = this.#reply;
    if (reply?.id === id) {
      reply.content = [...reply.content, ...content.filter((block) => !isKnown(block, reply.content))];
      if (usage && usage.outputTokens >= (reply.usage?.outputTokens ?? 0)) reply.usage = usage;
      if (costUsd !== undefined) reply.costUsd = costUsd;
      return;
    }
    this.#settle();
    this.#reply = { id, model, content, usage, costUsd, at, found: new Map(), late: [] };
  }

  #shorten({ summary, trigger, tokensBefore, tokensAfter, ms }: Line<"shortened">): void {
    this.#settle();
    const requestId = this.#newId("request");
    const { model } = this.#about;
    this.#record({ type: "model.started", requestId, model, purpose: "compaction", attempt: 1 });
    const figures = { tokensBefore, tokensAfter, usage: noUsage, costUsd: 0, model, ms };
    this.#record({ type: "context.compacted", requestId, trigger, summary, keep: 0, ...figures });
  }

  #unanswered(): string[] {
    const { content = [], found } = this.#reply ?? {};
    return toolUses(content).flatMap(({ id }) => (found?.has(id) ? [] : [id]));
  }

  /** A reply is whole once something else follows: then each of its calls has its result, or none came. */
  #settle(): void {
    const reply = this.#reply;
    const turn = this.#turn;
    this.#reply = undefined;
    if (!reply || !turn || reply.content.length === 0) return;
    const { model, at, content, usage = noUsage } = reply;
    const uses = toolUses(content);
    const costUsd = reply.costUsd ?? costOf(usage, this.#about.prices(model));
    const requestId = this.#newId("request");
    this.#record({ type: "model.started", requestId, model, purpose: "turn", attempt: 1 }, at);
    const end = { stop: uses.length > 0 ? ("tool_use" as const) : ("end" as const), usage, costUsd, ms: 0 };
    const ids = { requestId, messageId: this.#newId("message"), providerId: reply.id };
    this.#record({ type: "model.finished", ...ids, model, content, ...end }, at);
    turn.usage = addUsage(turn.usage, usage);
    turn.costUsd += costUsd ?? 0;
    turn.requests++;
    for (const { id, name } of uses) this.#finish(id, name, reply.found.get(id));
    this.#isAnswered = uses.length === 0;
    for (const line of reply.late) this.#add(line);
  }

  #finish(callId: string, tool: string, found: Line<"found"> | undefined): void {
    const agent = found && this.#about.agentOf?.(callId);
    if (agent) this.#record({ type: "task.changed", status: "running", ...begun(agent) }, found.at);
    if (agent) this.#record({ type: "task.changed", status: "completed", ...agent }, found.at);
    if (!found) {
      const words = { content: [text(interruptedResult)], display: shown(interruptedResult) };
      const flags = { failed: true, interrupted: true, ms: 0 };
      return this.#record({ type: "tool.finished", callId, tool, ...words, ...flags });
    }
    const { content, failed, data, at } = found;
    const words = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    const result = { content, failed, ms: 0, display: shown(words) };
    const more = data === undefined ? {} : { data };
    this.#record({ type: "tool.finished", callId, tool, ...result, ...more }, at);
  }

  #endTurn(reason: TurnReason): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (!turn) return;
    const { id: turnId, inputIds, at, usage, costUsd, requests } = turn;
    const ms = Math.max(0, this.#at - at);
    const figures = { usage, costUsd, requests, ms, apiMs: 0 };
    this.#record({ type: "turn.finished", turnId, inputIds, reason, ...figures });
  }

  #newId(kind: string): string {
    return `${kind}-${this.#about.id}-${++this.#made}`;
  }

  #record(event: DurableEvent, at = this.#at): void {
    this.#events.push({ seq: ++this.#seq, at, session: this.#about.id, ...event });
  }
}

const begun = ({ taskId, data }: { taskId: string; data: TaskData }): { taskId: string; data: TaskData } => {
  const { bill: _, report: __, summary: ___, ...about } = data;
  return { taskId, data: about };
};

/** A call stands in a reply once. */
const isKnown = (block: Block, known: readonly Block[]): boolean =>
  block.type === "tool_use" && toolUses(known).some(({ id }) => id === block.id);

const shown = (words: string) => ({ kind: "text" as const, text: words.slice(0, 2_000) });
