/**
 * What a program may ask of a server of sessions, as one table: over a wire by the name of a row, over HTTP by its
 * method and path. Every way to a server and the OpenAPI document are projections of it. Events are no row: they are
 * followed, see `wire.ts`.
 */
import * as z from "zod/mini";
import { askSchema } from "./ask.ts";
import { bridgeOperations } from "./bridge.ts";
import { commandSchema, receiptSchema } from "./command.ts";
import { durableSchema } from "./event/durable.ts";
import { groupOperations } from "./group-operations.ts";
import { memoryOperations } from "./memory-operations.ts";
import { jsonSchema } from "./message.ts";
import { moveOperations } from "./move-operations.ts";
import { scheduleOperations } from "./schedule-operations.ts";
import { workspaceOperations } from "./workspace-operations.ts";

const text = z.string();
const opt = z.optional;
const list = <T extends z.ZodMiniType>(of: T) => z.readonly(z.array(of));

/**
 * How far somebody may go, each level with those before it: see what happens, answer what is asked, do everything. A
 * bridge only offers itself: it sees nothing but its own work, and who may watch or answer is none.
 */
export const accessLevels = ["bridge", "watch", "answer", "work"] as const;
export const accessSchema = z.enum(accessLevels);
export type Access = z.infer<typeof accessSchema>;

export const mayDo = (has: Access, needed: Access): boolean =>
  needed === "bridge"
    ? has === "bridge" || has === "work"
    : accessLevels.indexOf(has) >= accessLevels.indexOf(needed);

/** Who asks: how far it may go, and what others are to see it as. */
export type Caller = { readonly access: Access; readonly name: string };

/** What a command needs of whoever sends it. */
export const accessOfCommand = (type: z.infer<typeof commandSchema>["type"]): Access =>
  type === "answer" ? "answer" : "work";

/** `open`: the server has it at work. `stored`: its log waits. `elsewhere`: another process holds it. */
const ownerSchema = z.enum(["open", "stored", "elsewhere"]);

export const sessionEntrySchema = z.object({
  id: text,
  cwd: text,
  createdAt: z.number(),
  changedAt: z.number(),
  title: opt(text),
  tag: opt(text),
  archived: opt(z.boolean()),
  /** The start of the first thing that a person said. */
  firstInput: opt(text),
  owner: ownerSchema,
  /** It runs behind a bridge, on this machine. */
  machine: opt(text),
});
export type SessionEntry = z.infer<typeof sessionEntrySchema>;

/** A program or a browser that was let in once and may come again. */
export const deviceEntrySchema = z.object({
  id: text,
  name: text,
  access: accessSchema,
  createdAt: z.number(),
  /** When it last came in, as far as this start of the server knows. */
  seenAt: opt(z.number()),
  /** Sockets and streams that it has open. */
  connected: z.number(),
});
export type DeviceEntry = z.infer<typeof deviceEntrySchema>;

/** `open`: nobody has come with the code. `claimed`: somebody has; they show these digits. Then it is allowed, or over. */
export const pairingSchema = z.union([
  z.object({ state: z.literal("open"), until: z.number() }),
  z.object({ state: z.literal("claimed"), until: z.number(), name: text, digits: text }),
  z.object({ state: z.literal("allowed"), until: z.number(), name: text }),
  z.object({ state: z.literal("paired"), device: text, name: text }),
  z.object({ state: z.literal("over"), why: z.enum(["refused", "too-late", "wrong-codes"]) }),
]);
export type Pairing = z.infer<typeof pairingSchema>;

const ofSession = { session: text };
const ofPairing = { pairing: text };

type OperationRow<OperationQuestion, Answer> = {
  readonly says: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `{names}` are fields of the question; the others stand in the query of a GET and in the body of all else. */
  readonly path: string;
  readonly access: Access;
  readonly question: z.ZodMiniType<OperationQuestion>;
  readonly answer: z.ZodMiniType<Answer>;
};

/** Fields that are numbers, also in the query of an address. */
export const numberFields: readonly string[] = ["after", "limit", "last"];
/** And those that are true or false. */
export const booleanFields: readonly string[] = ["archived"];

/** At most this many events in one answer: a screen's worth, with room. */
export const maxHistory = 1_000;

export const operations = {
  status: {
    says: "Which server this is and what it has at work",
    method: "GET",
    path: "/api/status",
    access: "watch",
    question: z.object({}),
    answer: z.object({
      version: text,
      boot: text,
      pid: z.number(),
      open: z.number(),
      /** Of those that are open, how many have their conversation in memory; the others rest until they are used. */
      loaded: z.number(),
      clients: z.number(),
    }),
  },
  sessions: {
    says: "The sessions of the home, newest change first",
    method: "GET",
    path: "/api/sessions",
    access: "watch",
    question: z.object({ cwd: opt(text), limit: opt(z.number()) }),
    answer: list(sessionEntrySchema),
  },
  search: {
    says: "Words in what was said in the sessions of the home, newest change first; `more` where it stopped before the end",
    method: "GET",
    path: "/api/search",
    access: "watch",
    question: z.object({ words: text, limit: opt(z.number()) }),
    answer: z.object({
      found: list(
        z.object({
          session: text,
          title: opt(text),
          firstInput: opt(text),
          cwd: text,
          at: z.number(),
          /** The row of the transcript that has the words; left out where they are in the title. */
          row: opt(text),
          by: z.enum(["title", "person", "agent"]),
          /** With a little of what stands around them. */
          excerpt: text,
        }),
      ),
      more: z.boolean(),
    }),
  },
  session: {
    says: "One session, as it stands: the number of its last event, and whether something is being done",
    method: "GET",
    path: "/api/sessions/{session}",
    access: "watch",
    question: z.object(ofSession),
    answer: z.object({ session: text, seq: z.number(), working: z.boolean() }),
  },
  open: {
    says: "Begins a session in a folder, or takes one up; options are those of the options table",
    method: "POST",
    path: "/api/sessions",
    access: "work",
    question: z.object({ cwd: text, options: opt(z.record(text, jsonSchema)) }),
    answer: z.object({ session: text }),
  },
  submit: {
    says: "A command for a session. The same commandId twice is one command, with one receipt",
    method: "POST",
    path: "/api/sessions/{session}/commands",
    // For a command other than an answer the server wants `work`.
    access: "answer",
    question: z.object({ ...ofSession, commandId: opt(text), command: commandSchema }),
    answer: receiptSchema,
  },
  message: {
    says: "Words for a session, as a person says them; `submit` takes more",
    method: "POST",
    path: "/api/sessions/{session}/messages",
    access: "work",
    question: z.object({ ...ofSession, content: text, id: opt(text) }),
    answer: receiptSchema,
  },
  asks: {
    says: "What nobody has answered yet",
    method: "GET",
    path: "/api/sessions/{session}/asks",
    access: "watch",
    question: z.object(ofSession),
    answer: list(askSchema),
  },
  inquire: {
    says: "A question of the table of inquiries",
    method: "POST",
    path: "/api/sessions/{session}/inquiries/{name}",
    access: "watch",
    question: z.object({ ...ofSession, name: text, question: opt(z.record(text, jsonSchema)) }),
    answer: z.unknown(),
  },
  history: {
    says: "Durable events after a seq, in pages; or the last so many of them, which a screen paints first",
    method: "GET",
    path: "/api/sessions/{session}/history",
    access: "watch",
    question: z.object({
      ...ofSession,
      after: opt(z.number()),
      limit: opt(z.number()),
      last: opt(z.number()),
    }),
    answer: z.object({ events: list(durableSchema), more: z.boolean() }),
  },
  fork: {
    says: "A copy of a session up to an event, under a new id; the session stays as it is",
    method: "POST",
    path: "/api/sessions/{session}/forks",
    access: "work",
    question: z.object({ ...ofSession, upTo: opt(z.number()), title: opt(text) }),
    answer: z.object({ session: text }),
  },
  label: {
    says: "Changes what a session is found by",
    method: "PATCH",
    path: "/api/sessions/{session}",
    access: "work",
    question: z.object({ ...ofSession, title: opt(text), tag: opt(text), archived: opt(z.boolean()) }),
    answer: z.object({}),
  },
  keepRule: {
    says: "Keeps an allow rule in a settings file, for sessions to come; `counts` where it does so already",
    method: "POST",
    path: "/api/sessions/{session}/rules",
    access: "work",
    question: z.object({ ...ofSession, rule: text, to: z.enum(["local", "project", "user"]) }),
    answer: z.object({ file: text, counts: z.boolean() }),
  },
  delete: {
    says: "Ends a session and removes it with all that belongs to it",
    method: "DELETE",
    path: "/api/sessions/{session}",
    access: "work",
    question: z.object(ofSession),
    answer: z.object({}),
  },
  devices: {
    says: "Who was let in and may come again",
    method: "GET",
    path: "/api/devices",
    access: "work",
    question: z.object({}),
    answer: list(deviceEntrySchema),
  },
  removeDevice: {
    says: "Lets a device in no more, and cuts what it has open",
    method: "DELETE",
    path: "/api/devices/{device}",
    access: "work",
    question: z.object({ device: text }),
    answer: z.object({}),
  },
  pair: {
    says: "A code with which another device may ask to be let in, once and for five minutes",
    method: "POST",
    path: "/api/pairings",
    access: "work",
    question: z.object({ access: opt(accessSchema), name: opt(text) }),
    answer: z.object({ ...ofPairing, code: text, until: z.number(), url: opt(text) }),
  },
  pairing: {
    says: "How far a pairing is; with `known`, once it is further than that, or after a while",
    method: "GET",
    path: "/api/pairings/{pairing}",
    access: "work",
    question: z.object({ ...ofPairing, known: opt(text) }),
    answer: pairingSchema,
  },
  answerPairing: {
    says: "Lets in who came with the code, or does not: the digits that both show are compared by a person",
    method: "POST",
    path: "/api/pairings/{pairing}/answer",
    access: "work",
    question: z.object({ ...ofPairing, verdict: z.enum(["allow", "deny"]) }),
    answer: z.object({}),
  },
  link: {
    says: "A link by which one browser comes in, once and for ten minutes",
    method: "POST",
    path: "/api/links",
    access: "work",
    question: z.object({}),
    answer: z.object({ link: text }),
  },
  ...workspaceOperations,
  ...bridgeOperations,
  ...moveOperations,
  ...memoryOperations,
  ...groupOperations,
  ...scheduleOperations,
} as const satisfies Readonly<Record<string, OperationRow<unknown, unknown>>>;

/** Rows that are about who may come in: a door has their answers. */
export const deviceOperations = [
  "devices",
  "removeDevice",
  "pair",
  "pairing",
  "answerPairing",
  "link",
] as const;

export type OperationName = keyof typeof operations;
export type OperationQuestion<Name extends OperationName> = z.infer<(typeof operations)[Name]["question"]>;
export type AnswerTo<Name extends OperationName> = z.infer<(typeof operations)[Name]["answer"]>;
export const isOperation = (name: string): name is OperationName => Object.hasOwn(operations, name);
