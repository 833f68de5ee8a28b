/**
 * Leave for a command that stands in a person's own words, such as a text that they call by its name: by the same rules,
 * mode, hooks and questions as a call of the model, before the words become an input. Nothing runs here.
 */
import * as z from "zod/mini";
import { schemaOf } from "../../kernel/schema.ts";
import { parseRule } from "../../policy/rules.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Ask } from "../../protocol/ask.ts";
import { hookContextOf } from "../consult.ts";
import type { Closed, StepContext } from "../step-context.ts";
import { contextFor } from "./context.ts";
import { permit, whyNotAnyMore } from "./permit.ts";
import { inputOf } from "./prepared.ts";

export type CommandRequest = {
  readonly command: string;
  /** Rules of the text that holds it. */
  readonly allow: readonly string[];
};

export type CommandVerdict =
  /** What may run, which a hook or an answer may have changed. */
  | { readonly ok: true; readonly command: string }
  /** `isStopped`: the person wants nothing more of it. */
  | { readonly ok: false; readonly because: string; readonly isStopped?: boolean };

const name = "Bash";

const schema = schemaOf(z.object({ command: z.string() }));

/** The claims of a command, and nothing that could run it. */
const command = defineTool<{ command: string }>({
  name,
  description: "",
  input: schema,
  claims: async ({ command: words }) => [{ action: "execute", target: words }],
  run: async function* () {
    return { content: [], display: { kind: "text", text: "" }, failed: true };
  },
}) as Tool;

export async function permitCommand(
  work: StepContext,
  { command: words, allow }: CommandRequest,
  open: (ask: Ask) => Promise<Closed>,
): Promise<CommandVerdict> {
  const own = detachedContext(work, allow, open);
  const callId = `words-${own.parts.ids.uuid()}`;
  const asked = { callId, tool: name, input: { command: words } };
  const {
    decision: hook,
    input: changed = asked.input,
    stop,
    defer,
  } = await own.parts.hooks.beforeTool(asked, hookContextOf(own));
  if (stop !== undefined || defer) return { ok: false, because: stop ?? "a hook keeps it back" };
  const read = schema.parse(changed);
  if (!read.ok) return { ok: false, because: "a hook made something else of it" };
  const call = {
    use: { type: "tool_use" as const, id: callId, name, input: changed },
    status: "requested" as const,
    context: [],
  };
  const context = contextFor(own, call, command);
  const permission = await permit(own, {
    call,
    tool: command,
    context,
    looking: context,
    input: inputOf(command, changed),
    hook,
    isDetached: true,
  });
  if (permission.verdict === "deny") {
    const { by, reason } = permission.denial;
    const because = permission.because ?? reason.replace(/\.$/, "");
    return { ok: false, because, ...(by === "interrupt" || by === "shutdown" ? { isStopped: true } : {}) };
  }
  // Whoever asked runs it at once: this is the last moment before that.
  const refused = await whyNotAnyMore(
    own,
    { tool: command, context, input: permission.input },
    { by: permission.by, grounds: permission.grounds },
  );
  if (refused) return { ok: false, because: refused.because };
  const allowed = schema.parse(permission.input.sent);
  return allowed.ok
    ? { ok: true, command: allowed.value.command }
    : { ok: false, because: "the answer is no command" };
}

/** Beside whatever turn runs: with no rules of that turn, and not ended by what ended an earlier one. */
function detachedContext(
  work: StepContext,
  allow: readonly string[],
  open: (ask: Ask) => Promise<Closed>,
): StepContext {
  const { rules } = work.parts;
  const { signal } = new AbortController();
  return {
    ...work,
    signal,
    get state() {
      return { ...work.state, turn: null };
    },
    ask: open,
    parts: {
      ...work.parts,
      rules: { ...rules, allow: [...rules.allow, ...allow.flatMap((text) => parseRule(text) ?? [])] },
    },
  };
}
