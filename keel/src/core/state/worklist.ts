/**
 * The model's worklist: the list of what is to be done, what it knows of plan mode, and which deferred tools it was told of
 * and has loaded. Folded from the log, so that it survives a resume and a compaction.
 */
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { PermissionMode, SessionSettings } from "../../protocol/settings.ts";
import type { Todo } from "../../protocol/tool.ts";

export type Worklist = {
  readonly todos: readonly Todo[];
  /** The highest number that a todo has had: none is used twice. */
  readonly lastTodo: number;
  /** Whether the conversation, as it is now, shows the list. */
  readonly knowsTodos: boolean;
  /** Replies since the list was changed or shown. */
  readonly repliesSinceTodos: number;
  readonly loaded: readonly string[];
  /** Deferred tools that the conversation, as it is now, speaks of. */
  readonly announced: readonly string[];
  /** Servers whose words about their use the conversation, as it is now, has. */
  readonly servers: readonly string[];
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
  /** How the session came here, which the conversation has not been told. */
  readonly arrival?: Extract<Durable, { type: "session.arrived" }> | undefined;
  /** Files that somebody else has changed, as the conversation was told, and that were not looked at since. */
  readonly changed: readonly string[];
  /** Passages of earlier conversations that this session was told: none is told twice. */
  readonly recalled: readonly string[];
};

/** Beyond these nobody looks what holds for a file. */
const maxLooked = 100;

export const emptyWorklist: Worklist = {
  todos: [],
  lastTodo: 0,
  knowsTodos: true,
  repliesSinceTodos: 0,
  loaded: [],
  announced: [],
  servers: [],
  mayRenew: false,
  knowsPlan: false,
  knowsMemory: false,
  modeBeforePlan: "default",
  briefed: false,
  instructed: [],
  looked: [],
  changed: [],
  recalled: [],
};

/** After so many replies without a change, a list with open entries is likely not what is being done. */
const staleReplies = 12;

/** Whether the model should be reminded of its list. */
export const hasStaleTodos = ({ todos, repliesSinceTodos }: Worklist): boolean =>
  repliesSinceTodos >= staleReplies && todos.some(({ status }) => status !== "completed");

/** Pure. Takes the state before the event. */
export const worklistAfter = (before: WorklistBefore, event: Durable): Worklist =>
  handle(changes, event, before) ?? before.worklist;

type WorklistBefore = { readonly worklist: Worklist; readonly settings: SessionSettings | null };

const changes: EventHandlers<Durable, [before: WorklistBefore], Worklist> = {
  "prompt.fixed": (_, { worklist }) => (worklist.mayRenew ? { ...worklist, mayRenew: false } : worklist),
  "settings.changed": ({ patch, why }, { worklist, settings }) => {
    const mode = patch.permissionMode;
    if (mode === undefined) return worklist;
    const modeBeforePlan = entersPlan(settings, mode)
      ? (settings?.permissionMode ?? "default")
      : worklist.modeBeforePlan;
    // Whoever changes it by a tool is told by the tool's result.
    return { ...worklist, modeBeforePlan, knowsPlan: why === "plan" ? mode === "plan" : worklist.knowsPlan };
  },
  "context.added": ({ why, files, tools, servers, changed, recalled }, { worklist, settings }) => {
    if (why === "plan") return { ...worklist, knowsPlan: settings?.permissionMode === "plan" };
    if (why === "todos") return { ...worklist, knowsTodos: true, repliesSinceTodos: 0 };
    if (why === "moved") return { ...worklist, arrival: undefined };
    if (why === "memory") return { ...worklist, knowsMemory: true };
    if (recalled) return { ...worklist, recalled: [...worklist.recalled, ...recalled] };
    if (changed) return { ...worklist, changed: [...worklist.changed, ...changed] };
    if (servers) return { ...worklist, servers: [...worklist.servers, ...servers] };
    if (files)
      return { ...worklist, briefed: true, instructed: [...new Set([...worklist.instructed, ...files])] };
    return tools ? { ...worklist, announced: [...worklist.announced, ...tools] } : worklist;
  },
  // Whose notes and instructions there are is another question here.
  "session.arrived": (event, { worklist }) =>
    event.undone
      ? worklist
      : { ...worklist, arrival: event, briefed: false, instructed: [], knowsMemory: false, looked: [] },
  "model.started": (_, { worklist }) =>
    worklist.looked.length === 0 ? worklist : { ...worklist, looked: [] },
  "model.finished": (_, { worklist }) =>
    worklist.todos.length === 0
      ? worklist
      : { ...worklist, repliesSinceTodos: worklist.repliesSinceTodos + 1 },
  "tool.finished": (event, { worklist }) => afterTool(worklist, event),
  "team.changed": ({ todos }, { worklist }) => (todos ? withTodos(worklist, todos) : worklist),
  // What was said may be gone with the messages that said it.
  "context.compacted": (_, { worklist }) => ({
    ...worklist,
    ...untold,
    knowsTodos: worklist.todos.length === 0,
  }),
  "context.cleared": (_, { worklist }) => ({ ...worklist, ...untold, todos: [], knowsTodos: true }),
  // What was loaded since stays loaded, and no number is given twice.
  "context.returned": ({ known: { shares: _, ...known } }, { worklist }) => ({
    ...worklist,
    ...known,
    repliesSinceTodos: 0,
    looked: [],
  }),
};

/** What a conversation no longer knows when its messages are gone. */
const untold = {
  mayRenew: true,
  announced: [],
  servers: [],
  knowsPlan: false,
  knowsMemory: false,
  briefed: false,
  instructed: [],
  changed: [],
} as const;

function afterTool(before: Worklist, event: Extract<Durable, { type: "tool.finished" }>): Worklist {
  const { todos, loads, seen } = event;
  const worklist = seen ? withLooked(before, seen) : before;
  const listed = todos ? withTodos(worklist, todos) : worklist;
  return loads ? { ...listed, loaded: [...new Set([...listed.loaded, ...loads])] } : listed;
}

function withTodos(worklist: Worklist, todos: readonly Todo[]): Worklist {
  const numbers = todos.map(({ id }) => Number(id)).filter(Number.isSafeInteger);
  const lastTodo = numbers.reduce((most, number) => Math.max(most, number), worklist.lastTodo);
  return { ...worklist, todos, lastTodo, knowsTodos: true, repliesSinceTodos: 0 };
}

function withLooked(worklist: Worklist, seen: readonly { path: string }[]): Worklist {
  const looked = [...new Set([...worklist.looked, ...seen.map(({ path }) => path)])];
  const changed = worklist.changed.filter((known) => seen.every(({ path }) => path !== known));
  return { ...worklist, looked: looked.slice(-maxLooked), changed };
}

const entersPlan = (settings: SessionSettings | null, mode: PermissionMode): boolean =>
  mode === "plan" && settings?.permissionMode !== "plan";
