/** A tool: a named capability with a schema, traits, claims and a run. What is left out is the careful choice. */
import type { Json } from "../../kernel/json.ts";
import type { Schema } from "../../kernel/schema.ts";
import type { Answer, AnsweredBy, Ask } from "../../protocol/ask.ts";
import type { Denial } from "../../protocol/event.ts";
import type { ResultPart } from "../../protocol/message.ts";
import type { Worktree } from "../../protocol/task.ts";
import type { Claim, Display, FileSeen, Todo, ToolSpec } from "../../protocol/tool.ts";
import type { Consult } from "../consulting.ts";
import type { DeskView } from "../desk.ts";
import type { FileLedger } from "../file-ledger.ts";
import type { Clock, Workspace } from "../ports.ts";
import type { CallTasks } from "../task-work.ts";

export type Traits = {
  /** Changes nothing outside the conversation. */
  readonly readOnly: boolean;
  /** May overlap with other concurrent calls. */
  readonly concurrent: boolean;
  /** `safe`: may run again after a crash. `never`: is settled as interrupted instead. */
  readonly replay: "safe" | "never";
};

export type ToolOutcome = {
  /** What the model sees. */
  readonly content: ResultPart[];
  /** What a screen shows. */
  readonly display: Display;
  /** A failed tool is a value, not a throw. */
  readonly failed?: boolean;
  /** The result as data, for programs. */
  readonly data?: Json;
  readonly seen?: FileSeen[];
  readonly linesAdded?: number;
  readonly linesRemoved?: number;
  /** The list of what is to be done, as it is from now on. */
  readonly todos?: Todo[];
  /** Deferred tools that the next request offers. */
  readonly loads?: string[];
  /** Rules for what runs without a question until the turn ends. */
  readonly allow?: string[];
  /** Into plan mode; back to the mode before it; or on without a question about edits. */
  readonly mode?: "plan" | "before-plan" | "acceptEdits";
  /** Where the session works from now on. */
  readonly folder?: { readonly cwd: string; readonly worktree?: Worktree };
  /** The host said no to what the tool asked. */
  readonly denied?: Denial;
};

export type ToolContext = {
  readonly callId: string;
  readonly session: string;
  readonly workspace: Workspace;
  readonly clock: Clock;
  /** Work that goes on in the background. */
  readonly tasks: CallTasks;
  /** What policy decided about, once it has: a run touches these targets and not what a path has come to mean since. */
  readonly decided?: readonly Claim[];
  /** A rule denies reading this file: a search that comes upon it leaves it out. */
  isDenied?(path: string): boolean;
  /** The stamp under which this session last saw a file. */
  seen(path: string): string | undefined;
  /** Asks the host, durably: the process may die while it waits. */
  ask(ask: Omit<Ask, "id" | "callId" | "tool">): Promise<Answer & { readonly by: AnsweredBy }>;
  /** Where changes of files are written down. Absent where nothing is kept. */
  readonly ledger?: FileLedger | undefined;
  /** Asks the model beside the conversation, on the bill of the session. Absent where there is none. */
  readonly consult?: Consult | undefined;
  /** What the session knows about the work itself. */
  desk(): DeskView;
};

export type Tool<I = unknown> = {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly input: Schema<I>;
  /** What a request says about it: always the same object, so that whoever has written it need not compare it. */
  readonly spec: ToolSpec;
  /** Characters of a result that reach the model, where the common limit does not fit the tool. */
  readonly resultCharacters?: number;
  /** Not offered until the model has loaded it with ToolSearch. */
  readonly deferred: boolean;
  traits(input: I): Traits;
  /** What the call would touch. Policy decides about exactly these. */
  claims(input: I, context: ToolContext): Promise<readonly Claim[]>;
  /** Whether the call makes sense, apart from whether it is allowed. A sentence tells the model what to correct. */
  check(input: I, context: ToolContext): Promise<string | undefined>;
  /** Yields what to show while it works and returns the outcome. Settles soon after the signal fires. */
  run(input: I, context: ToolContext, signal: AbortSignal): AsyncGenerator<Display, ToolOutcome>;
};

/** Fail closed: what a tool does not say is read as "changes things, runs alone, never again, ask first". */
export const carefulTraits: Traits = { readOnly: false, concurrent: false, replay: "never" };

/** Undefined for an input that does not fit, and for a tool that fails over it: the call itself then says so. */
export function traitsOf(tool: Tool, sent: Json): Traits | undefined {
  try {
    const parsed = tool.input.parse(sent);
    return parsed.ok ? tool.traits(parsed.value) : undefined;
  } catch {
    return undefined;
  }
}

export type ToolDefinition<I> = Pick<Tool<I>, "name" | "description" | "input" | "run"> & {
  readonly aliases?: readonly string[];
  readonly resultCharacters?: number;
  readonly deferred?: boolean;
  readonly traits?: Partial<Traits> | ((input: I) => Partial<Traits>);
  readonly claims?: Tool<I>["claims"];
  readonly check?: Tool<I>["check"];
};

export function defineTool<I>(definition: ToolDefinition<I>): Tool<I> {
  const { name, description, input, traits, claims, check } = definition;
  let spec: ToolSpec | undefined;
  return {
    name,
    aliases: definition.aliases ?? [],
    deferred: definition.deferred ?? false,
    description,
    input,
    // Made at the first request: a schema in JSON takes its time.
    get spec() {
      spec ??= { name, description, input: input.json };
      return spec;
    },
    ...(definition.resultCharacters === undefined ? {} : { resultCharacters: definition.resultCharacters }),
    traits: (given) => ({ ...carefulTraits, ...(typeof traits === "function" ? traits(given) : traits) }),
    claims: claims ?? (async () => [{ action: "use", target: name }]),
    check: check ?? (async () => undefined),
    run: definition.run,
  };
}
