/**
 * The list of a team: the leader's own, which its members read and change by the same tools. One change at a time, each
 * on record in the leader's log before anybody hears of it; a task has one owner, and is not begun before those that it
 * waits for are done.
 */
import { taskIsFree, taskIsYours } from "../core/model-text.ts";
import { resultOf } from "../kernel/one-by-one.ts";
import type { Tool, ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import type { Todo } from "../protocol/tool.ts";
import { above } from "./tree.ts";

/** The leader's side of it. */
export type ListHolder = {
  todos(): readonly Todo[];
  lastTodo(): number;
  /** Whether this call has changed the list before: its process ended before it knew. */
  hasChanged(call: string): boolean;
  record(change: { todos: Todo[]; by: string; call: string }): Promise<void>;
  isMember(name: string): boolean;
  tell(message: { from: string; to: string; words: string; call: string }): Promise<void>;
};

type TaskChange = {
  readonly taskId?: string;
  readonly status?: Todo["status"] | "deleted";
  readonly owner?: string;
};

export class TeamList {
  readonly #holder: ListHolder;
  /** The tools below those that were made here: a member's come from its leader. */
  readonly #plain = new WeakMap<Tool, Tool>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(holder: ListHolder) {
    this.#holder = holder;
  }

  /** A tool of the list, as `by` uses it. */
  shared(given: Tool, by: string): Tool {
    const tool = this.#plain.get(given) ?? given;
    const shared: Tool = {
      ...tool,
      load: async () => this.shared(tool, by),
      check: async (input, context) => tool.check(input, this.#inContext(context)),
      run: (input, context, signal) => this.#run(tool, { input: input as TaskChange, by, context, signal }),
    };
    this.#plain.set(shared, tool);
    return shared;
  }

  async *#run(
    tool: Tool,
    call: { input: TaskChange; by: string; context: ToolContext; signal: AbortSignal },
  ): AsyncGenerator<never, ToolOutcome> {
    const { outcome, told } = await this.#oneAtATime(() => this.#change(tool, call));
    for (const message of told) await this.#holder.tell(message);
    return outcome;
  }

  async #change(
    tool: Tool,
    {
      input,
      by,
      context,
      signal,
    }: { input: TaskChange; by: string; context: ToolContext; signal: AbortSignal },
  ): Promise<{ outcome: ToolOutcome; told: Parameters<ListHolder["tell"]>[0][] }> {
    const call = `${context.session}/${context.callId}`;
    const told = () => this.#news(input, by).map((one) => ({ ...one, call }));
    if (this.#holder.hasChanged(call)) return { outcome: said("The list was changed."), told: told() };
    const inContext = this.#inContext(context);
    const given = this.#claimed(input, by);
    const refused = this.#refused(given, by) ?? (await tool.check(given, inContext));
    if (refused !== undefined) return { outcome: { ...said(refused), failed: true }, told: [] };
    const { todos, ...outcome } = await resultOf(tool.run(given, inContext, signal));
    if (!todos) return { outcome, told: [] };
    await this.#holder.record({ todos, by, call });
    return { outcome, told: told() };
  }

  /** Who begins a task has it. */
  #claimed(input: TaskChange, by: string): TaskChange {
    const known = this.#find(input);
    const begins = known && input.status === "in_progress" && (input.owner ?? known.owner) === undefined;
    return begins ? { ...input, owner: by } : input;
  }

  #refused(input: TaskChange, by: string): string | undefined {
    const known = this.#find(input);
    if (!known) return undefined;
    const { id, owner, blockedBy = [] } = known;
    const isLeader = by === above;
    if (!isLeader && owner !== undefined && owner !== by)
      return `Task #${id} is ${owner}'s. Choose another, or ask ${owner}.`;
    if (!isLeader && input.owner !== undefined && input.owner !== by)
      return `Only the leader gives a task to somebody else. Take it yourself, or leave it.`;
    if (input.owner !== undefined && input.owner !== above && !this.#holder.isMember(input.owner))
      return `Nobody in the team is called ${input.owner}.`;
    const open = blockedBy.filter((blocker) => this.#isOpen(blocker));
    if ((input.status === "in_progress" || input.status === "completed") && open.length > 0)
      return `Task #${id} waits for ${open.map((blocker) => `#${blocker}`).join(", ")}. You are told when it can begin if it is yours.`;
    return undefined;
  }

  /** Whom this concerns beside who did it: nobody has to look again and again. */
  #news(input: TaskChange, by: string): { from: string; to: string; words: string }[] {
    const known = this.#find(input);
    if (!known) return [];
    const given = input.owner !== undefined && input.owner !== by && known.status !== "completed";
    const freed =
      input.status === "completed"
        ? this.#holder
            .todos()
            .filter(
              ({ owner, status, blockedBy = [] }) =>
                owner !== undefined &&
                owner !== by &&
                status === "pending" &&
                blockedBy.includes(known.id) &&
                !blockedBy.some((blocker) => this.#isOpen(blocker)),
            )
        : [];
    return [
      ...(given ? [{ from: by, to: input.owner, words: taskIsYours(known) }] : []),
      ...freed.map((todo) => ({ from: by, to: todo.owner ?? above, words: taskIsFree(todo, known.id) })),
    ];
  }

  #find = ({ taskId }: TaskChange): Todo | undefined =>
    taskId === undefined ? undefined : this.#holder.todos().find(({ id }) => id === taskId);

  #isOpen = (id: string): boolean =>
    this.#holder.todos().some((todo) => todo.id === id && todo.status !== "completed");

  #inContext(context: ToolContext): ToolContext {
    const { todos, lastTodo } = { todos: this.#holder.todos(), lastTodo: this.#holder.lastTodo() };
    return { ...context, worklist: () => ({ ...context.worklist(), todos, lastTodo }) };
  }

  #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work, work);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

const said = (words: string): ToolOutcome => ({
  content: [text(words)],
  display: { kind: "text", text: words },
});
