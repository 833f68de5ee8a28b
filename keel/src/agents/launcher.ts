/**
 * How an agent of a session comes to life: its session is opened with what it may have of its parent, and held until it
 * has ended. The same for one that is new, one that goes on after its end, and one whose process was killed at work.
 */
import { Session } from "../engine/session.ts";
import type { SessionPorts } from "../engine/step-context.ts";
import { fault, toFault } from "../kernel/fault.ts";
import type { AgentProfile } from "../ports/agent-definition.ts";
import type { AgentCallContext, AgentOrder, AgentSendOutcome, Agents } from "../ports/agents.ts";
import type { Log } from "../ports/store.ts";
import type { CallTasks, Task, TaskAbout, TaskOutputLocation } from "../ports/tasks.ts";
import type { Origin } from "../protocol/ask.ts";
import { billSince } from "../protocol/bill.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import { text } from "../protocol/message.ts";
import type { TaskData, Worktree } from "../protocol/task.ts";
import { noBill } from "../protocol/usage.ts";
import {
  type AgentPlan,
  type AgentSessionOptions,
  forkedInput,
  inherited,
  type ParentSession,
  parentHookContext,
  parentMode,
  planFor,
  portsFor,
} from "./plan.ts";
import { AgentRun, emptyLoggedRun, type FirstInput, type LoggedAgentRun } from "./run.ts";
import type { AgentExtras, AgentTree, IsolatedWorkspace } from "./tree.ts";

/** The agents of an agent. */
type Below = Agents & {
  equip(parts: SessionPorts): void;
  attach(session: Session): void;
  recover: NonNullable<SessionPorts["recover"]>;
};

/** What a wake needs of the call that wakes. */
export type WakeContext = {
  readonly tasks: CallTasks;
  readonly callId: string;
  readonly ledger?: AgentCallContext["ledger"];
};

type HeldAgent = {
  place: TaskOutputLocation;
  origin: Origin;
  order: Pick<AgentOrder, "description" | "name">;
  first: FirstInput | undefined;
  isolated: IsolatedWorkspace | undefined;
  extras: AgentExtras | undefined;
  lived: LoggedAgentRun;
  free: () => void;
};

export class AgentLauncher {
  readonly #tree: AgentTree;
  readonly #depth: number;
  readonly #parent: () => ParentSession;
  readonly #below: () => Below;
  readonly #runs = new Map<string, AgentRun>();
  /** On record as running, and not in our hands yet. */
  readonly #opening = new Map<string, Promise<unknown>>();

  constructor(tree: AgentTree, of: { readonly depth: number; parent(): ParentSession; below(): Below }) {
    this.#tree = tree;
    this.#depth = of.depth;
    this.#parent = of.parent;
    this.#below = of.below;
  }

  runOf(taskId: string): AgentRun | undefined {
    return this.#runs.get(taskId);
  }

  /** Until one that is being opened is there, or could not be. */
  async opened(taskId: string): Promise<AgentRun | undefined> {
    await this.#opening.get(taskId)?.catch(() => undefined);
    return this.#runs.get(taskId);
  }

  async begin(
    plan: AgentPlan,
    {
      order,
      site,
      signal,
      team,
    }: { order: AgentOrder; site: AgentCallContext; signal: AbortSignal; team: string | undefined },
  ): Promise<Task> {
    const parent = this.#parent();
    const { definition } = plan;
    const free = this.#tree.take();
    try {
      const isolated = plan.isolation === "worktree" ? await this.#isolate() : undefined;
      const id = parent.parts.ids.uuid();
      const about: TaskAbout = {
        kind: "agent",
        origin: plan.when === "background" ? "asked" : "waited",
        agent: definition.name,
        session: id,
        depth: this.#depth + 1,
        description: order.description,
        prompt: order.prompt,
        ...(order.name === undefined ? {} : { name: order.name }),
        ...(isolated ? { worktree: isolated.worktree } : {}),
        ...(team === undefined ? {} : { team }),
        ...(order.plans ? { plans: true } : {}),
      };
      return await site.tasks.start(about, (place) =>
        this.#noted(place.id, async () => {
          const workspace = isolated?.workspace ?? parent.parts.workspace;
          const { context } = await parent.parts.hooks.agentStarted(
            { agentId: place.id, kind: definition.name },
            parentHookContext(parent, signal),
          );
          const of = { cwd: workspace.cwd, parent: parent.session.id };
          const log = await this.#tree.ports.store.create(id, of);
          const opening = {
            log,
            origin: this.#originOf(place.id, { ...order, kind: definition.name, callId: site.callId }),
            workspace,
            ledger: isolated ? undefined : site.ledger,
            context,
            first: definition.inherits ? inherited(parent.session) : [],
            member: team === undefined ? undefined : (order.name ?? place.id),
          };
          const { session, extras } = await this.#open(plan, opening, signal);
          const { origin } = opening;
          const content = definition.inherits
            ? forkedInput(order.prompt)
            : [...(extras?.texts ?? []), text(order.prompt)];
          const held = { place, origin, order, isolated, extras, lived: emptyLoggedRun(noBill), free };
          return this.#hold(session, { ...held, first: { content, trace: site.trace } });
        }),
      );
    } catch (thrown) {
      free();
      throw thrown;
    }
  }

  /**
   * An agent that has ended, or that a crash has ended, works again in the background with all that it knew. Without
   * anything to tell it goes on where it was.
   */
  async goOn(
    { id, data }: Task,
    {
      first,
      plans,
      opened,
    }: {
      first: FirstInput | undefined;
      plans?: boolean | undefined;
      /** What it has used is known from here on: resolves when it may begin. */
      opened?: (() => Promise<void>) | undefined;
    },
    { tasks, callId, ledger }: WakeContext,
  ): Promise<AgentSendOutcome> {
    const { ports: world } = this.#tree;
    const parent = this.#parent();
    const request = { kind: data.agent ?? "", description: data.description ?? id, name: data.name };
    const rest = { prompt: "", model: undefined, effort: undefined, isolation: undefined, plans };
    const plan = planFor({ ...request, ...rest, when: "background" }, { world, parent });
    if (!plan.ok) return plan;
    if (data.session === undefined) return { ok: false, why: `${id} cannot go on: its log is not known.` };
    // Nobody knows yet what it did and cost.
    if (data.unsettled)
      return { ok: false, why: `${id} cannot go on: its log could not be read or written.` };
    const log = await this.#logOf(data.session, first?.begins === true);
    const free = this.#tree.take();
    try {
      const isolated = data.worktree ? await this.#isolate(data.worktree) : undefined;
      const worktree = isolated?.worktree ?? data.worktree;
      const woken = first ? { since: log.lastSeq, message: first.id } : { since: data.since };
      // The team that it was in may be no more.
      const team = parent.session.state.team?.name === data.team ? data.team : undefined;
      const about = { ...aboutOf(data), team, worktree, ...woken, plans: plans === true, id };
      let run: AgentRun | undefined;
      await tasks.start(about, (place) =>
        this.#noted(id, async () => {
          const workspace = isolated?.workspace ?? parent.parts.workspace;
          const origin = this.#originOf(id, { ...request, callId: data.callId ?? callId });
          const own = { log, origin, workspace, ledger: isolated ? undefined : ledger, context: [] };
          const member = team === undefined ? undefined : (data.name ?? id);
          const opening = { ...own, member, ...(first ? { unfinished: "lost" as const } : {}) };
          const { session, extras } = await this.#open(plan.value, opening, new AbortController().signal);
          // What it was told to keep to at its start holds no longer.
          if (data.plans && !plans)
            await session.submit({ type: "set", patch: { permissionMode: parentMode(parent) } });
          // What it did and used in a life that a crash has cut is told and paid with its end.
          const lived = first ? emptyLoggedRun(session.state.bill) : await this.#livedSince(log, data.since);
          this.#tree.budget.add(billSince(session.state.bill, lived.before));
          await opened?.();
          const held = { place, origin, order: request, isolated, extras, free };
          const told = first?.begins
            ? { ...first, content: [...(extras?.texts ?? []), ...first.content] }
            : first;
          run = this.#hold(session, { ...held, first: told, lived });
          return run;
        }),
      );
      // Words that no log has taken were said to nobody.
      return first && run && !(await run.told)
        ? { ok: false, why: `${id} could not be told: its log cannot be written.` }
        : { ok: true };
    } catch (thrown) {
      free();
      await log.close();
      throw thrown;
    }
  }

  async #livedSince(log: Log, since: number | undefined): Promise<LoggedAgentRun> {
    const { readLoggedRun } = await import("./recover.ts");
    return (await readLoggedRun(log.read(), since)).found;
  }

  /** One that was lost before it had a log gets it now. */
  async #logOf(id: string, begins: boolean): Promise<Log> {
    const { store } = this.#tree.ports;
    const { session, parts } = this.#parent();
    return store.open(id).catch((thrown: unknown) => {
      if (!begins || toFault(thrown).code !== "session_unknown") throw thrown;
      return store.create(id, { cwd: parts.workspace.cwd, parent: session.id });
    });
  }

  #noted(id: string, open: () => Promise<AgentRun>): Promise<AgentRun> {
    const opening = open().finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  async #isolate(known?: Worktree): Promise<IsolatedWorkspace> {
    const { parts } = this.#parent();
    const { isolate } = this.#tree.ports;
    const found = await isolate?.(parts.workspace, parts.ids.uuid().slice(-12), known);
    if (!found?.ok)
      throw fault("usage", { reason: found?.why ?? "There is no folder of its own to be had here." });
    return found.place;
  }

  #originOf(
    agentId: string,
    { kind, callId, description }: { kind: string; callId: string; description: string },
  ): Origin {
    return { agentId, parentCallId: callId, kind, depth: this.#depth + 1, description };
  }

  async #open(
    plan: AgentPlan,
    {
      first,
      unfinished,
      ...own
    }: Pick<AgentSessionOptions, "log" | "origin" | "workspace" | "ledger" | "context" | "member"> & {
      first?: DurableEvent[];
      unfinished?: "lost";
    },
    signal: AbortSignal,
  ): Promise<{ session: Session; extras: AgentExtras | undefined }> {
    const supervisor = this.#below();
    const extras = await this.#extras(plan.definition, signal);
    try {
      const opening = { ...own, tree: this.#tree, supervisor, parent: this.#parent(), extras };
      const { parts, start } = portsFor(plan, opening);
      supervisor.equip(parts);
      const session = await Session.open(parts, {
        start,
        ...(first ? { first } : {}),
        ...(unfinished ? { unfinished } : {}),
      });
      supervisor.attach(session);
      return { session, extras };
    } catch (thrown) {
      await extras?.close();
      throw thrown;
    }
  }

  /** What its kind brings along; a person hears of what could not be had. A fork has what its parent has. */
  async #extras(definition: AgentProfile, signal: AbortSignal): Promise<AgentExtras | undefined> {
    if (definition.inherits) return undefined;
    const { session, parts } = this.#parent();
    const extras = await this.#tree.ports.extras?.(definition, signal);
    for (const words of extras?.problems ?? []) {
      const notice = { type: "notice.raised", level: "warning", text: words } as const;
      session.relay({ at: parts.clock.now(), session: session.id, ...notice });
    }
    return extras;
  }

  #hold(session: Session, held: HeldAgent): AgentRun {
    const { place, origin, order, isolated } = held;
    const above = this.#parent().session;
    const leaveTree = this.#tree.join({ id: place.id, name: order.name }, session);
    session.onEvent((envelope) => {
      above.relay({ ...envelope, origin: envelope.origin ?? origin });
      if (envelope.type === "ask.closed" && !envelope.origin)
        void this.#tree.learn(session.state.learnt.allow);
    });
    const { outputFile } = place;
    const { append } = this.#tree.ports;
    const run = new AgentRun(
      session,
      {
        kind: origin.kind,
        description: order.description,
        lived: held.lived,
        write: (words) => {
          if (outputFile !== undefined) void append?.(above.id, outputFile, words).catch(() => undefined);
        },
        leave: async () => {
          leaveTree();
          held.free();
          await held.extras?.close();
          const kept = await isolated?.leave();
          return kept === "kept"
            ? `Its changes are in the worktree ${isolated?.worktree.path}, on the branch ${isolated?.worktree.branch}.`
            : undefined;
        },
      },
      held.first,
    );
    this.#runs.set(place.id, run);
    void run.over.then(() => {
      this.#runs.delete(place.id);
      this.#tree.bounds.reported(order.name ?? place.id, "main");
    });
    return run;
  }
}

/** What it is, without how it ended: its report is told, and its bill is paid. */
function aboutOf({ kind, description, agent, session, depth, name, prompt, team }: TaskData): TaskAbout {
  return { kind, origin: "asked", description, agent, session, depth, name, prompt, team };
}
