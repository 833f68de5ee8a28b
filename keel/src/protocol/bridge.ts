/**
 * The bridge: a machine that nobody can reach offers a folder to a server elsewhere, and works there what it is given. It
 * calls out; nobody calls in. Names on the wire are those of the document that describes it, with what that leaves out:
 * lines of JSON over two kinds of channels, one for the environment, by which work is given, and one for each session.
 */
import * as z from "zod/mini";
import { askSchema } from "./ask.ts";
import { receiptSchema } from "./command.ts";
import { faultDataSchema } from "./event/durable.ts";
import { envelopeSchema } from "./event/envelope.ts";
import { jsonSchema } from "./message.ts";

const text = z.string();
const opt = z.optional;
const list = <T extends z.ZodMiniType>(of: T) => z.readonly(z.array(of));
const short = z.string().check(z.maxLength(500));

export const bridgeVersion = 1;

/**
 * `single-session`: one session, and the bridge ends with it. `worktree`: a git worktree for each. `same-dir`: several in
 * the folder itself.
 */
export const spawnModes = ["single-session", "worktree", "same-dir"] as const;
export const spawnModeSchema = z.enum(spawnModes);
export type SpawnMode = z.infer<typeof spawnModeSchema>;

/** How many sessions a bridge may have at once, at most. */
export const maxBridgeSessions = 32;

/** What a bridge offers. The same `environmentId` registers once, however often it does. */
export const bridgeConfigSchema = z.object({
  dir: short.check(z.minLength(1)),
  machineName: short.check(z.minLength(1)),
  branch: short,
  maxSessions: z.int().check(z.minimum(1), z.maximum(maxBridgeSessions)),
  spawnMode: spawnModeSchema,
  /** Made anew by every start of a bridge. */
  bridgeId: z.uuid(),
  environmentId: z.uuid(),
});
export type BridgeConfig = z.infer<typeof bridgeConfigSchema>;

/**
 * What lets a bridge in to one session, once. `mcp_config` and `environment_variables` are named by the document; what
 * comes from elsewhere sets up nothing here, so that they are read over and never obeyed.
 */
export const workSecretSchema = z.object({
  version: z.number(),
  session_ingress_token: text.check(z.minLength(20)),
  api_base_url: text,
  auth: list(z.object({ type: text, token: text })),
  mcp_config: opt(z.unknown()),
  environment_variables: opt(z.record(text, text)),
});
export type WorkSecret = z.infer<typeof workSecretSchema>;

/** How a session ended. */
export const sessionDoneSchema = z.enum(["completed", "failed", "interrupted"]);
export type SessionDoneStatus = z.infer<typeof sessionDoneSchema>;

/** Of a session, as a bridge has it. */
export const bridgedStateSchema = z.enum(["idle", "running", "requires_action"]);

/** From a bridge about its environment. */
export const environmentLineSchema = z.discriminatedUnion("type", [
  /** First: which registration it is of, which sessions it has, and how those ended that it had. */
  z.object({
    type: z.literal("hello"),
    version: z.number(),
    epoch: z.number(),
    session_ids: list(text),
    done: list(z.object({ session_id: text, status: sessionDoneSchema })),
  }),
  /** Work was taken: its session is on disk there. */
  z.object({ type: z.literal("ack"), work_id: text }),
  z.object({ type: z.literal("refused"), work_id: text, reason: short }),
  z.object({ type: z.literal("done"), session_id: text, status: sessionDoneSchema }),
  z.object({ type: z.literal("heartbeat") }),
]);
export type EnvironmentLine = z.infer<typeof environmentLineSchema>;

/** To a bridge about its environment. */
export const workLineSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("welcome"), version: z.number() }),
  /** Told until it is acknowledged. The secret is a `WorkSecret` as JSON in base64url. */
  z.object({
    type: z.literal("work"),
    work_id: text,
    session_id: z.uuid(),
    secret: text,
    title: opt(text),
    model: opt(text),
  }),
  /** End a session. */
  z.object({ type: z.literal("stop"), session_id: text }),
  /** It is over for this bridge: it was removed, or another start of it has come. */
  z.object({ type: z.literal("end"), reason: text }),
]);
export type WorkLine = z.infer<typeof workLineSchema>;

/** A question of one side to the other, which is answered once by its id. */
export const controlResponseSchema = z.object({
  type: z.literal("control_response"),
  response: z.union([
    z.object({ subtype: z.literal("success"), request_id: text, response: opt(z.unknown()) }),
    z.object({ subtype: z.literal("error"), request_id: text, error: text, fault: opt(faultDataSchema) }),
  ]),
});

/** From a bridge about a session. */
export const ingressLineSchema = z.discriminatedUnion("type", [
  /** First. The token of the work secret comes with it until it was taken; the key is the session's from then on. */
  z.object({
    type: z.literal("attach"),
    session_id: text,
    key: text.check(z.minLength(20)),
    token: opt(text),
    seq: z.number(),
  }),
  z.object({ type: z.literal("event"), event: envelopeSchema }),
  z.object({ type: z.literal("session_state"), state: bridgedStateSchema }),
  /** Something needs a person: its id is that of the ask, which comes along. */
  z.object({
    type: z.literal("control_request"),
    request_id: text,
    request: z.union([
      z.object({
        subtype: z.literal("can_use_tool"),
        tool_name: text,
        input: opt(jsonSchema),
        tool_use_id: opt(text),
        ask: askSchema,
      }),
      z.object({ subtype: z.literal("elicitation"), ask: askSchema }),
      /** Words for another session behind a bridge. */
      z.object({ subtype: z.literal("send_message"), to: text, message: text, from: text }),
    ]),
  }),
  /** It is settled: nobody needs to answer any more. */
  z.object({ type: z.literal("control_cancel_request"), request_id: text }),
  controlResponseSchema,
  /** What became of an answer. */
  z.object({ type: z.literal("control_receipt"), command_id: text, receipt: receiptSchema }),
]);
export type IngressLine = z.infer<typeof ingressLineSchema>;

/** To a bridge about a session. */
export const sessionLineSchema = z.discriminatedUnion("type", [
  /** Tell what came after this event. */
  z.object({ type: z.literal("attached"), after: z.number() }),
  /** Events up to this one are safe here. */
  z.object({ type: z.literal("ack"), seq: z.number() }),
  z.object({
    type: z.literal("control_request"),
    request_id: text,
    /** An operation of the table that a bridge answers. */
    request: z.object({ subtype: z.literal("call"), operation: text, question: jsonSchema, name: text }),
  }),
  /** An answer to a permission or another question: `response` is a `BridgedAnswer`, or of a message what became of it. */
  controlResponseSchema,
  z.object({ type: z.literal("end"), reason: z.enum(["refused", "removed", "behind", "replaced"]) }),
]);
export type SessionLine = z.infer<typeof sessionLineSchema>;

/** What answers a `control_request` of a bridge: the document's words, and our own answer beside them. */
export const bridgedAnswerSchema = z.object({
  behavior: z.enum(["allow", "deny"]),
  message: opt(text),
  updatedInput: opt(jsonSchema),
  command_id: text,
  name: text,
  answer: jsonSchema,
});
export type BridgedAnswer = z.infer<typeof bridgedAnswerSchema>;

/** Operations of a session that a bridge answers. What would write settings there, or run words as a command, is none. */
export const bridgedOperations = ["session", "submit", "asks", "inquire"] as const;

/** A bridge as the server lists it. */
export const bridgeEntrySchema = z.object({
  id: text,
  machineName: text,
  dir: text,
  branch: text,
  spawnMode: spawnModeSchema,
  maxSessions: z.number(),
  /** Sessions that have not ended. */
  sessions: list(text),
  connected: z.boolean(),
  createdAt: z.number(),
  seenAt: opt(z.number()),
});
export type BridgeEntry = z.infer<typeof bridgeEntrySchema>;

export const bridgePaths = {
  register: "/v1/environments/bridge",
  environment: "/v1/environments/{environment}/lines",
  ingress: "/v1/sessions/{session}/ingress",
  environmentSocket: "/ws/bridge/{environment}",
  ingressSocket: "/ws/ingress/{session}",
} as const;

/** A message of a channel holds one line or several; larger ones end it. */
export const maxChannelBytes = 16 * 1024 * 1024;
/** What of the events may be on its way and not safe yet. */
export const maxUnsafeBytes = 1024 * 1024;

/** What may be asked of a server about bridges: rows of the table of operations. */
export const bridgeOperations = {
  bridges: {
    says: "The bridges: machines that offer a folder and take work, with the sessions that they have",
    method: "GET",
    path: "/api/bridges",
    access: "watch",
    question: z.object({}),
    answer: list(bridgeEntrySchema),
  },
  giveWork: {
    says: "A session behind a bridge, as soon as it is there; the same `id` twice is one. It is followed like any other",
    method: "POST",
    path: "/api/bridges/{bridge}/work",
    access: "work",
    question: z.object({
      bridge: text,
      id: opt(z.uuid()),
      prompt: opt(text),
      title: opt(text),
      model: opt(text),
    }),
    answer: z.object({ session: text }),
  },
  removeBridge: {
    says: "Ends the sessions of a bridge and forgets it; it may register again",
    method: "DELETE",
    path: "/api/bridges/{bridge}",
    access: "work",
    question: z.object({ bridge: text }),
    answer: z.object({}),
  },
} as const;
export type BridgeOperation = keyof typeof bridgeOperations;
