/** An event as listeners hear it, durable or live. */
import * as z from "zod/mini";
import { originSchema } from "../origin.ts";
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

export const isDurable = <E extends Envelope>(envelope: E): envelope is E & Durable => "seq" in envelope;
