/**
 * The frames of `keel.v1`: one JSON object a message, over a WebSocket, a unix socket or a pair of pipes. Both sides
 * greet first and say what they speak; then the client sends requests, each with a number of its own, and the server
 * settles each once. A request that follows a session is told its events until it ends.
 */
import * as z from "zod/mini";
import { faultDataSchema } from "./event/durable.ts";
import { envelopeSchema } from "./event/envelope.ts";
import { jsonSchema } from "./message.ts";
import { accessSchema } from "./operation.ts";

export const wireVersion = 1;
/** What a WebSocket calls it. */
export const wireName = "keel.v1";

const requestId = z.number();

export const clientFrameSchema = z.union([
  z.object({
    type: z.literal("hello"),
    version: z.number(),
    /** Who it is, for others to see: a program, a device. */
    client: z.optional(z.string()),
  }),
  z.object({
    type: z.literal("call"),
    id: requestId,
    operation: z.string(),
    question: z.optional(z.record(z.string(), jsonSchema)),
  }),
  /** Tell me what happens in a session, from the events after this seq on. */
  z.object({ type: z.literal("follow"), id: requestId, session: z.string(), after: z.number() }),
  z.object({ type: z.literal("unfollow"), id: requestId }),
  z.object({ type: z.literal("ping"), at: z.number() }),
]);
export type ClientFrame = z.infer<typeof clientFrameSchema>;

export const serverFrameSchema = z.union([
  z.object({
    type: z.literal("hello"),
    version: z.number(),
    keel: z.string(),
    /** Another one after every start: what a server remembers only while it lives is known to be gone. */
    boot: z.string(),
    access: accessSchema,
  }),
  z.object({ type: z.literal("done"), id: requestId, answer: z.unknown() }),
  z.object({ type: z.literal("failed"), id: requestId, fault: faultDataSchema }),
  z.object({ type: z.literal("event"), id: requestId, event: envelopeSchema }),
  /** The session is closed; what is followed ends. */
  z.object({ type: z.literal("ended"), id: requestId }),
  z.object({ type: z.literal("pong"), at: z.number() }),
]);
export type ServerFrame = z.infer<typeof serverFrameSchema>;

/** A frame larger than this ends the connection. */
export const maxFrameBytes = 16 * 1024 * 1024;

/** Both sides send one when nothing was said for this long, and give the other up after three of them. */
export const pingMs = 3_000;
