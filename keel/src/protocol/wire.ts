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
import {
  agentUpdateSchema,
  diffSummarySchema,
  terminalUpdateSchema,
  workspaceUpdateSchema,
} from "./workspace.ts";

export const wireVersion = 1;
/** What a WebSocket calls it. */
export const wireName = "keel.v1";

/** The header by which a client without frames says who it is, encoded as in an address. */
export const clientHeader = "keel-client";

const requestId = z.number();

export const clientFrameSchema = z.discriminatedUnion("type", [
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
  /** Tell me of all workspaces and workers: the whole once, then what changes. */
  z.object({ type: z.literal("watch-workspaces"), id: requestId }),
  /** Show me the terminal of a worker: what comes after a position of an epoch that is still kept, else its screen. */
  z.object({
    type: z.literal("watch-terminal"),
    id: requestId,
    worker: z.string(),
    epoch: z.optional(z.string()),
    after: z.optional(z.number()),
  }),
  /** What of a terminal's output was drawn: who does not draw is not sent more. */
  z.object({ type: z.literal("drew"), id: requestId, at: z.number() }),
  /** Tell me what an agent of another engine says, after the message with this uuid. */
  z.object({
    type: z.literal("watch-messages"),
    id: requestId,
    worker: z.string(),
    since: z.optional(z.string()),
  }),
  /** Tell me of the diff of a worker whenever it is another one. */
  z.object({ type: z.literal("watch-diff"), id: requestId, worker: z.string() }),
  /** Ends what was followed or watched under this number. */
  z.object({ type: z.literal("unfollow"), id: requestId }),
  z.object({ type: z.literal("ping"), at: z.number() }),
]);
export type ClientFrame = z.infer<typeof clientFrameSchema>;

export const serverFrameSchema = z.discriminatedUnion("type", [
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
  z.object({ type: z.literal("workspaces"), id: requestId, update: workspaceUpdateSchema }),
  z.object({ type: z.literal("terminal"), id: requestId, update: terminalUpdateSchema }),
  z.object({ type: z.literal("messages"), id: requestId, update: agentUpdateSchema }),
  z.object({ type: z.literal("diff"), id: requestId, update: diffSummarySchema }),
  /** The session is closed; what is followed ends. */
  z.object({ type: z.literal("ended"), id: requestId }),
  z.object({ type: z.literal("pong"), at: z.number() }),
  /** What came was no frame and had no number to answer under; nothing was done with it, and the connection stays. */
  z.object({ type: z.literal("error"), code: z.enum(["bad_json", "bad_field"]), message: z.string() }),
]);
export type ServerFrame = z.infer<typeof serverFrameSchema>;

/** A frame larger than this ends the connection. */
export const maxFrameBytes = 16 * 1024 * 1024;

/** Both sides say something at least this often. */
export const pingMs = 3_000;
/** Who has said nothing for this long is taken for gone. A connection that dies without a word is found within 10 s. */
export const silentMs = 8_000;
/** A call that has no answer for so long is lost, whatever else is heard of the server. */
export const answerMs = 60_000;
/** How often it is looked whether that is so. */
export const lookMs = 1_000;
