/**
 * The model's desk: the list of what is to be done, what it knows of plan mode, and which deferred tools it was told of
 * and has loaded. Folded from the log, so that it survives a resume and a compaction.
 */
import type { Durable } from "../../protocol/event.ts";
import type { PermissionMode, SessionSettings } from "../../protocol/settings.ts";
import type { Todo } from "../../protocol/tool.ts";

export type Desk = {
  readonly todos: readonly Todo[];
  /** The highest number that a todo has had: none is used twice. */
  readonly lastTodo: number;
  /** Whether the conversation, as it is now, shows the list. */
  readonly knowsTodos: boolean;
  readonly loaded: readonly string[];
  /** Deferred tools that the conversation, as it is now, speaks of. */
  readonly announced: readonly string[];
  /** The conversation was read anew since the prompt was set: what is declared in vain may go. */
  readonly mayRenew: boolean;
  /** Whether the conversation says that plan mode is on. */
  readonly knowsPlan: boolean;
  readonly modeBeforePlan: PermissionMode;
  /** Whether the conversation, as it is now, shows the index of notes. */
  readonly knowsMemory: boolean;
  /** Whether the conversation, as it is now, was told what it must know at its start. */
  readonly briefed: boolean;
  /** Instruction files whose text the conversation has. */
  readonly instructed: readonly string[];
  /** Files that were looked at since the last request. */
  readonly looked: readonly string[];
};

/** Beyond these nobody looks what holds for a file. */
const mostLooked = 100;

export const emptyDesk: Desk = {
  todos: [],
  lastTodo: 0,
  knowsTodos: true,
  loaded: [],
  announced: [],
  mayRenew: false,
  knowsPlan: false,
  knowsMemory: false,
  modeBeforePlan: "default",
  briefed: false,
  instructed: [],
  looked: [],
};

/** Pure. Takes the state before the event. */
export function deskAfter(
  { desk, settings }: { desk: Desk; settings: SessionSettings | null },
  event: Durable,
): Desk {
  switch (event.type) {
    case "prompt.fixed":
      return desk.mayRenew ? { ...desk, mayRenew: false } : desk;
    case "settings.changed": {
      const mode = event.patch.permissionMode;
      if (mode === undefined) return desk;
      const modeBeforePlan = entersPlan(settings, mode)
        ? (settings?.permissionMode ?? "default")
        : desk.modeBeforePlan;
      // Whoever changes it by a tool is told by the tool's result.
      return { ...desk, modeBeforePlan, knowsPlan: event.why === "plan" ? mode === "plan" : desk.knowsPlan };
    }
    case "context.added":
      if (event.why === "plan") return { ...desk, knowsPlan: settings?.permissionMode === "plan" };
      if (event.why === "todos") return { ...desk, knowsTodos: true };
      if (event.why === "memory") return { ...desk, knowsMemory: true };
      if (event.files)
        return { ...desk, briefed: true, instructed: [...new Set([...desk.instructed, ...event.files])] };
      return event.tools ? { ...desk, announced: [...desk.announced, ...event.tools] } : desk;
    case "model.started":
      return desk.looked.length === 0 ? desk : { ...desk, looked: [] };
    case "tool.finished":
      return afterTool(desk, event);
    case "context.compacted":
      // What was said may be gone with the messages that said it.
      return { ...desk, ...untold, knowsTodos: desk.todos.length === 0 };
    case "context.cleared":
      return { ...desk, ...untold, todos: [], knowsTodos: true };
    default:
      return desk;
  }
}

/** What a conversation no longer knows when its messages are gone. */
const untold = {
  mayRenew: true,
  announced: [],
  knowsPlan: false,
  knowsMemory: false,
  briefed: false,
  instructed: [],
} as const;

function afterTool(before: Desk, event: Extract<Durable, { type: "tool.finished" }>): Desk {
  const { todos, loads, seen } = event;
  const desk = seen ? withLooked(before, seen) : before;
  if (!todos && !loads) return desk;
  const numbers = (todos ?? []).map(({ id }) => Number(id)).filter(Number.isSafeInteger);
  return {
    ...desk,
    todos: todos ?? desk.todos,
    knowsTodos: todos !== undefined || desk.knowsTodos,
    lastTodo: numbers.reduce((most, number) => Math.max(most, number), desk.lastTodo),
    loaded: loads ? [...new Set([...desk.loaded, ...loads])] : desk.loaded,
  };
}

function withLooked(desk: Desk, seen: readonly { path: string }[]): Desk {
  const looked = [...new Set([...desk.looked, ...seen.map(({ path }) => path)])];
  return { ...desk, looked: looked.slice(-mostLooked) };
}

const entersPlan = (settings: SessionSettings | null, mode: PermissionMode): boolean =>
  mode === "plan" && settings?.permissionMode !== "plan";
