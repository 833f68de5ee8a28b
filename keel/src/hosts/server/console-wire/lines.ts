/**
 * The lines of the console wire, one JSON object a message. Its document has `sdk-message`, `activity`, `exit`, `error`,
 * `user-message` and `cancel`; what it is silent about (questions, settings, history, terminals) is added beside them.
 * On this wire a workspace is called a session.
 */
import * as z from "zod/mini";
import { parseJson } from "../../../kernel/json.ts";
import { failed, ok, type Result } from "../../../kernel/result.ts";
import { type Ask, answerSchema } from "../../../protocol/ask.ts";
import { settingsPatchSchema } from "../../../protocol/settings.ts";
import type { DiffSummary } from "../../../protocol/workspace.ts";
import type { SDKSentMessage } from "../../../sdk/messages/messages.ts";

const text = z.string();
const opt = z.optional;

export const agentLineSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("user-message"),
    content: text,
    /** A UUID: the same one twice is one message. */
    id: opt(text),
  }),
  z.object({ type: z.literal("cancel") }),
  z.object({
    type: z.literal("answer"),
    askId: text,
    ...answerSchema.shape,
    /** Left out where `answers` says all. */
    verdict: opt(answerSchema.shape.verdict),
    /** Of a question: what was picked, by its words. */
    answers: opt(z.record(text, z.union([text, z.array(text)]))),
  }),
  z.object({ type: z.literal("set"), patch: settingsPatchSchema }),
  z.object({ type: z.literal("request-history"), lastUuid: opt(z.nullable(text)) }),
]);
export type AgentClientLine = z.infer<typeof agentLineSchema>;

export const terminalLineSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("input"), data: text }),
  z.object({ type: z.literal("resize"), cols: z.number(), rows: z.number() }),
  z.object({ type: z.literal("image"), data: text, mimeType: text }),
  z.object({ type: z.literal("request-history") }),
]);
export type TerminalClientLine = z.infer<typeof terminalLineSchema>;

export const diffLineSchema = z.object({ type: z.literal("refresh") });
export const appLineSchema = z.object({ type: z.literal("request-sync") });

export type ConsoleActivity = "active" | "idle" | "asking" | "unknown";

/** What every socket of a worker may say. */
export type WorkerLine =
  | { readonly type: "exit"; readonly exitCode: number; readonly signal: string | null }
  | { readonly type: "error"; readonly message: string; readonly code: string }
  | { readonly type: "activity"; readonly state: ConsoleActivity }
  | { readonly type: "server-restarted"; readonly serverPid: number };

export type ToldOfAgent =
  | WorkerLine
  | { readonly type: "sdk-message"; readonly message: SDKSentMessage }
  | { readonly type: "ask"; readonly ask: Ask }
  | {
      readonly type: "ask-closed";
      readonly askId: string;
      readonly verdict: "allow" | "deny";
      readonly by: string;
      readonly who?: string;
    }
  | {
      readonly type: "message-history";
      readonly messages: readonly SDKSentMessage[];
      readonly lastUuid: string | null;
    };

export type ToldOfTerminal =
  | WorkerLine
  | { readonly type: "output"; readonly data: string; readonly offset: number }
  | {
      readonly type: "history";
      readonly data: string;
      readonly offset: number;
      readonly epoch: string;
      readonly cols: number;
      readonly rows: number;
    };

export type ToldOfDiff = WorkerLine | { readonly type: "diff-data"; readonly data: DiffSummary };

/** What a client sent, or why it is no line of these. */
export function readLine<T>(schema: z.ZodMiniType<T>, message: string): Result<T> {
  const json = parseJson(message);
  if (json === undefined) return failed("not JSON");
  const parsed = schema.safeParse(json);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return failed(
    `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not a line of this wire"}`.slice(0, 200),
  );
}
