/**
 * How a team is brought to its end: its leader asks, each member approves and finishes, or objects with a reason, and who
 * does not answer in time is stopped. Only what a member's own tool says is an answer; words in a report are none.
 */
import { enclose } from "../core/context/enclose.ts";
import { shutdownRequest } from "../core/model-text.ts";
import { isRunning } from "../core/state/task-state.ts";
import type { TeamMember, TeamState } from "../core/state/team-state.ts";
import { over } from "../kernel/abort.ts";
import { graceMs } from "../kernel/deadline.ts";
import { uuidFrom } from "../kernel/uuid.ts";
import type {
  AgentCallContext,
  ShutdownOutcome,
  ShutdownRequest,
  TeamCommands,
  TeamSaid,
} from "../ports/agents.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import { text } from "../protocol/message.ts";
import type { AgentLauncher } from "./launcher.ts";
import type { ParentSession } from "./plan.ts";
import { type AgentTree, above } from "./tree.ts";

export type TeamChange = Omit<Extract<DurableEvent, { type: "team.changed" }>, "type" | "team">;

type EndedBy = {
  readonly tree: AgentTree;
  readonly launcher: AgentLauncher;
  parent(): ParentSession;
  note(change: TeamChange): Promise<void>;
  /** After those who wake it now. */
  inTurn<T>(taskId: string, work: () => Promise<T>): Promise<T>;
};

type ShutdownAsk = PromiseWithResolvers<{ readonly approve: boolean; readonly reason: string | undefined }>;

/** Ending takes a moment: who must be down at the limit is stopped this long before it. */
const stopMs = 500;

export class TeamShutdowns {
  readonly #lead: EndedBy;
  readonly #requests = new Map<string, ShutdownAsk>();
  /** Has agreed to end, and is told nothing more. */
  readonly #leaving = new Set<string>();

  constructor(lead: EndedBy) {
    this.#lead = lead;
  }

  isLeaving(taskId: string): boolean {
    return this.#leaving.has(taskId);
  }

  async shutdown(
    request: ShutdownRequest,
    context: AgentCallContext,
    signal: AbortSignal,
  ): ReturnType<TeamCommands["shutdown"]> {
    const team = this.#state;
    if (!team) return { ok: false, words: "There is no team." };
    const active = [...team.members].filter(([, { hasLeft }]) => !hasLeft).map(([name]) => name);
    const wanted = [...new Set(request.members ?? active)];
    const outcomes = await Promise.all(wanted.map((name) => this.#shutOne(name, request, context, signal)));
    return { ok: true, outcomes };
  }

  async #shutOne(
    name: string,
    request: ShutdownRequest,
    context: AgentCallContext,
    signal: AbortSignal,
  ): Promise<ShutdownOutcome> {
    const member = this.#state?.members.get(name);
    if (!member) return { member: name, how: "unknown", words: "Nobody in the team has that name." };
    if (member.hasLeft) return { member: name, how: "left_before", words: "It had left before." };
    const { taskId } = member;
    const found = await this.#lead.inTurn(taskId, async () => {
      const run = await this.#lead.launcher.opened(taskId);
      return run ?? this.#left(name, "at_rest", "It was at rest.");
    });
    if ("how" in found) return found;
    const run = found;
    const heard = request.force ? "stop" : await this.#ask(name, member, request, { run, signal });
    if (typeof heard !== "string" && !heard.approve)
      return { member: name, how: "objected", words: heard.reason ?? "It gave no reason." };
    if (heard === "withdrawn")
      return { member: name, how: "objected", words: "The request was taken back before it was answered." };
    this.#leaving.add(taskId);
    try {
      const isOver =
        heard !== "stop" && (await context.tasks.wait(taskId, heard === "over" ? graceMs : heard.ms, signal));
      const ended = isOver && !isRunning(isOver) ? isOver : undefined;
      // Who waits for its end is told of it here, and not once more.
      const last = ended ?? context.tasks.wait(taskId, 2 * graceMs, new AbortController().signal);
      if (!ended) await run.stop("dropped");
      const task = await last;
      const words = task?.data.report ?? "";
      const report = words === "" ? "" : ` Its last words:\n${words}`;
      return ended
        ? await this.#left(name, "approved", `It has ended.${report}`)
        : await this.#left(name, "stopped", `It was stopped.${report}`);
    } finally {
      this.#leaving.delete(taskId);
    }
  }

  /** Settles with its answer and the time that is left, with its end, or when it must be stopped. */
  async #ask(
    name: string,
    { taskId }: TeamMember,
    { reason, ms }: ShutdownRequest,
    { run, signal }: { run: { over: Promise<unknown> }; signal: AbortSignal },
  ): Promise<{ approve: boolean; reason: string | undefined; ms: number } | "over" | "stop" | "withdrawn"> {
    const { clock, ids } = this.#lead.parent().parts;
    // Who is told to stop has a moment for it within the time.
    const endsAt = clock.monotonicMs() + Math.max(0, ms - stopMs);
    const request: ShutdownAsk = Promise.withResolvers();
    this.#requests.set(taskId, request);
    const done = new AbortController();
    try {
      const words = enclose("keel-shutdown-request", {}, shutdownRequest(reason, Math.round(ms / 1_000)));
      const sent = await this.#lead.tree.mail.send({
        from: above,
        to: taskId,
        id: uuidFrom(`shutdown/${ids.uuid()}/${name}`),
        content: [text(words)],
      });
      if (!sent.ok) return "stop";
      const left = (): number => Math.max(0, endsAt - clock.monotonicMs());
      const stopped = new Promise<"withdrawn">((resolve) =>
        signal.addEventListener("abort", () => resolve("withdrawn"), { once: true, signal: done.signal }),
      );
      return await Promise.race([
        request.promise.then((answer) => ({ ...answer, ms: left() })),
        run.over.then(() => "over" as const),
        clock.sleep(left(), done.signal).then(() => "stop" as const),
        stopped,
        ...(signal.aborted ? [Promise.resolve("withdrawn" as const)] : []),
      ]);
    } finally {
      this.#requests.delete(taskId);
      done.abort(over);
    }
  }

  async reply(
    agentId: string,
    { approve, reason }: { approve: boolean; reason: string | undefined },
  ): Promise<TeamSaid> {
    const request = this.#requests.get(agentId);
    if (!request)
      return { ok: false, words: "Nobody has asked you to shut down, or the time for it is over." };
    if (!approve && (reason === undefined || reason.trim() === ""))
      return { ok: false, words: "Say why not, in `reason`." };
    request.resolve({ approve, reason });
    return {
      ok: true,
      words: approve
        ? "Noted. Finish now: what you say last is your report."
        : "Your objection goes to the leader. Go on with your work.",
    };
  }

  /** It is down: nobody wakes it again, and what it had begun is free for others. */
  async #left(
    name: string,
    how: "approved" | "at_rest" | "stopped",
    words: string,
  ): Promise<ShutdownOutcome> {
    const { todos } = this.#session.state.worklist;
    const isIts = (todo: (typeof todos)[number]): boolean =>
      todo.owner === name && todo.status !== "completed";
    await this.#lead.note({ change: "left", member: name, why: how });
    if (todos.some(isIts)) {
      const freed = todos.map((todo) => {
        if (!isIts(todo)) return todo;
        const { owner: _, ...rest } = todo;
        return { ...rest, status: "pending" as const };
      });
      await this.#lead.note({ change: "listed", todos: freed, by: name });
    }
    return { member: name, how, words };
  }

  get #session(): ParentSession["session"] {
    return this.#lead.parent().session;
  }

  get #state(): TeamState | null {
    return this.#session.state.team;
  }
}
