/** An event as listeners hear it, durable or live. */
import * as z from "zod/mini";
import { originSchema } from "../ask.ts";
import { type Durable, type DurableEvent, durableSchema } from "./durable.ts";
import { type LiveEvent, liveSchema } from "./live.ts";

export type Event = DurableEvent | LiveEvent;
export type EventType = Event["type"];

/** `origin` stands on what an agent does, where it is told to the host of the session above. No log holds it. */
export const envelopeSchema = z.intersection(
  z.union([durableSchema, liveSchema]),
  z.object({ origin: z.optional(originSchema) }),
);
export type Envelope = z.infer<typeof envelopeSchema>;

export type EnvelopeOf<T extends EventType> = Extract<Envelope, { type: T }>;

export const isDurable = <E extends Envelope>(envelope: E): envelope is E & Durable => "seq" in envelope;

/**
 * What a place does with the few events that it is about. Any other one, also one that is added tomorrow, says nothing
 * there; a place that must look at every event has a switch that ends in `never(event)`.
 */
export type EventHandlers<E extends Event, Rest extends unknown[], Out> = {
  readonly [T in E["type"]]?: (event: Extract<E, { type: T }>, ...rest: Rest) => Out;
};

/** Undefined where the event says nothing. */
export function handle<E extends Event, Rest extends unknown[], Out>(
  handlers: EventHandlers<E, Rest, Out>,
  event: E,
  ...rest: Rest
): Out | undefined {
  const { type }: { type: E["type"] } = event;
  // By its own type an event finds only a handler that takes it.
  const handler = handlers[type] as ((event: E, ...rest: Rest) => Out) | undefined;
  return handler?.(event, ...rest);
}
