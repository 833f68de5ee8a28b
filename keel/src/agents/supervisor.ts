/**
 * The agents of one session. Each is a session of its own whose log names the call that started it; it has the parts of
 * its parent, narrowed, and ends with it at the latest. What it does is told to the parent's host with its origin.
 */
import { enclose } from "../core/context/enclose.ts";
import { memberIntroduction, planFirst } from "../core/model-text.ts";
import { hasNews, isRunning } from "../core/state/task-state.ts";
import type { Session } from "../engine/session.ts";
import type { SessionPorts } from "../engine/step-context.ts";
import { whenAborted } from "../kernel/abort.ts";
import { graceMs } from "../kernel/deadline.ts";
import { fault } from "../kernel/fault.ts";
import { uuidFrom } from "../kernel/uuid.ts";
import type {
  AgentCallContext,
  AgentOrder,
  AgentOutcome,
  AgentSendOutcome,
  Agents,
  TeamCommands,
} from "../ports/agents.ts";
import type { Task, TaskEnd } from "../ports/tasks.ts";
import { isFarAddress, text } from "../protocol/message.ts";
import type { Display } from "../protocol/tool.ts";
import type { AgentLauncher } from "./launcher.ts";
import type { LedTeam } from "./led-team.ts";
import { hasWorked } from "./mail-bounds.ts";
import type { ParentSession } from "./plan.ts";
import type { AgentTree } from "./tree.ts";
import { Admission, above } from "./tree.ts";

export class AgentSupervisor implements Agents {
  readonly #tree: AgentTree;
  readonly #depth: number;
  readonly #admission: Admission;
  #launching: Promise<AgentLauncher> | undefined;
  #team: Promise<LedTeam> | undefined;
  /** Members of the team were at work when the process before this one ended. */
  #left = false;
  #reviving: Promise<void> | undefined;
  #parts: SessionPorts | undefined;
  #session: Session | undefined;

  constructor(tree: AgentTree, depth = 0) {
    this.#tree = tree;
    this.#depth = depth;
    this.#admission = new Admission(tree.limits);
    if (depth === 0) tree.ledBy(() => this.#lead());
  }

  /** Before its session is opened: what agents that were lost are settled with. */
  equip(parts: SessionPorts): void {
    this.#parts = parts;
  }

  /** The session whose agents these are. */
  attach(session: Session): void {
    this.#session = session;
    if (this.#depth > 0) return;
    session.onEvent((envelope) => {
      if (envelope.origin || envelope.type !== "input.accepted") return;
      if (envelope.input.from.kind === "person") this.#tree.bounds.restart(above);
    });
    const { team, tasks } = session.state;
    this.#left = team !== null && tasks.values().some((task) => isRunning(task) || hasNews(task));
  }

  /** Who was at work for the team when the process ended goes on, once somebody wants something of the session. */
  async revive(): Promise<void> {
    if (!this.#left) return;
    this.#reviving ??= this.#lead()
      .then((team) => team.revive())
      .then((isDone) => {
        this.#left = !isDone;
      })
      .finally(() => {
        this.#reviving = undefined;
      });
    await this.#reviving;
  }

  kinds(): readonly { name: string; description: string }[] {
    return this.#tree.ports.definitions().map(({ name, description }) => ({ name, description }));
  }

  async *start(
    order: AgentOrder,
    pick: AgentCallContext,
    signal: AbortSignal,
  ): AsyncGenerator<Display, AgentOutcome> {
    const { launchedOutcome, outcomeOf } = await import("./run.ts");
    const known = pick.tasks.list().find(({ data }) => data.kind === "agent" && data.callId === pick.callId);
    if (known && mayBeAtWork(known)) return launchedOutcome(known);
    if (known) {
      pick.tasks.tell(known.id);
      return outcomeOf(known);
    }
    const parent = this.#parent();
    const team = this.#depth === 0 && order.name !== undefined ? await this.#tree.team() : undefined;
    const why = team?.refusal(order.name ?? "");
    if (why !== undefined) return { ok: false, why };
    const name = team && parent.session.state.team?.name;
    const asked = briefed(order, name);
    const { planFor } = await import("./plan.ts");
    const plan = planFor(asked, { world: this.#tree.ports, parent });
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
    const task = await (await this.#launcher()).begin(plan.value, {
      order: asked,
      site: pick,
      signal,
      team: name,
    });
    if (plan.value.when === "background") return launchedOutcome(task);
    return yield* this.#follow(task, pick, signal);
  }

  async send(
    { to, text: words, approves }: { to: string; text: string; approves?: boolean | undefined },
    pick: AgentCallContext,
    signal: AbortSignal,
  ): Promise<AgentSendOutcome> {
    const { parts, session } = this.#parent();
    const agentId = parts.above?.origin.agentId;
    const call = `${session.id}/${pick.callId}`;
    if (isFarAddress(to)) return this.#sendFar({ to, words, call }, signal);
    const team = this.#depth < 2 ? await this.#tree.team() : undefined;
    const member = team?.nameOf(agentId);
    if (team && member !== undefined && (team.knows(to) || (to === above && agentId !== undefined)))
      return team.send({ from: member, to, words, call, approves });
    const from = agentId ?? above;
    const known = pick.tasks.list().findLast(({ id, data }) => id === to || data.name === to);
    const worked = hasWorked(session.state);
    const refused = this.#tree.bounds.pass({ from, to: known?.id ?? to, text: words, worked });
    if (refused !== undefined) return { ok: false, why: refused };
    const id = uuidFrom(`message/${call}/${to}`);
    // Who gave it its work speaks plainly; of everybody else it is told who speaks, which no words can change.
    const named = { from, id, content: [text(enclose("keel-message", { from }, words))] };
    if (to === above && parts.above) return this.#tree.mail.send({ ...named, to: parts.above.up });
    if (!known) return this.#tree.mail.send({ ...named, to });
    const message = { ...named, content: [text(words)] };
    if (known.data.kind === "agent" && !isRunning(known)) {
      // A call that runs again after a crash may have told it before.
      const { wasTold } = await import("./recover.ts");
      const { message: last, session: heardBy } = known.data;
      if (last === id && heardBy !== undefined && (await wasTold(this.#tree.ports.store, heardBy, id)))
        return { ok: true };
      const plans = approves ? false : known.data.plans;
      return (await this.#launcher()).goOn(known, { first: { ...message, from: above }, plans }, pick);
    }
    return this.#tree.mail.send({ ...message, to });
  }

  async team(): Promise<TeamCommands> {
    const team = await this.#tree.teamToBe();
    return team.commands(this.#parent().parts.above?.origin.agentId);
  }

  #lead(): Promise<LedTeam> {
    this.#team ??= Promise.all([import("./team.ts"), this.#launcher()]).then(
      ([{ TeamLead }, launcher]) =>
        new TeamLead({ tree: this.#tree, launcher, parent: () => this.#parent() }),
    );
    return this.#team;
  }

  /** Loaded with the first agent: most sessions have none. */
  #launcher(): Promise<AgentLauncher> {
    this.#launching ??= import("./launcher.ts").then(
      ({ AgentLauncher }) =>
        new AgentLauncher(this.#tree, {
          depth: this.#depth,
          parent: () => this.#parent(),
          below: () => new AgentSupervisor(this.#tree, this.#depth + 1),
        }),
    );
    return this.#launching;
  }

  /** To another session: the session itself, and no agent of it. */
  async #sendFar(
    { to, words, call }: { to: string; words: string; call: string },
    signal: AbortSignal,
  ): Promise<AgentSendOutcome> {
    const { parts, session } = this.#parent();
    const { bounds, ports } = this.#tree;
    if (parts.above) return { ok: false, why: "Only the main agent sends to other sessions: report to it." };
    if (!ports.peers) return { ok: false, why: "No other session can be reached from here." };
    const refused = bounds.pass({ from: above, to, text: words, worked: hasWorked(session.state) });
    if (refused !== undefined) return { ok: false, why: refused };
    const about = { id: uuidFrom(`message/${call}/${to}`), way: bounds.wayTo(to), signal };
    const { ok, why = "It was not taken." } = await ports.peers.send(session.id, to, words, about);
    return ok ? { ok } : { ok, why };
  }

  /** What became of an agent whose process has ended. */
  async recover(task: Task, team?: string): Promise<TaskEnd | "goes-on"> {
    const parts = this.#parts;
    if (!parts) throw fault("unexpected", { reason: "the supervisor has no parts yet" });
    const supervisor = new AgentSupervisor(this.#tree, this.#depth + 1);
    const { recoverAgent } = await import("./recover.ts");
    return recoverAgent(task, { ports: this.#tree.ports, parts, supervisor, team });
  }

  /** Until it has ended, is sent away, or its call is stopped. */
  async *#follow(
    task: Task,
    pick: AgentCallContext,
    signal: AbortSignal,
  ): AsyncGenerator<Display, AgentOutcome> {
    const { launchedOutcome, outcomeOf } = await import("./run.ts");
    const life = (await this.#launcher()).runOf(task.id);
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

  #parent(): ParentSession {
    if (!this.#parts || !this.#session)
      throw fault("unexpected", { reason: "the supervisor has no session yet" });
    return { session: this.#session, parts: this.#parts };
  }
}

/** Of a call that ran before, in a process that has ended: nothing is started, what is known of its agent is told. */
const mayBeAtWork = (task: Task): boolean => isRunning(task) || task.data.origin !== "waited";

/** What a member of a team and one that plans first are told before their task. */
function briefed(order: AgentOrder, team: string | undefined): AgentOrder {
  const { name = "", prompt, plans } = order;
  const words = [
    ...(team === undefined ? [] : [memberIntroduction(name, team)]),
    prompt,
    ...(plans ? [planFirst] : []),
  ];
  return words.length === 1
    ? order
    : { ...order, prompt: words.join("\n\n"), ...(team === undefined ? {} : { when: "background" }) };
}
