/**
 * A call with what is known of it before anybody decides: its tool, its input as the tool reads it, its traits and
 * claims. Found out once, when the call is whole, and carried to its end.
 */

import type { ToolCall } from "../../core/state/call-state.ts";
import { fault } from "../../kernel/fault.ts";
import type { Json } from "../../kernel/json.ts";
import type { Tool, ToolContext, ToolTraits } from "../../ports/tool.ts";
import type { Claim } from "../../protocol/tool.ts";

export type PreparedCall = {
  readonly call: ToolCall;
  /** Undefined where there is no such tool; a sentence where it cannot be loaded. */
  readonly tool: Tool | string | undefined;
  /** The input as the model sent it. Absent where there is no tool, or nothing whole was sent. */
  readonly input?: CallInput;
};

/** The traits of a call; undefined where the tool fails over its input: the call itself then says so. */
export function traitsOf({ input }: PreparedCall): ToolTraits | undefined {
  try {
    return input?.parse().ok ? input.traits() : undefined;
  } catch {
    return undefined;
  }
}

/** One input of a tool: the model's own, a hook's, or an answer's. */
export interface CallInput {
  readonly sent: Json;
  /** What the tool's schema makes of it. */
  parse(): ReturnType<Tool["input"]["parse"]>;
  /** Throws where it does not fit the schema. */
  value(): unknown;
  traits(): ToolTraits;
  /** What the call would touch; asked of the tool once for each context, since its paths may come to mean others. */
  claims(context: ToolContext): Promise<readonly Claim[]>;
}

export function inputOf(tool: Tool, sent: Json): CallInput {
  let parsed: ReturnType<CallInput["parse"]> | undefined;
  let traits: ToolTraits | undefined;
  let claimed: { readonly context: ToolContext; readonly claims: Promise<readonly Claim[]> } | undefined;
  const parse = (): ReturnType<CallInput["parse"]> => {
    parsed ??= tool.input.parse(sent);
    return parsed;
  };
  const value = (): unknown => {
    const read = parse();
    if (!read.ok) throw fault("unexpected", { reason: "an input that does not fit was not refused" });
    return read.value;
  };
  return {
    sent,
    parse,
    value,
    traits: () => {
      traits ??= tool.traits(value());
      return traits;
    },
    claims: (context) => {
      if (claimed?.context !== context) claimed = { context, claims: tool.claims(value(), context) };
      return claimed.claims;
    },
  };
}
