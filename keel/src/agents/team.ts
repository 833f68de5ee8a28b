/**
 * A team: named agents of one session that work with each other. A member that has nothing to do is at rest: it costs
 * nothing, its end was told to the leader, and the next message wakes it with all that it knew. A message is input, by
 * the same command that a person uses; nobody looks whether one has come. The leader's log says who is in the team.
 */
import { enclose } from "../core/context/enclose.ts";
import { isRunning } from "../core/state/task-state.ts";
import type { TeamMember, TeamState } from "../core/state/team-state.ts";
import { toFault } from "../kernel/fault.ts";
import { uuidFrom } from "../kernel/uuid.ts";
import type { AgentSendOutcome, TeamCommands, TeamSaid } from "../ports/agents.ts";
import type { Task, TaskEnd, TaskWork } from "../ports/tasks.ts";
import { text } from "../protocol/message.ts";
import type { TaskData } from "../protocol/task.ts";
import { noBill } from "../protocol/usage.ts";
import type { AgentLauncher } from "./launcher.ts";
import type { LedTeam, TeamMessage } from "./led-team.ts";
import { hasWorked } from "./mail-bounds.ts";
import type { ParentSession } from "./plan.ts";
import { wasTold } from "./recover.ts";
import { TeamList } from "./team-list.ts";
import { type TeamChange, TeamShutdowns } from "./team-shutdown.ts";
import { type AgentTree, above } from "./tree.ts";

type Lead = { readonly tree: AgentTree; readonly launcher: AgentLauncher; parent(): ParentSession };

const everybody = "*";
/** What a member is called: it must not be taken for an address of another kind. */
const namePattern = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]{0,58}[\p{L}\p{N}._-])?$/u;
/** Names that read alike are one name. */
const asRead = (name: string): string => name.normalize("NFKC").toLowerCase();

export class TeamLead implements LedTeam {
  readonly #lead: Lead;
  readonly list: TeamList;
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #shutdowns: TeamShutdowns;

  constructor(lead: Lead) {
    this.#lead = lead;
    this.#shutdowns = new TeamShutdowns({
      ...lead,
      note: (change) => this.#note(change),
      inTurn: (taskId, work) => this.#inTurn(taskId, work),
    });
    this.list = new TeamList({
      todos: () => this.#session.state.worklist.todos,
      lastTodo: () => this.#session.state.worklist.lastTodo,
      hasChanged: (call) => this.#state?.calls.includes(call) === true,
      record: ({ todos, by, call }) => this.#note({ change: "listed", todos, by, call }),
      isMember: (name) => this.#state?.members.get(name)?.hasLeft === false,
      // Who is told cannot be waited for by who tells: both may be at it.
      tell: async (message) => void (await this.send(message)),
    });
  }

  /** Under which name an agent is in the team; undefined for one that is not. The leader is `main`. */
  nameOf(agentId: string | undefined): string | undefined {
    if (agentId === undefined) return above;
    return [...(this.#state?.members ?? [])].find(([, { taskId }]) => taskId === agentId)?.[0];
  }

  /** Whether mail to it is the team's. */
  knows(to: string): boolean {
    return to === everybody || this.#find(to) !== undefined;
  }

  /** Why nobody of that name can join. */
  refusal(name: string): string | undefined {
    if (!namePattern.test(name) || asRead(name) === above)
      return `${JSON.stringify(name)} is no name for a member of a team: letters, digits, blanks and . _ - make one.`;
    for (const [taken, { taskId, hasLeft }] of this.#state?.members ?? []) {
      const hasFailed = this.#session.state.tasks.get(taskId)?.status === "failed";
      if (asRead(taken) === asRead(name) && !hasLeft && !hasFailed)
        return `${taken} is in the team already. Use SendMessage to give it more work, or choose another name.`;
    }
    return undefined;
  }

  async send({ from, to, ...rest }: TeamMessage): Promise<AgentSendOutcome> {
    if (rest.approves && from !== above)
      return { ok: false, why: "Not sent: only the leader of the team approves a plan." };
    const members = [...(this.#state?.members ?? [])];
    const others = members.filter(([name, { hasLeft }]) => name !== from && !hasLeft).map(([name]) => name);
    if (to !== everybody) return this.#toOne({ from, to, ...rest });
    const all = from === above ? others : [above, ...others];
    const sent = await Promise.all(all.map((name) => this.#toOne({ from, to: name, ...rest })));
    const told = sent.filter(({ ok }) => ok).length;
    const why = sent.flatMap((one) => (one.ok ? [] : [one.why]));
    if (told === 0) return { ok: false, why: why[0] ?? "Nobody else is in the team." };
    return { ok: true, told };
  }

  commands(agentId: string | undefined): TeamCommands {
    const onlyLeader = async (): Promise<TeamSaid & { ok: false }> => ({
      ok: false,
      words: "Only the leader of the team does that.",
    });
    if (agentId !== undefined)
      return {
        create: onlyLeader,
        end: onlyLeader,
        shutdown: onlyLeader,
        reply: (answer) => this.#shutdowns.reply(agentId, answer),
      };
    return {
      create: (about) => this.#create(about),
      end: () => this.#end(),
      shutdown: (request, context, signal) => this.#shutdowns.shutdown(request, context, signal),
      reply: async () => ({ ok: false, words: "You lead the team: nobody asks you to shut down." }),
    };
  }

  /** After a crash: who was at work goes on where it was. */
  async revive(): Promise<boolean> {
    const members = [...this.#session.state.tasks.values()].filter(({ data }) => data.team !== undefined);
    const lost = members.filter((task) => isRunning(task) && !this.#lead.launcher.runOf(task.id));
    // What each has used before is on the budget of all before anybody spends more.
    const opened = lost.map(() => Promise.withResolvers<void>());
    const all = Promise.all(opened.map(({ promise }) => promise)).then(() => undefined);
    await Promise.all(
      lost.map((task, at) => {
        const open = (): void => opened[at]?.resolve();
        const ready = (): Promise<void> => {
          open();
          return all;
        };
        return this.#goOn(task, ready).finally(open);
      }),
    );
    for (const { id } of members) this.#session.tasks.announce(id);
    return lost.every(({ id }) => {
      const task = this.#session.state.tasks.get(id);
      return !task || !isRunning(task) || this.#lead.launcher.runOf(id) !== undefined;
    });
  }

  async #goOn(task: Task, opened: () => Promise<void>): Promise<void> {
    const { callId = task.id, prompt, session = "", plans } = task.data;
    const rests = await this.#unheard(task);
    if (rests) return this.#settle(task, rests);
    const tasks = this.#session.tasks.forCall(callId);
    // One that was not told anything yet begins.
    const hasSome = (thrown: unknown): boolean => toFault(thrown).code !== "session_unknown";
    const begins =
      prompt !== undefined && !(await wasTold(this.#lead.tree.ports.store, session).catch(hasSome));
    const first = begins ? { content: [text(prompt)], id: uuidFrom(`prompt/${session}`), begins } : undefined;
    const outcome = await this.#lead.launcher
      .goOn(task, { first, plans, opened }, { tasks, callId })
      .catch((thrown: unknown): AgentSendOutcome => ({ ok: false, why: toFault(thrown).message }));
    const now = this.#session.state.tasks.get(task.id);
    if (outcome.ok || !now || !isRunning(now)) return;
    // Its end has to be on record, or everybody would wait for it; with it its own log comes to its end.
    await this.#settle(now, await this.#endOf(now, outcome.why));
  }

  async #settle({ id, data }: Task, end: TaskEnd): Promise<void> {
    const work: TaskWork = {
      over: Promise.resolve(end),
      output: () => "",
      stop: async () => undefined,
    };
    const tasks = this.#session.tasks.forCall(data.callId ?? id);
    await tasks.start({ ...data, id }, async () => work).catch(() => undefined);
  }

  /** The crash came before the words were on record that woke it: it rests as before, and whoever said them says them again. */
  async #unheard(task: Task): Promise<TaskEnd | undefined> {
    const { message, session = "" } = task.data;
    const { tree, parent } = this.#lead;
    const isKnown = (): boolean => true;
    if (message === undefined || (await wasTold(tree.ports.store, session, message).catch(isKnown)))
      return undefined;
    const before = { ...task, data: { ...task.data, since: undefined } };
    const found = await parent().parts.recover?.(before);
    // What it has cost was paid with the end of that life.
    return found === undefined || found === "goes-on" ? undefined : { ...found, bill: noBill, told: true };
  }

  async #endOf(task: Task, why: string): Promise<TaskEnd> {
    const found = await this.#lead.parent().parts.recover?.(task);
    const failed = { status: "failed" as const, summary: `${task.data.description}: ${why}`, error: why };
    if (found === undefined || found === "goes-on") return { ...failed, unsettled: true };
    if (found.bill) this.#lead.tree.budget.add(found.bill);
    return found.status === "completed" ? found : { ...found, ...failed };
  }

  async #toOne({ from, to, words, call, approves }: TeamMessage): Promise<AgentSendOutcome> {
    const { tree } = this.#lead;
    const found = to === above ? { name: above, member: undefined } : this.#find(to);
    if (!found) return { ok: false, why: `Nobody in the team is called ${to}.` };
    const { name, member } = found;
    if (name === from) return { ok: false, why: "That is you." };
    if (member?.hasLeft) return { ok: false, why: `${name} has left the team and takes no messages.` };
    if (member && this.#shutdowns.isLeaving(member.taskId))
      return { ok: false, why: `${name} is about to leave the team and takes no messages.` };
    const id = uuidFrom(`message/${call}/${name}`);
    const sender = from === above ? this.#session : this.#runOf(from)?.session;
    const worked = sender === undefined || hasWorked(sender.state);
    const refused = tree.bounds.pass({ from, to: name, text: words, worked });
    if (refused !== undefined) return { ok: false, why: refused };
    const message = { from, id, content: [text(enclose("keel-message", { from }, words))] };
    if (!member) return tree.mail.send({ ...message, to: this.#session.id });
    return this.#inTurn(member.taskId, () => this.#toMember(name, member, { ...message, approves }));
  }

  /** At work it hears of it at its next step; at rest it is woken. */
  async #toMember(
    name: string,
    { taskId, session, kind }: TeamMember,
    {
      approves,
      ...message
    }: Omit<Parameters<AgentTree["mail"]["send"]>[0], "to" | "id"> & {
      id: string;
      approves?: boolean | undefined;
    },
  ): Promise<AgentSendOutcome> {
    const { tree, launcher } = this.#lead;
    // Whoever was before in its turn may have let it go.
    if (this.#state?.members.get(name)?.hasLeft)
      return { ok: false, why: `${name} has left the team and takes no messages.` };
    const run = await launcher.opened(taskId);
    if (run) {
      const sent = await tree.mail.send({ ...message, to: taskId });
      if (sent.ok || sent.isFull) return sent;
      // It was about to end: its end is told, and then it goes on.
      await run.over;
    }
    // One that ended long ago is known by the team alone.
    const data: TaskData = {
      kind: "agent",
      agent: kind,
      session,
      name,
      team: this.#state?.name,
      description: name,
    };
    const rest = { status: "completed", startedAt: 0, endedAt: 0, isTold: true } as const;
    const task: Task = this.#session.state.tasks.get(taskId) ?? { id: taskId, data, ...rest };
    if (isRunning(task)) return { ok: false, why: `${name} cannot be reached now.` };
    if (task.data.message === message.id && (await wasTold(tree.ports.store, session, message.id)))
      return { ok: true };
    const callId = task.data.callId ?? taskId;
    const plans = approves ? false : task.data.plans;
    const tasks = this.#session.tasks.forCall(callId);
    try {
      return await launcher.goOn(task, { first: message, plans }, { tasks, callId });
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      return { ok: false, why: `${name} cannot go on: ${reason}` };
    }
  }

  async #create({ name, description }: Parameters<TeamCommands["create"]>[0]): Promise<TeamSaid> {
    const known = this.#state;
    if (known && known.name !== name)
      return { ok: false, words: `You lead the team ${known.name} already. Use TeamDelete first.` };
    const { session } = this.#lead.parent();
    if (!known)
      await session.tasks.note({
        type: "team.changed",
        team: name,
        change: "formed",
        ...(description === undefined ? {} : { description }),
      });
    return {
      ok: true,
      words: `The team ${name} is there. Each agent that you start with a name is a member: it can be told something by SendMessage, also by the others, and shares your task list. What a member says last is its report to you; then it rests until it is told something. Use TeamShutdown when the work is done, then TeamDelete.`,
    };
  }

  async #end(): Promise<TeamSaid> {
    const team = this.#state;
    if (!team) return { ok: true, words: "There is no team." };
    const busy = [...team.members].filter(([, { taskId }]) => this.#lead.launcher.runOf(taskId));
    if (busy.length > 0) {
      const names = busy.map(([name]) => name).join(", ");
      return { ok: false, words: `Still at work: ${names}. Shut them down first, with TeamShutdown.` };
    }
    await this.#note({ change: "ended" });
    return { ok: true, words: `The team ${team.name} is no more.` };
  }

  async #note(change: TeamChange): Promise<void> {
    await this.#session.tasks.note({ type: "team.changed", team: this.#state?.name ?? "", ...change });
  }

  #find(to: string): { name: string; member: TeamMember } | undefined {
    const members = this.#state?.members;
    const named = members?.get(to);
    if (named) return { name: to, member: named };
    const [name, member] = [...(members ?? [])].find(([, { taskId }]) => taskId === to) ?? [];
    return name !== undefined && member ? { name, member } : undefined;
  }

  #runOf(name: string): ReturnType<AgentLauncher["runOf"]> {
    const member = this.#state?.members.get(name);
    return member && this.#lead.launcher.runOf(member.taskId);
  }

  /** One after the other, so that nobody is woken twice and what one says keeps its order. */
  #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const next = (this.#queues.get(key) ?? Promise.resolve()).then(work, work);
    const settled = next.catch(() => undefined);
    this.#queues.set(key, settled);
    void settled.then(() => {
      if (this.#queues.get(key) === settled) this.#queues.delete(key);
    });
    return next;
  }

  get #session(): ParentSession["session"] {
    return this.#lead.parent().session;
  }

  get #state(): TeamState | null {
    return this.#session.state.team;
  }
}
