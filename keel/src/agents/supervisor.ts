/**
 * The agents of one session. Each is a session of its own whose log names the call that started it; it has the parts of
 * its parent, narrowed, and ends with it at the latest. What it does is told to the parent's host with its origin.
 */
import { isRunning } from "../core/state/task-state.ts";
import { Session } from "../engine/session.ts";
import type { SessionPorts } from "../engine/step-context.ts";
import { whenAborted } from "../kernel/abort.ts";
import { graceMs } from "../kernel/deadline.ts";
import { fault } from "../kernel/fault.ts";
import type { AgentProfile } from "../ports/agent-definition.ts";
import type { AgentCallContext, AgentOrder, AgentOutcome, Agents } from "../ports/agents.ts";
import type { Task, TaskAbout, TaskEnd, TaskOutputLocation } from "../ports/tasks.ts";
import type { Origin } from "../protocol/ask.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import { type InputBlock, text } from "../protocol/message.ts";
import type { TaskData } from "../protocol/task.ts";
import type { Display } from "../protocol/tool.ts";
import { type Bill, noBill } from "../protocol/usage.ts";
import {
  type AgentPlan,
  type AgentSessionOptions,
  forkedInput,
  inherited,
  type ParentSession,
  parentHookContext,
  planFor,
  portsFor,
} from "./plan.ts";
import { AgentRun, launchedOutcome, outcomeOf } from "./run.ts";
import type { AgentExtras, AgentTree, IsolatedWorkspace } from "./tree.ts";
import { Admission, above } from "./tree.ts";

/** What the address of a session behind a bridge begins with. */
const bridgeAddress = "bridge:";

export class AgentSupervisor implements Agents {
  readonly #tree: AgentTree;
  readonly #depth: number;
  readonly #admission: Admission;
  readonly #lives = new Map<string, AgentRun>();
  #parts: SessionPorts | undefined;
  #session: Session | undefined;

  constructor(tree: AgentTree, depth = 0) {
    this.#tree = tree;
    this.#depth = depth;
    this.#admission = new Admission(tree.limits);
  }

  /** Before its session is opened: what agents that were lost are settled with. */
  equip(parts: SessionPorts): void {
    this.#parts = parts;
  }

  /** The session whose agents these are. */
  attach(session: Session): void {
    this.#session = session;
  }

  kinds(): readonly { name: string; description: string }[] {
    return this.#tree.ports.definitions().map(({ name, description }) => ({ name, description }));
  }

  async *start(
    order: AgentOrder,
    pick: AgentCallContext,
    signal: AbortSignal,
  ): AsyncGenerator<Display, AgentOutcome> {
    const known = pick.tasks.list().find(({ data }) => data.kind === "agent" && data.callId === pick.callId);
    if (known) return knownOutcome(known, pick);
    const parent = this.#parent();
    const plan = planFor(order, { world: this.#tree.ports, parent });
    if (!plan.ok) return plan;
    const refused = await this.#admission.enter(
      {
        turn: parent.session.state.turn?.id ?? "",
        depth: this.#depth + 1,
        running: () => this.#tree.running,
        description: order.description,
      },
      pick,
    );
    if (refused !== undefined) return { ok: false, why: refused };
    const task = await this.#begin(plan.value, { order, site: pick, signal });
    if (plan.value.when === "background") return launchedOutcome(task);
    return yield* this.#follow(task, pick, signal);
  }

  async send(
    { to, text: words }: { to: string; text: string },
    pick: AgentCallContext,
  ): ReturnType<Agents["send"]> {
    const { parts } = this.#parent();
    const from = parts.above?.origin.agentId ?? above;
    if (to.startsWith(bridgeAddress)) return this.#sendAcross(to, words);
    const content = [text(words)];
    if (to === above && parts.above) return this.#tree.mail.send({ from, to: parts.above.up, content });
    const known = pick.tasks.list().findLast(({ id, data }) => id === to || data.name === to);
    if (known?.data.kind === "agent" && !isRunning(known)) return this.#goOn(known, words, pick);
    return this.#tree.mail.send({ from, to, content });
  }

  /** Over a bridge: the session itself, and no agent of it. */
  async #sendAcross(to: string, words: string): ReturnType<Agents["send"]> {
    const { parts, session } = this.#parent();
    const { peers } = this.#tree.ports;
    if (parts.above) return { ok: false, why: "Only the main agent sends over a bridge: report to it." };
    if (!peers) return { ok: false, why: "No session behind a bridge can be reached from here." };
    const { ok, why = "It was not taken." } = await peers.send(session.id, to, words);
    return ok ? { ok } : { ok, why };
  }

  /** What became of an agent whose process has ended. */
  async recover(task: Task): Promise<TaskEnd> {
    const parts = this.#parts;
    if (!parts) throw fault("unexpected", { reason: "the supervisor has no parts yet" });
    const supervisor = new AgentSupervisor(this.#tree, this.#depth + 1);
    const { recoverAgent } = await import("./recover.ts");
    return recoverAgent(task, { ports: this.#tree.ports, parts, supervisor });
  }

  /** Until it has ended, is sent away, or its call is stopped. */
  async *#follow(
    task: Task,
    pick: AgentCallContext,
    signal: AbortSignal,
  ): AsyncGenerator<Display, AgentOutcome> {
    const life = this.#lives.get(task.id);
    const away = pick.tasks.sentAway().then(() => "away" as const);
    const stopped = whenAborted(signal).then(() => "stopped" as const);
    const shown = life?.progress[Symbol.asyncIterator]();
    let next = shown?.next();
    while (life && next) {
      const seen = await Promise.race([next, away, stopped]);
      if (seen === "away") return launchedOutcome((await pick.tasks.move(task.id)) ?? task);
      if (seen === "stopped") {
        await life.stop();
        break;
      }
      if (seen.done) break;
      yield seen.value;
      next = shown?.next();
    }
    // Its end is on record before its call's.
    const ended = await pick.tasks.wait(task.id, graceMs, new AbortController().signal);
    return outcomeOf(ended ?? task);
  }

  async #begin(
    plan: AgentPlan,
    { order, site, signal }: { order: AgentOrder; site: AgentCallContext; signal: AbortSignal },
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
      };
      return await site.tasks.start(about, async (place) => {
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
        };
        const { session, extras } = await this.#open(plan, opening, signal);
        const { origin } = opening;
        const content = definition.inherits
          ? forkedInput(order.prompt)
          : [...(extras?.texts ?? []), text(order.prompt)];
        return this.#hold(session, { place, origin, order, content, isolated, extras, before: noBill, free });
      });
    } catch (thrown) {
      free();
      throw thrown;
    }
  }

  async #isolate(): Promise<IsolatedWorkspace> {
    const { parts } = this.#parent();
    const { isolate } = this.#tree.ports;
    const found = await isolate?.(parts.workspace, parts.ids.uuid().slice(-12));
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
    }: Pick<AgentSessionOptions, "log" | "origin" | "workspace" | "ledger" | "context"> & {
      first?: DurableEvent[];
      unfinished?: "lost";
    },
    signal: AbortSignal,
  ): Promise<{ session: Session; extras: AgentExtras | undefined }> {
    const supervisor = new AgentSupervisor(this.#tree, this.#depth + 1);
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

  #hold(
    session: Session,
    held: {
      place: TaskOutputLocation;
      origin: Origin;
      order: Pick<AgentOrder, "description" | "name">;
      content: readonly InputBlock[];
      isolated: IsolatedWorkspace | undefined;
      extras: AgentExtras | undefined;
      before: Bill;
      free: () => void;
    },
  ): AgentRun {
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
    const life = new AgentRun(
      session,
      {
        kind: origin.kind,
        description: order.description,
        before: held.before,
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
      held.content,
    );
    this.#lives.set(place.id, life);
    void life.over.then(() => this.#lives.delete(place.id));
    return life;
  }

  /** An agent that has ended works again, in the background, with all that it knew. */
  async #goOn({ id, data }: Task, words: string, pick: AgentCallContext): ReturnType<Agents["send"]> {
    const { ports: world } = this.#tree;
    const parent = this.#parent();
    const request = { kind: data.agent ?? "", description: data.description ?? id, name: data.name };
    const rest = { prompt: words, model: undefined, effort: undefined, isolation: undefined };
    const plan = planFor({ ...request, ...rest, when: "background" }, { world, parent });
    if (!plan.ok) return plan;
    if (data.session === undefined) return { ok: false, why: `${id} cannot go on: its log is not known.` };
    // Nobody knows yet what it did and cost.
    if (data.unsettled)
      return { ok: false, why: `${id} cannot go on: its log could not be read or written.` };
    const log = await world.store.open(data.session);
    const free = this.#tree.take();
    try {
      await pick.tasks.start({ ...aboutOf(data), id, since: log.lastSeq }, async (place) => {
        const { workspace } = parent.parts;
        const { ledger } = pick;
        const origin = this.#originOf(id, { ...request, callId: data.callId ?? pick.callId });
        const opening = { log, origin, workspace, ledger, context: [], unfinished: "lost" } as const;
        const { session, extras } = await this.#open(plan.value, opening, new AbortController().signal);
        const held = { place, origin, order: request, isolated: undefined, extras, free };
        return this.#hold(session, { ...held, content: [text(words)], before: session.state.bill });
      });
      return { ok: true };
    } catch (thrown) {
      free();
      await log.close();
      throw thrown;
    }
  }

  #parent(): ParentSession {
    if (!this.#parts || !this.#session)
      throw fault("unexpected", { reason: "the supervisor has no session yet" });
    return { session: this.#session, parts: this.#parts };
  }
}

/** A call that ran before, in a process that has ended: what is known of its agent, and nothing is started. */
function knownOutcome(task: Task, { tasks }: AgentCallContext): AgentOutcome {
  if (isRunning(task) || task.data.origin !== "waited") return launchedOutcome(task);
  tasks.tell(task.id);
  return outcomeOf(task);
}

/** What it is, without how it ended: its report is told, and its bill is paid. */
function aboutOf({ kind, description, agent, session, depth, name, prompt, worktree }: TaskData): TaskAbout {
  return { kind, origin: "asked", description, agent, session, depth, name, prompt, worktree };
}
