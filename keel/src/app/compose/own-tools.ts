/** Tools of the program that opens a session: functions in this process, as tools of the engine. */
import { whenAborted } from "../../kernel/abort.ts";
import { lateSignal } from "../../kernel/deadline.ts";
import { isJson, isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { whileRunning } from "../../kernel/queue.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import type { SchemaIssue } from "../../kernel/schema.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { ServerWords, Tool, Toolbox, ToolOutcome } from "../../ports/tool.ts";
import { type ResultPart, text } from "../../protocol/message.ts";
import type { Display } from "../../protocol/tool.ts";

export type OwnTool = Tool & { readonly server?: ServerWords | undefined };

export type OwnToolOptions = {
  readonly name: string;
  readonly description: string;
  /** What a model is told about the input. */
  readonly json: JsonObject;
  readonly parse: (input: Record<string, unknown>) => Result<unknown, SchemaIssue[]>;
  /** Its author says that it changes nothing; permission is asked all the same. */
  readonly readOnly: boolean;
  /** What the server that it belongs to says about its use. */
  readonly server?: ServerWords | undefined;
  /** None when left out: a call may take as long as it takes. */
  readonly timeoutMs?: number | undefined;
  /** May throw: that is a failed call. */
  run(input: unknown, call: OwnCall): Promise<OwnResult>;
};

export type OwnCall = {
  readonly callId: string;
  readonly signal: AbortSignal;
  progress(words: string): void;
};

export type OwnResult = {
  readonly content: ResultPart[];
  readonly data?: Json | undefined;
  readonly failed: boolean;
  /** What screens show; its words when left out. */
  readonly display?: Display | undefined;
};

export function ownTool(options: OwnToolOptions): OwnTool {
  const tool = defineTool<{ value: unknown }>({
    name: options.name,
    description: options.description,
    input: {
      json: options.json,
      parse(value) {
        if (!isObject(value)) return failed([{ path: "", message: "the input must be an object" }]);
        const parsed = options.parse(value);
        return parsed.ok ? ok({ value: parsed.value }) : parsed;
      },
    },
    traits: { readOnly: options.readOnly, concurrent: options.readOnly },
    async *run({ value }, { callId, clock }, signal) {
      using late = options.timeoutMs === undefined ? undefined : lateSignal(clock, options.timeoutMs);
      const any = late ? AbortSignal.any([signal, late.signal]) : signal;
      const stopped = whenAborted(any).then(() =>
        failure(late?.signal.aborted ? "The tool took too long." : "The call was stopped."),
      );
      const result = yield* whileRunning<Display, OwnResult>((tell) => {
        const progress = (words: string) => tell({ kind: "text", text: words });
        return Promise.race([options.run(value, { callId, signal: any, progress }), stopped]);
      });
      return outcomeOf(result);
    },
  });
  return { ...(tool as Tool), server: options.server };
}

const failure = (words: string): OwnResult => ({ content: [text(words)], failed: true });

function outcomeOf({ content, data, failed: hasFailed, display }: OwnResult): ToolOutcome {
  const words = content.flatMap((part) => (part.type === "text" ? [part.text] : [`(${part.type})`]));
  return {
    content,
    display: display ?? { kind: "text", text: words.join("\n") },
    ...(hasFailed ? { failed: true } : {}),
    ...(data === undefined || !isJson(data) ? {} : { data }),
  };
}

export type OwnToolbox = Toolbox & { set(tools: readonly OwnTool[]): void };

/** `isOffered`: what rules deny outright is not there at all. */
export function ownToolbox(given: readonly OwnTool[], isOffered: (tool: OwnTool) => boolean): OwnToolbox {
  const known = new Set<string>();
  let current: readonly OwnTool[] = [];
  const set = (tools: readonly OwnTool[]): void => {
    // The program is here and its tools are few: they join the prompt, nobody has to look for them.
    current = tools.filter(isOffered).map((tool) => ({ ...tool, late: "joins" as const }));
    for (const { name } of current) known.add(name);
  };
  set(given);
  return {
    tools: () => current,
    knows: (name) => known.has(name),
    ready: async () => undefined,
    instructions: () => [
      ...new Map(current.flatMap(({ server }) => (server ? [[server.server, server]] : []))).values(),
    ],
    set,
  };
}

/** Several boxes as one. What servers outside of the process offer is another box. */
export function joinBoxes(boxes: readonly Toolbox[]): Toolbox {
  let parts: readonly ReturnType<Toolbox["tools"]>[] = [];
  let joined: ReturnType<Toolbox["tools"]> = [];
  return {
    tools() {
      const now = boxes.map((box) => box.tools());
      // The same array while nothing has changed.
      if (now.length !== parts.length || now.some((tools, index) => tools !== parts[index])) {
        parts = now;
        joined = now.flat();
      }
      return joined;
    },
    knows: (name) => boxes.some((box) => box.knows(name)),
    ready: async (signal) => void (await Promise.all(boxes.map((box) => box.ready(signal)))),
    instructions: () => boxes.flatMap((box) => box.instructions?.() ?? []),
  };
}
