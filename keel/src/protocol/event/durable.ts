/** Facts in the past tense that make the log and fold to state. Adding one breaks every switch that should care. */
import * as z from "zod/mini";
import type { FaultData } from "../../kernel/fault.ts";
import { isFaultCode } from "../../kernel/faults.ts";
import { answeredBySchema, answerSchema, askSchema } from "../ask.ts";
import { blockSchema, inputBlockSchema, jsonSchema, messageSchema, resultPartSchema } from "../message.ts";
import { addedWhySchema, promptWhySchema, stopSchema, turnReasonSchema } from "../reasons.ts";
import { sessionSettingsSchema, settingsPatchSchema } from "../settings.ts";
import {
  goalTryFields,
  taskDataSchema,
  taskStatusSchema,
  teamChangeFields,
  worktreeSchema,
} from "../task.ts";
import { displaySchema, fileSeenSchema, todoSchema, toolSpecSchema } from "../tool.ts";
import { predictionSchema, requestSumsSchema, usageSchema } from "../usage.ts";
import { verdictFactsSchema } from "../verdict-facts.ts";

/** A code that a newer Keel wrote is kept as `unexpected`, so that its log still folds. */
export const faultDataSchema = z.pipe(
  z.object({
    code: z.string(),
    message: z.string(),
    detail: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))),
  }),
  z.transform((data): FaultData => ({ ...data, code: isFaultCode(data.code) ? data.code : "unexpected" })),
);

/** Who sent an input. What is not a person's word never counts as one. */
export const inputFromSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("person"),
    /** At which client, where several may be attached: as others are to see it. */
    name: z.optional(z.string()),
  }),
  z.object({ kind: z.literal("hook"), name: z.string() }),
  z.object({ kind: z.literal("task"), taskId: z.string() }),
  z.object({ kind: z.literal("agent"), name: z.string() }),
  z.object({ kind: z.literal("channel"), name: z.string() }),
]);

/** `now` joins a running turn at its next safe boundary; `after` waits for a turn of its own. */
export const inputSchema = z.object({
  id: z.string(),
  content: z.array(inputBlockSchema),
  from: inputFromSchema,
  /** `now`: may join the running turn. `after`: begins a turn of its own. `with-next`: begins none, and goes with the next. */
  when: z.enum(["now", "after", "with-next"]),
  /** Rules for what runs without a question in its turn: those of a command that a person called. */
  allow: z.optional(z.array(z.string())),
  /** The model that answers in its turn, where it is another. */
  model: z.optional(z.string()),
  /** The trace of whoever said it, as W3C's `traceparent` writes it. */
  trace: z.optional(z.string()),
});
export type Input = z.infer<typeof inputSchema>;

/** Who refused a call, and in which words. */
export const denialSchema = z.object({
  by: z.enum(["rule", "mode", "hook", "host", "no-host", "timeout", "shutdown", "interrupt"]),
  reason: z.string(),
});
export type Denial = z.infer<typeof denialSchema>;

/** On whose behalf a model was asked beside the conversation. */
export const consultedForSchema = z.object({ kind: z.enum(["hook", "server", "mode"]), name: z.string() });
export type ConsultedFor = z.infer<typeof consultedForSchema>;

export const purposeSchema = z.enum(["turn", "compaction"]);

/** The counts were none that a provider can mean: they were brought within bounds, and the bill says "at least". */
const unsure = { usageUnsure: z.optional(z.literal(true)) };

const charge = {
  /** Null when it is unknown what the request cost. */
  usage: z.nullable(usageSchema),
  costUsd: z.nullable(z.number()),
  ...unsure,
  ms: z.number(),
};

/** `within`: the call of a program that made it. */
const ofCall = { callId: z.string(), within: z.optional(z.string()), tool: z.string() };

/** Inputs that a turn takes in. */
const taken = {
  inputIds: z.array(z.string()),
  /** Words that hooks and the harness add to the inputs for the model. */
  context: z.optional(z.array(z.string())),
  /** Tasks whose end these words tell. */
  tasks: z.optional(z.array(z.string())),
};

/** What a conversation was told and holds, beside its messages: see `Worklist` and `ContextShares` of core. */
const knownThenSchema = z.object({
  todos: z.array(todoSchema),
  knowsTodos: z.boolean(),
  announced: z.array(z.string()),
  servers: z.array(z.string()),
  knowsPlan: z.boolean(),
  knowsMemory: z.boolean(),
  briefed: z.boolean(),
  instructed: z.array(z.string()),
  changed: z.array(z.string()),
  shares: z.object({ instructions: z.number(), skills: z.number() }),
});

const durable = [
  /** A session began, where and with which settings. */
  z.object({
    type: z.literal("session.opened"),
    keel: z.string(),
    cwd: z.string(),
    /** The branch of the repository that it began on. */
    branch: z.optional(z.string()),
    settings: sessionSettingsSchema,
    agent: z.optional(z.string()),
    parent: z.optional(z.object({ session: z.string(), callId: z.string() })),
    forkedFrom: z.optional(z.object({ session: z.string(), seq: z.number() })),
  }),
  /** A host, a fallback or a hook changed the model, the mode, thinking … */
  z.object({
    type: z.literal("settings.changed"),
    patch: settingsPatchSchema,
    why: z.enum(["host", "fallback", "plan", "resume", "hook"]),
  }),
  /** The system prompt and the tools with which every request starts, and why they were set anew. */
  z.object({
    type: z.literal("prompt.fixed"),
    system: z.array(z.string()),
    tools: z.array(toolSpecSchema),
    why: promptWhySchema,
  }),
  /** Somebody said something, and it is safe. */
  z.object({ type: z.literal("input.accepted"), input: inputSchema }),
  /** An input was cancelled, blocked by a hook or lost before a turn took it. */
  z.object({
    type: z.literal("input.dropped"),
    inputId: z.string(),
    why: z.enum(["cancelled", "blocked", "lost"]),
    reason: z.optional(z.string()),
  }),
  /** An input joined the running turn. */
  z.object({ type: z.literal("input.joined"), ...taken }),
  /** An input began a turn. */
  z.object({ type: z.literal("turn.started"), turnId: z.string(), ...taken }),
  /** The turn is to end. */
  z.object({
    type: z.literal("turn.interrupted"),
    by: z.enum(["host", "answer", "shutdown", "budget"]),
    /** How the turn ends, where it is not simply interrupted. */
    reason: z.optional(turnReasonSchema),
  }),
  /** The engine added words of its own to the conversation, and why. */
  z.object({
    type: z.literal("context.added"),
    content: z.array(inputBlockSchema),
    why: addedWhySchema,
    /** The tools of which the words say that they can be loaded. */
    tools: z.optional(z.array(z.string())),
    /** The instruction files whose text the words hold. */
    files: z.optional(z.array(z.string())),
    /** The servers whose words about their use they hold. */
    servers: z.optional(z.array(z.string())),
    /** The files of which they say that somebody else has changed them. */
    changed: z.optional(z.array(z.string())),
    /** The passages of earlier conversations that they hold, each as session, event and piece. */
    recalled: z.optional(z.array(z.string())),
    /** A hook ended the turn. */
    stop: z.optional(z.string()),
  }),
  /** A request is on its way. */
  z.object({
    type: z.literal("model.started"),
    requestId: z.string(),
    model: z.string(),
    purpose: purposeSchema,
    attempt: z.number(),
    /** What it was expected to use. */
    predicted: z.optional(predictionSchema),
    /** Fingerprint and layout of what went out, as far as whoever wrote it knows them. */
    sums: z.optional(requestSumsSchema),
  }),
  /** A whole reply: why it ended, what it used and cost. */
  z.object({
    type: z.literal("model.finished"),
    requestId: z.string(),
    messageId: z.string(),
    model: z.string(),
    content: z.array(blockSchema),
    stop: stopSchema,
    usage: usageSchema,
    costUsd: z.nullable(z.number()),
    ...unsure,
    ms: z.number(),
    /** Milliseconds until it began. */
    firstMs: z.optional(z.number()),
    /** The provider's own id of the message. */
    providerId: z.optional(z.string()),
  }),
  /** An attempt failed; what it cost may be unknown. */
  z.object({
    type: z.literal("model.failed"),
    requestId: z.string(),
    model: z.string(),
    purpose: purposeSchema,
    fault: faultDataSchema,
    retryable: z.boolean(),
    retryAfterMs: z.optional(z.number()),
    ...charge,
  }),
  /** A model was asked something beside the conversation, for a hook or a server; what it used and cost. */
  z.object({
    type: z.literal("model.consulted"),
    requestId: z.string(),
    model: z.string(),
    by: consultedForSchema,
    ...charge,
  }),
  /** A call is about to have effects, and by whose leave. */
  z.object({
    type: z.literal("tool.started"),
    ...ofCall,
    /** What runs, where a hook or an answer changed what the model sent. */
    input: z.optional(jsonSchema),
    by: z.enum(["rule", "mode", "hook", "host", "read-only"]),
    /** What that rested on. */
    facts: z.optional(verdictFactsSchema),
  }),
  /** What came of a call, also when it was denied, invalid or interrupted. */
  z.object({
    type: z.literal("tool.finished"),
    ...ofCall,
    content: z.array(resultPartSchema),
    failed: z.boolean(),
    display: displaySchema,
    ms: z.number(),
    /** The result as data, for programs. */
    data: z.optional(jsonSchema),
    seen: z.optional(z.array(fileSeenSchema)),
    /** Where the whole of an output stands that was too long for the model. */
    spilled: z.optional(z.object({ path: z.string(), bytes: z.number() })),
    denied: z.optional(denialSchema),
    /** What a denial without a question rested on. */
    facts: z.optional(verdictFactsSchema),
    /** Ended before its outcome was known: it may have had effects. */
    interrupted: z.optional(z.boolean()),
    /** Was refused before it ran because the call itself was wrong. */
    invalid: z.optional(z.boolean()),
    /** Words that hooks add for the model. */
    context: z.optional(z.array(z.string())),
    /** A hook ended the turn after this call. */
    stop: z.optional(z.string()),
    /** A hook handed the call to the host: it did not run, and the turn ends. */
    deferred: z.optional(z.boolean()),
    /** The whole list of what is to be done, as this call left it. */
    todos: z.optional(z.array(todoSchema)),
    /** Tools that join the prompt with the next request. */
    loads: z.optional(z.array(z.string())),
    /** Rules for what runs without a question until the turn ends: those of a skill that is followed. */
    allow: z.optional(z.array(z.string())),
    /** The structured answer that this call gave; it ends the turn. */
    answer: z.optional(jsonSchema),
    linesAdded: z.optional(z.number()),
    linesRemoved: z.optional(z.number()),
    /** Where the next command starts, if this call moved that; null: in the session's own folder. */
    keptFolder: z.optional(z.nullable(z.string())),
  }),
  /** A host is asked something. */
  z.object({ type: z.literal("ask.opened"), ask: askSchema }),
  /** An ask is settled, and by whom. */
  z.object({
    type: z.literal("ask.closed"),
    askId: z.string(),
    answer: answerSchema,
    by: answeredBySchema,
    /** At which client, where a host answered and several may be attached. */
    who: z.optional(z.string()),
  }),
  /** A host wants the conversation shortened. */
  z.object({ type: z.literal("compaction.requested"), instructions: z.optional(z.string()) }),
  /** Older messages were replaced by a summary. */
  z.object({
    type: z.literal("context.compacted"),
    requestId: z.string(),
    trigger: z.enum(["manual", "full", "too_long"]),
    summary: z.string(),
    /** How many of the newest messages stay as they are. */
    keep: z.number(),
    /** Files and skills that the model is given back beside the summary, each in the words that it reads. */
    restored: z.optional(z.array(z.string())),
    tokensBefore: z.number(),
    tokensAfter: z.number(),
    usage: usageSchema,
    costUsd: z.nullable(z.number()),
    ...unsure,
    model: z.string(),
    ms: z.number(),
  }),
  /** The conversation starts anew in the same session. */
  z.object({ type: z.literal("context.cleared") }),
  /** An agent goes on from the conversation of the session that started it. */
  z.object({
    type: z.literal("context.inherited"),
    from: z.object({ session: z.string(), seq: z.number() }),
    messages: z.array(messageSchema),
    /** What the messages fill of the window, as far as it was counted. */
    tokens: z.number(),
  }),
  /** The conversation goes on from an earlier message; what came after it stays in the log and on the bill alone. */
  z.object({
    type: z.literal("context.returned"),
    /** The event that the message came from. */
    to: z.number(),
    /** Which of that event's messages it was: the last that stays. */
    last: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("input"), id: z.string(), hook: z.optional(z.literal(true)) }),
      z.object({ kind: z.literal("reply"), block: z.number() }),
      z.object({ kind: z.literal("result"), callId: z.string() }),
      z.object({ kind: z.literal("summary") }),
    ]),
    /** How many of the oldest messages stay as they are; `messages` follow them, where the conversation does not hold them any more. */
    keep: z.number(),
    messages: z.array(messageSchema),
    /** What the conversation filled of the window, as far as it was counted. */
    tokens: z.number(),
    /** What it knew then. */
    known: knownThenSchema,
    /** The files that it had seen, as they were. */
    seen: z.array(fileSeenSchema),
    keptFolder: z.nullable(z.string()),
  }),
  /** The session works in another folder from now on: in a worktree, or back where it began. */
  z.object({
    type: z.literal("folder.changed"),
    cwd: z.string(),
    worktree: z.optional(worktreeSchema),
  }),
  /** Files as they were before a change; the checkpoint is the id of the input before which they were so. */
  z.object({
    type: z.literal("files.saved"),
    checkpoint: z.string(),
    /** `blob` names the content; null where there was no file. */
    files: z.array(z.object({ path: z.string(), blob: z.nullable(z.string()) })),
    /** Changed, and cannot be restored. */
    lost: z.optional(z.array(z.string())),
    /** The stamps that a command left behind; null where it removed the file. */
    left: z.optional(z.array(z.object({ path: z.string(), stamp: z.nullable(z.string()) }))),
  }),
  /** Files were put back as they were at a checkpoint. `undo` is the checkpoint that takes this back. */
  z.object({
    type: z.literal("files.rewound"),
    checkpoint: z.string(),
    undo: z.string(),
    restored: z.array(z.string()),
    skipped: z.array(z.object({ path: z.string(), why: z.string() })),
  }),
  /** The session went to another machine, or is on its way there: here it is not at work any more. */
  z.object({
    type: z.literal("session.moved"),
    /** Which session: a copy of its log is another one, and is still there. */
    of: z.string(),
    /** The id of the move. */
    move: z.string(),
    /** As a person named it, and which home takes it, where that is known. */
    to: z.object({ kind: z.enum(["file", "ssh", "server"]), name: z.string(), home: z.optional(z.string()) }),
    /** The tree of git in which its folder was left, with what was not committed. */
    tree: z.optional(z.string()),
  }),
  /** The session came from another machine and goes on here. What was allowed there is not allowed here. */
  z.object({
    type: z.literal("session.arrived"),
    move: z.string(),
    /** It never was away: whoever was to take it did not, and never will. */
    undone: z.optional(z.literal(true)),
    from: z.object({ host: z.string(), cwd: z.string() }),
    host: z.string(),
    cwd: z.string(),
    /** Paths below the first are below the second here. */
    roots: z.object({ from: z.string(), to: z.string() }),
    /** What it keeps beside its log stood in the first of these folders, and stands in the second. */
    kept: z.optional(z.object({ from: z.string(), to: z.string() })),
    /** Whether the files of its folder came along. */
    files: z.boolean(),
    /** Files that were left behind. */
    left: z.array(z.string()),
  }),
  /** The memory index is to hold nothing of what these events said: a person wants it forgotten. */
  z.object({ type: z.literal("memory.forgotten"), events: z.array(z.number()) }),
  /** Work in the background began or ended. */
  z.object({
    type: z.literal("task.changed"),
    taskId: z.string(),
    status: taskStatusSchema,
    data: z.optional(taskDataSchema),
  }),
  /** A team was formed, its list was changed, one of its members left it, or it is over. */
  z.object({ type: z.literal("team.changed"), ...teamChangeFields }),
  /** It was tried whether the goal of the session holds, before a turn ended. */
  z.object({ type: z.literal("goal.tried"), ...goalTryFields }),
  /** The one end of a turn, with reason, usage and cost. */
  z.object({
    type: z.literal("turn.finished"),
    turnId: z.string(),
    inputIds: z.array(z.string()),
    reason: turnReasonSchema,
    fault: z.optional(faultDataSchema),
    answer: z.optional(jsonSchema),
    usage: usageSchema,
    costUsd: z.number(),
    requests: z.number(),
    ms: z.number(),
    apiMs: z.number(),
  }),
  /** A graceful end. */
  z.object({ type: z.literal("session.closed"), reason: z.enum(["ended", "stopped", "cleared", "failed"]) }),
] as const;

export const durableEventSchema = z.discriminatedUnion("type", durable);
export type DurableEvent = z.infer<typeof durableEventSchema>;

/** What the log adds to each of its events: `seq` counts those of a session from 1 without a gap. */
export const durableSchema = z.intersection(
  z.object({ seq: z.number(), at: z.number(), session: z.string() }),
  durableEventSchema,
);
export type Durable = z.infer<typeof durableSchema>;

/** The format of a log's lines. Raised only when old readers would misread; `store/upgrade` reads every older one. */
export const logVersion = 1;

/** The version of commands, events and asks as hosts see them. */
export const protocolVersion = 1;
