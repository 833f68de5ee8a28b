/** A tool: a named capability with a schema, traits, claims and a run. What is left out is the careful choice. */

import type { Json } from "../kernel/json.ts";
import type { Schema } from "../kernel/schema.ts";
import type { Answer, AnsweredBy, Ask } from "../protocol/ask.ts";
import type { Denial } from "../protocol/event/durable.ts";
import type { ResultPart } from "../protocol/message.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import type { Worktree } from "../protocol/task.ts";
import type { Claim, Display, FileSeen, Todo, ToolFamily, ToolSpec } from "../protocol/tool.ts";
import type { Clock } from "./clock.ts";
import type { Consult } from "./consult.ts";
import type { FileLedger } from "./file-ledger.ts";
import type { InnerOutcome } from "./programs.ts";
import type { CallTasks } from "./tasks.ts";
import type { Workspace } from "./workspace.ts";

export type ToolTraits = {
  /** Changes nothing outside the conversation. */
  readonly readOnly: boolean;
  /** May overlap with other concurrent calls. */
  readonly concurrent: boolean;
  /** `safe`: may run again after a crash. `never`: is settled as interrupted instead. */
  readonly replay: "safe" | "never";
  /** It may take away what cannot be had back: whoever is asked about it is told so. */
  readonly destructive?: boolean;
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
  /** Where the next command starts, if not where this one did. */
  readonly keptFolder?: string;
  /** The host said no to what the tool asked. */
  readonly denied?: Denial;
};

/** What a tool sees of the work itself. */
export type WorklistView = {
  readonly todos: readonly Todo[];
  /** The highest number that a todo has had: none is used twice. */
  readonly lastTodo: number;
  readonly mode: PermissionMode;
  readonly planFile: string | undefined;
  /** The names of all tools that can be called. */
  readonly offered: readonly string[];
  /** Tools that can be loaded and are not yet. */
  readonly deferred: readonly (ToolSpec & Pick<ToolHead, "searchHint">)[];
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
  /** Calls of a program, each as if the model had made it alone. Absent where a tool runs none. */
  readonly calls?: InnerCalls | undefined;
  /** Where the call belongs in a trace, as W3C's `traceparent` writes it; absent where nobody follows it. */
  readonly trace?: string | undefined;
  /** What the session knows about the work itself. */
  worklist(): WorklistView;
};

/** Never rejects but for what ends the call itself. */
export type InnerCalls = (name: string, input: Json, signal: AbortSignal) => Promise<InnerOutcome>;

/** What is known of a tool before anybody calls it: what requests say of it. The rest comes with the first call. */
export type ToolHead = {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly family?: ToolFamily;
  readonly description: string;
  /** What a request says about it: always the same object, so that whoever has written it need not compare it. */
  readonly spec: ToolSpec;
  /** Characters of a result that reach the model, where the common limit does not fit the tool. */
  readonly resultCharacters?: number;
  /** Not offered until the model has loaded it with ToolSearch. */
  readonly deferred: boolean;
  /** Words by which ToolSearch finds it, beside those of its name and description. */
  readonly searchHint?: string;
  /** False: it is there and not for this session. Nobody is offered it, and no call runs it. */
  readonly enabled?: boolean;
  /** The whole tool. Most sessions use few of theirs. */
  load(): Promise<Tool>;
};

export type Tool<I = unknown> = ToolHead & {
  readonly input: Schema<I>;
  /** It runs programs of the model, which call other tools. */
  readonly runsPrograms?: boolean;
  /** The form of what it gives to programs; data of another form is a failed call. */
  readonly output?: Schema<unknown>;
  traits(input: I): ToolTraits;
  /** What the call would touch. Policy decides about exactly these. */
  claims(input: I, context: ToolContext): Promise<readonly Claim[]>;
  /** Whether the call makes sense, apart from whether it is allowed. A sentence tells the model what to correct. */
  check(input: I, context: ToolContext): Promise<string | undefined>;
  /** What the call would do, for who is asked about it; undefined where its claims and its input say it all. */
  preview?(input: I, context: ToolContext): Promise<Display | undefined>;
  /** Yields what to show while it works and returns the outcome. Settles soon after the signal fires. */
  run(input: I, context: ToolContext, signal: AbortSignal): AsyncGenerator<Display, ToolOutcome>;
};

export interface Toolbox {
  /** What can be called now, in any order. The same array while nothing has changed. */
  tools(): readonly BoxTool[];
  /** Whether it has had a tool of this name, or may have it again. */
  knows(name: string): boolean;
  /** Resolves when the first connections have settled or their time is up; later at once. Never rejects. */
  ready(signal: AbortSignal): Promise<void>;
  /** What the servers of its tools say about their use. */
  instructions?(): readonly ServerWords[];
}

/** The words of a server, whose tools have names that begin with `prefix`. */
export type ServerWords = { readonly server: string; readonly prefix: string; readonly words: string };

/** `joins`: when it comes late it joins the prompt at the next input instead of being announced. */
export type BoxTool = ToolHead & { readonly late?: "announced" | "joins" };
