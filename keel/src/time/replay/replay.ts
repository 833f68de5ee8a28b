/**
 * A recorded session through today's code. The recorded facts are folded as they stand; wherever the engine decided by
 * itself today's rules decide again, and every step that asked a model is performed again, with clock, ids, words and
 * replies from the log: what it would record and send must be what was recorded and sent. Calls are not run: what came of
 * them is in the log. A difference does not carry on: each step starts from what was recorded.
 */

import { fold } from "../../core/fold.ts";
import { limitsFor } from "../../core/limits.ts";
import { answerToolName } from "../../core/model-text.ts";
import { explainStep, type Step } from "../../core/next-step.ts";
import { OddRecords } from "../../core/odd-records.ts";
import { settleRequest } from "../../core/settle.ts";
import { emptyState, modelOf, type SessionState } from "../../core/state/state.ts";
import { UsedIds } from "../../core/used-ids.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { estimateTokens } from "../../kernel/text.ts";
import { costOf } from "../../protocol/bill.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { Usage } from "../../protocol/usage.ts";
import { Lacks } from "./lacks.ts";
import { nameCause } from "./name-cause.ts";
import { isAnchor, isTold } from "./outside.ts";
import { type PlayedAttempt, playStep, type TrailPlace } from "./play-step.ts";
import type { ReplayWorld, RequestOutcome } from "./ports-of-log.ts";
import { excerpts, type Replayed, type RequestDifference } from "./replayed.ts";

/** Before how many events a step may have begun that ends here. */
const maxTrail = 500;

/** `to`: the last event that is looked at. */
export async function replayLog(
  events: readonly Durable[],
  world: ReplayWorld,
  { to = Number.POSITIVE_INFINITY }: { readonly to?: number | undefined } = {},
): Promise<Replayed> {
  const replay = new ReplayWalk(events, world);
  for (const [index, event] of events.entries()) {
    if (event.seq > to || replay.difference) break;
    await replay.take(index);
  }
  return replay.report();
}

class ReplayWalk {
  difference: RequestDifference | undefined;
  readonly #events: readonly Durable[];
  readonly #world: ReplayWorld;
  readonly #used = new UsedIds();
  readonly #odd = new OddRecords(this.#used);
  readonly #lacks = new Lacks();
  readonly #outcomes = new Map<string, number>();
  #state: SessionState = emptyState;
  /** The states since the last event that only a step of the engine can have recorded. */
  #trail: TrailPlace[] = [];
  #cwd = "/";
  #taken = 0;
  #requests = 0;
  #equalRequests = 0;
  #equalSteps = 0;
  #recordedUsd = 0;
  #todayUsd = 0;
  #addedTokens = 0;

  constructor(events: readonly Durable[], world: ReplayWorld) {
    this.#events = events;
    this.#world = world;
    for (const [index, event] of events.entries())
      if (isOutcome(event)) this.#outcomes.set(event.requestId, index);
  }

  async take(index: number): Promise<void> {
    const logged = this.#events[index];
    if (!logged) return;
    const event = this.#odd.read(logged, this.#state);
    this.#trail.push({ index, state: this.#state });
    if (this.#trail.length > maxTrail) this.#trail.splice(1, 1);
    this.#lacks.hear(event, this.#state);
    await handle(this.#comparisons, event, index);
    this.#used.take(event);
    this.#state = fold(this.#state, event);
    this.#taken++;
    if (isAnchor(event)) this.#trail = [];
  }

  readonly #comparisons: EventHandlers<Durable, [number], void | Promise<void>> = {
    "session.opened": ({ cwd }) => this.#moveTo(cwd),
    "folder.changed": ({ cwd }) => this.#moveTo(cwd),
    "model.started": (event, index) => this.#request(index, event),
    "model.finished": (event) => this.#charge(event),
    "context.compacted": (event) => this.#charge(event),
    "model.failed": (event) => {
      if (event.fault.code === "request_lost") this.#settled(event);
    },
    "turn.started": (event) => this.#decided(event, (step) => step.kind === "take-input"),
    "input.joined": (event) => this.#decided(event, (step) => step.kind === "take-input"),
    "turn.finished": (event) => {
      if (isOfRules(event.reason))
        this.#decided(event, (step) => step.kind === "finish" && step.reason === event.reason);
    },
  };

  #moveTo(cwd: string): void {
    this.#cwd = cwd;
  }

  /** What was left open by a process that ended is settled in the same words. */
  #settled(event: Durable): void {
    const [today] = settleRequest(this.#state);
    if (today && sameFacts(event, today)) this.#equalSteps++;
    else if (today) this.#differ(event, today);
  }

  /** Whether today's rules take a decision as it was taken, at any moment since the last step. */
  #decided(event: Durable, isSame: (step: Step) => boolean): void {
    const said = this.#trail.map(({ state }) => explainStep(state, this.#limits(state)));
    if (said.some(({ step }) => isSame(step))) this.#equalSteps++;
    else this.#differOnStep(event, said[0]);
  }

  async #request(index: number, event: Extract<Durable, { type: "model.started" }>): Promise<void> {
    this.#requests++;
    const wanted = event.purpose === "turn" ? "ask-model" : "compact";
    const said = this.#trail.map(({ state }) => explainStep(state, this.#limits(state)));
    let furthest: PlayedAttempt | undefined;
    // A step that was cut short goes on behind what it has told: only as far as today's engine tells the same.
    let reached = this.#trail.find((place) => isToldAt(this.#events, place))?.index ?? index;
    for (const [at, place] of this.#trail.entries()) {
      const step = said[at]?.step;
      if ((step?.kind !== "ask-model" && step?.kind !== "compact") || place.index > reached) continue;
      // Where between two events of a step something came from outside, a log does not say.
      for (const outside of ["at once", "late"] as const) {
        const attempt = await this.#play(place, step, { index, event, outside });
        if (attempt.isEqual && step.kind === wanted) {
          this.#equalSteps++;
          if (event.sums) this.#equalRequests++;
          return;
        }
        // Another one was cut short where something came that goes before it.
        if (step.kind === wanted && (!furthest || attempt.at > furthest.at)) furthest = attempt;
        reached = Math.max(reached, attempt.at);
      }
    }
    if (!furthest) return this.#differOnStep(event, said[0]);
    const recorded = this.#events[furthest.at] ?? event;
    if (furthest.today) this.#differ(recorded, furthest.today);
    else this.#differOnStep(event, said[0], "no request would be sent");
  }

  #play(
    place: TrailPlace,
    step: Step,
    asked: {
      readonly index: number;
      readonly event: Extract<Durable, { type: "model.started" }>;
      readonly outside: "at once" | "late";
    },
  ): Promise<PlayedAttempt> {
    const outcomeAt = this.#outcomes.get(asked.event.requestId);
    const found = outcomeAt === undefined ? undefined : this.#events[outcomeAt];
    return playStep(step, {
      events: this.#events,
      place,
      cwd: this.#cwd,
      started: asked.event,
      startedAt: asked.index,
      outcome: found && isOutcome(found) ? found : undefined,
      outcomeAt,
      outside: asked.outside,
      world: { ...this.#world, limits: this.#limits(place.state) },
      isKnownCall: (id) => this.#used.hasCall(id),
    });
  }

  #charge({ costUsd, usage, model }: { costUsd: number | null; usage: Usage; model: string }): void {
    this.#recordedUsd += costUsd ?? 0;
    this.#todayUsd += costOf(usage, this.#world.model.info(model).prices) ?? costUsd ?? 0;
  }

  #limits(state: SessionState): ReplayWorld["limits"] {
    const structured = state.prompt?.tools.some(({ name }) => name === answerToolName) ?? false;
    const known = { ...this.#world.limits, structured };
    return state.settings ? limitsFor(known, this.#world.model.info(modelOf(state))) : known;
  }

  #differ(recorded: Durable, today: DurableEvent): void {
    const named = nameCause(factsOf(recorded), today, this.#state.prompt);
    this.#addedTokens = addedTokens(recorded, today, this.#state);
    this.difference = {
      seq: recorded.seq,
      requestId: this.#requestId(recorded),
      request: this.#requests,
      ...named,
    };
  }

  #differOnStep(
    event: Durable,
    said: { readonly step: Step; readonly rule: string } | undefined,
    instead = said ? `${said.step.kind} (${said.rule})` : "nothing",
  ): void {
    const isCompaction =
      said?.step.kind === "compact" || ("purpose" in event && event.purpose === "compaction");
    const recorded = event.type === "turn.finished" ? `${event.type} (${event.reason})` : event.type;
    this.difference = {
      seq: event.seq,
      requestId: this.#requestId(event),
      request: this.#requests,
      cause: isCompaction ? "compaction" : "code",
      what: "today's rules go on in another way",
      ...excerpts(recorded, instead),
    };
  }

  #requestId = (event: Durable): string | undefined =>
    "requestId" in event ? event.requestId : this.#nextRequest();

  #nextRequest(): string | undefined {
    const next = this.#events.slice(this.#taken).find((event) => event.type === "model.started");
    return next?.requestId;
  }

  report(): Replayed {
    const [first] = this.#events;
    const opened = this.#events.find((event) => event.type === "session.opened");
    const info = this.#state.settings && this.#world.model.info(modelOf(this.#state));
    const rest = this.#events.filter(({ type }) => type === "model.started").length - this.#requests + 1;
    // Written once and read from the cache by all requests that follow.
    const added = this.#addedTokens;
    const extra = info
      ? (costOf(
          { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: added },
          info.prices,
        ) ?? 0) +
        (costOf(
          {
            inputTokens: 0,
            outputTokens: 0,
            cacheReadTokens: added * Math.max(0, rest - 1),
            cacheWriteTokens: 0,
          },
          info.prices,
        ) ?? 0)
      : 0;
    return {
      session: first?.session ?? "",
      keel: opened?.keel ?? "unknown",
      events: this.#taken,
      requests: this.#requests,
      equalRequests: this.#equalRequests,
      equalSteps: this.#equalSteps,
      difference: this.difference,
      lacks: this.#lacks.sentences(),
      bill: { recordedUsd: this.#recordedUsd, todayUsd: this.#todayUsd + extra },
    };
  }
}

const isToldAt = (events: readonly Durable[], { index }: TrailPlace): boolean => {
  const event = events[index];
  return event !== undefined && isTold(event);
};

/** Ends that follow from the conversation alone: others are a host's, a hook's or a budget's word. */
const isOfRules = (reason: string): boolean =>
  [
    "completed",
    "model_error",
    "prompt_too_long",
    "output_limit",
    "refusal",
    "empty_reply",
    "compaction_stuck",
    "stuck",
  ].includes(reason);

const isOutcome = (event: Durable): event is RequestOutcome =>
  event.type === "model.finished" || event.type === "model.failed" || event.type === "context.compacted";

export function factsOf({ seq: _, at: __, session: ___, ...event }: Durable): DurableEvent {
  // What is left of an envelope is its event.
  return event as DurableEvent;
}

const sameFacts = (recorded: Durable, today: DurableEvent): boolean =>
  canonicalJson(factsOf(recorded)) === canonicalJson(today);

/** By how much every request from here on is longer, or shorter, as far as its prompt says. */
function addedTokens(recorded: Durable, today: DurableEvent, { prompt }: SessionState): number {
  if (today.type !== "prompt.fixed") return 0;
  const then = recorded.type === "prompt.fixed" ? recorded : prompt;
  const size = (of: { system: readonly string[]; tools: readonly unknown[] } | null): number =>
    of ? estimateTokens(of.system.join("\n") + canonicalJson(of.tools)) : 0;
  return size(today) - size(then);
}
