/** What a session and all agents below it share: who they are, what they may spend, and how they reach each other. */

import { isRunning } from "../core/state/task-state.ts";
import type { Session } from "../engine/session.ts";
import type { SessionPorts } from "../engine/step-context.ts";
import { fault, toFault } from "../kernel/fault.ts";
import type { Refused, Result } from "../kernel/result.ts";
import type { AgentProfile } from "../ports/agent-definition.ts";
import type { AgentCallContext, Agents, SessionPeers } from "../ports/agents.ts";
import type { Artifacts } from "../ports/artifacts.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";
import type { Tool, Toolbox, ToolHead } from "../ports/tool.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { Ask } from "../protocol/ask.ts";
import type { Command } from "../protocol/command.ts";
import type { InputBlock } from "../protocol/message.ts";
import type { Worktree } from "../protocol/task.ts";
import type { TreeBudget } from "./budget.ts";
import type { LedTeam } from "./led-team.ts";
import { MailBounds } from "./mail-bounds.ts";

/** What agents need of the world beside the parts of their parent. */
export type AgentPorts = {
  readonly version: string;
  definitions(): readonly AgentProfile[];
  /** Where logs stand, and what is kept beside them. */
  readonly store: Pick<Store, "create" | "open" | "read" | "location"> & ArtifactStore;
  /** The tools that give work to agents, over the supervisor of the session that uses them. */
  tools(agents: Agents): readonly ToolHead[];
  /** The name under which a model is asked, or why it cannot be. */
  resolveModel(name: string): Result<string>;
  system(about: { definition: AgentProfile; workspace: Workspace }): readonly string[];
  /** What its kind brings along: skills and servers. Absent where there are none to be had. */
  extras?(definition: AgentProfile, signal: AbortSignal): Promise<AgentExtras>;
  /** Sessions elsewhere; absent where none can be reached. */
  readonly peers?: SessionPeers | undefined;
  /** Adds to what the task of a session has said so far; absent where nothing is kept. */
  append?(session: string, file: string, text: string): Promise<void>;
  /** A folder of its own for an agent, the one that it had before if that still stands; absent where there is none to be had. */
  isolate?(
    workspace: Workspace,
    name: string,
    known?: Worktree,
  ): Promise<{ readonly ok: true; readonly place: IsolatedWorkspace } | Refused>;
};

export type AgentExtras = {
  /** What it is told before its task. */
  readonly texts: readonly InputBlock[];
  /** Sentences for a person: what it wanted and has not got. */
  readonly problems: readonly string[];
  /** Its own tools beside those that its parent leaves it. */
  join(box: Toolbox | undefined): Toolbox | undefined;
  close(): Promise<void>;
};

type ArtifactStore = { readonly artifacts: Pick<Artifacts, "put" | "file"> };

/** What a session keeps beside its log, as the engine asks for it. */
export function sessionArtifacts(
  { artifacts }: ArtifactStore,
  session: string,
): Pick<SessionPorts, "spill" | "taskFile" | "plan"> {
  const spill: SessionPorts["spill"] = async (name, text) => {
    const { path, bytes } = await artifacts.put({ session, kind: "output", name }, text);
    return { path, bytes };
  };
  // Plans and the output of tasks are written by tools and commands, which need a file.
  const plan = artifacts.file({ session, kind: "plan", name: "plan.md" });
  if (!plan) return { spill };
  // An empty text makes the file; the task then writes into it.
  return { spill, plan, taskFile: async (name) => (await spill(name, "")).path };
}

export type IsolatedWorkspace = {
  readonly workspace: Workspace;
  readonly worktree: Worktree;
  /** Removes it when nothing in it has changed; otherwise it stays, and others may have it. */
  leave(): Promise<"removed" | "kept">;
};

export class AgentTree {
  readonly ports: AgentPorts;
  readonly budget: TreeBudget;
  readonly limits: AgentLimits;
  readonly mail = new Mail();
  readonly bounds: MailBounds;
  readonly #members = new Map<string, Session>();
  #places = 0;
  #root: Session | undefined;
  #lead: (() => Promise<LedTeam>) | undefined;

  constructor({ world, budget, limits }: { world: AgentPorts; budget: TreeBudget; limits: AgentLimits }) {
    this.ports = world;
    this.budget = budget;
    this.limits = limits;
    this.bounds = new MailBounds(budget.clock);
    budget.onExhausted((reason) => {
      for (const session of this.sessions()) session.halt(reason);
    });
  }

  /** The session that a host opened. From here the budget counts. */
  plant(root: Session, clock: Clock): void {
    this.#root = root;
    this.budget.warn = ({ level, text }) => {
      const notice = { type: "notice.raised", level, text, code: "budget_near" } as const;
      root.relay({ at: clock.now(), session: root.id, ...notice });
    };
    this.mail.register({ id: root.id, isListed: false, deliver: (message) => deliverTo(root, message) });
    this.budget.begin(root.state.bill);
  }

  /** Who makes the team of the root, when it has one. */
  ledBy(team: () => Promise<LedTeam>): void {
    this.#lead = team;
  }

  /** The team, where there is one; its code comes with the first. */
  async team(): Promise<LedTeam | undefined> {
    return this.#root?.state.team ? this.#lead?.() : undefined;
  }

  /** Also where there is none yet. */
  async teamToBe(): Promise<LedTeam> {
    if (!this.#lead) throw fault("unexpected", { reason: "nobody leads this tree" });
    return this.#lead();
  }

  /** A tool of the list works on the leader's where there is a team. */
  sharing(tool: ToolHead, by: string): ToolHead {
    if (!listTools.has(tool.name)) return tool;
    const load = async (): Promise<Tool> => {
      const [own, team] = [await tool.load(), await this.team()];
      return team ? team.list.shared(own, by) : own;
    };
    return { ...tool, load };
  }

  /** The tools of the root. */
  led(tools: readonly ToolHead[]): ToolHead[] {
    return tools.map((tool) => this.sharing(tool, above));
  }

  /** A member can always speak and answer; its list is the team's. */
  toolsOfMember(member: string, chosen: readonly ToolHead[], bound: readonly ToolHead[]): ToolHead[] {
    const has = new Set(chosen.map(({ name }) => name));
    const more = bound.filter(({ name }) => memberTools.has(name) && !has.has(name));
    const all = [...chosen, ...more].toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return all.map((tool) => this.sharing(tool, member));
  }

  get running(): number {
    return this.#places;
  }

  /** Holds a place from before an agent is started until it has ended. */
  take(): () => void {
    this.#places++;
    return () => {
      this.#places--;
      // Who waited for this one can end now, if nothing is left to spend.
      this.budget.enforce();
    };
  }

  join({ id, name }: AgentAddress, session: Session): () => void {
    this.#members.set(id, session);
    const leave = this.mail.register({ id, name, deliver: (message) => deliverTo(session, message) });
    return () => {
      leave();
      this.#members.delete(id);
    };
  }

  sessions(): Session[] {
    return [...(this.#root ? [this.#root] : []), ...this.#members.values()];
  }

  /** Whom an answer is for, or whoever runs the task or the call. The root, where nobody is found. */
  holderOf(wanted: { askId: string } | { taskId: string } | { callId: string }): Session | undefined {
    return this.sessions().find(({ state }) => {
      if ("askId" in wanted) return state.asks.some(({ id }) => id === wanted.askId);
      if ("taskId" in wanted) {
        const task = state.tasks.get(wanted.taskId);
        return task !== undefined && isRunning(task);
      }
      return state.calls.byId.get(wanted.callId)?.status === "started";
    });
  }

  /** An answer, a stop and a wish for the background may be for an agent of the session. */
  holderFor(command: Command): Session | undefined {
    if (command.type === "answer") return this.holderOf({ askId: command.askId });
    if (command.type === "stop") return this.holderOf({ taskId: command.taskId });
    return command.type === "background" && command.callId !== undefined
      ? this.holderOf({ callId: command.callId })
      : undefined;
  }

  asks(): Ask[] {
    return this.sessions().flatMap(({ state }) => state.asks);
  }

  /** What a person allowed for the rest of the session holds for all of it, whoever asked. */
  async learn(rules: readonly string[]): Promise<void> {
    const known = this.#root?.state.learnt.allow ?? [];
    const added = rules.filter((rule) => !known.includes(rule));
    if (added.length === 0) return;
    const change = { type: "rules" as const, change: "add" as const, list: "allow" as const, rules: added };
    // A session that ends learns nothing any more.
    await this.#root?.submit({ type: "set", patch: { permissions: [change] } }).catch(() => undefined);
  }
}

const listTools: ReadonlySet<string> = new Set(["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]);
const memberTools: ReadonlySet<string> = new Set(["SendMessage", "ShutdownReply"]);

/** A word from another joins what is being done, at its next safe boundary. */
async function deliverTo(session: Session, { from, content, id }: AgentMessage): Promise<void> {
  await session.submit({
    type: "input",
    ...(id === undefined ? {} : { id }),
    content: [...content],
    from: { kind: "agent", name: from },
    when: "now",
  });
}

/** How many agents there may be, how deep, and from when on a person is asked first. */
export type AgentLimits = Readonly<Record<"maxDepth" | "maxAtOnce" | "maxUnasked", number>>;

export const defaultAgentLimits: AgentLimits = {
  // Below the session of the host. Deeper ones have lost sight of what was asked.
  maxDepth: 3,
  // Over the whole tree. More than a provider answers at once; each is a conversation in memory.
  maxAtOnce: 32,
  // In one turn. A handful of searches is ordinary; more is a bill that a person should know of.
  maxUnasked: 8,
};

/** Who of one session may start another agent now: within the limits at once, beyond what is usual after a question. */
export class Admission {
  readonly #limits: AgentLimits;
  #turn = { id: "", started: 0, agreed: 0 };
  #consent: Promise<boolean> | undefined;

  constructor(limits: AgentLimits) {
    this.#limits = limits;
  }

  /** Undefined when it may start, otherwise why not. Counts those that may. */
  async enter(
    request: { turn: string; depth: number; running: () => number; description: string },
    context: AgentCallContext,
  ): Promise<string | undefined> {
    const { maxDepth, maxAtOnce, maxUnasked } = this.#limits;
    if (request.depth > maxDepth)
      return `Agents may not start agents this deep (${maxDepth}). Do it yourself.`;
    if (this.#turn.id !== request.turn) this.#turn = { id: request.turn, started: 0, agreed: 0 };
    for (;;) {
      if (request.running() >= maxAtOnce)
        return `${maxAtOnce} agents run already, which is the most. Wait for one to end.`;
      const { started: inTurn, agreed } = this.#turn;
      const most = Math.max(maxUnasked, agreed);
      if (inTurn < most) {
        this.#turn.started++;
        return undefined;
      }
      const { description } = request;
      // One question for all that wait.
      this.#consent ??= this.#ask(context, { description, inTurn, upTo: most * 2 }).finally(() => {
        this.#consent = undefined;
      });
      if (!(await this.#consent))
        return "Not started: the user did not agree to this many agents in one turn.";
    }
  }

  async #ask(
    context: AgentCallContext,
    { description, inTurn, upTo }: { description: string; inTurn: number; upTo: number },
  ): Promise<boolean> {
    const { verdict } = await context.ask({
      kind: "permission",
      title: `Start more than ${inTurn} agents in one turn?`,
      body: { kind: "text", text: `This turn has started ${inTurn} agents. The next one: ${description}` },
      reason: "each agent is a conversation of its own, with its own cost",
      options: [
        { id: "once", label: `Yes, up to ${upTo} in this turn`, verdict: "allow" },
        { id: "no", label: "No", verdict: "deny" },
      ],
    });
    if (verdict === "allow") this.#turn.agreed = upTo;
    return verdict === "allow";
  }
}

/**
 * Who can be told something, and by which name. An agent is known by its id and, if it was given one, by its name; the
 * session above an agent is `main` to it. A word from another is input, by the same command that a person uses. Teams
 * and channels register their members here by the same two lines.
 */
type AgentAddress = { readonly id: string; readonly name?: string | undefined };

type AgentMessage = {
  /** The name under which the receiver knows the sender. */
  readonly from: string;
  readonly to: string;
  readonly content: readonly InputBlock[];
  /** A second one of the same id is the same message. */
  readonly id?: string | undefined;
};

type Delivery =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly why: string; readonly isFull?: boolean };

export const above = "main";

type Mailbox = AgentAddress & {
  /** Whether others are told that it is there; it is when left out. */
  readonly isListed?: boolean;
  deliver(message: AgentMessage): Promise<void>;
};

class Mail {
  readonly #boxes = new Map<string, Mailbox>();

  /** The newest of a name gets its letters. Returns what takes it away again. */
  register(box: Mailbox): () => void {
    this.#boxes.set(box.id, box);
    return () => {
      if (this.#boxes.get(box.id) === box) this.#boxes.delete(box.id);
    };
  }

  find(to: string): AgentAddress | undefined {
    return this.#boxes.get(to) ?? [...this.#boxes.values()].findLast(({ name }) => name === to);
  }

  /** Settles when the receiver has it on record. */
  async send(message: AgentMessage): Promise<Delivery> {
    const found = this.find(message.to);
    const box = found && this.#boxes.get(found.id);
    if (!box) return { ok: false, why: `Nobody here is called ${message.to}. ${this.#who()}` };
    try {
      await box.deliver(message);
      return { ok: true, id: box.id };
    } catch (thrown) {
      if (toFault(thrown).code === "queue_full")
        return {
          ok: false,
          isFull: true,
          why: `Too many messages wait for ${message.to} already. Wait until it has read them.`,
        };
      return { ok: false, why: `${message.to} takes no messages any more.` };
    }
  }

  #who(): string {
    const listed = [...this.#boxes.values()].filter(({ isListed = true }) => isListed);
    const names = listed.map(({ id, name }) => name ?? id);
    return names.length === 0 ? "No agent is at work." : `At work: ${names.join(", ")}.`;
  }
}
