/** The laws of a session and all agents below it: those of each log, and what holds between the logs. */
import { isRunning } from "../../keel/src/core/state/task-state.ts";
import type { ModelRequest } from "../../keel/src/ports/model.ts";
import type { Task } from "../../keel/src/ports/tasks.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { textOf } from "../../keel/src/protocol/message.ts";
import { contextTokens, type ModelInfo } from "../../keel/src/protocol/usage.ts";
import { chargesIn } from "./budget-checks.ts";
import { Checks } from "./checks.ts";
import type { Disk, Disks } from "./disk.ts";
import type { HookWords } from "./hooks.ts";
import type { Promises } from "./host.ts";
import { type Effects, forbidden, senseless } from "./tools.ts";
import type { World } from "./world.ts";

/** Waits of one session at once: calls, their deadlines, asks, tasks, hooks. More is a leak. */
const maxWaits = 400;

export class TreeChecks {
  readonly complaints: string[] = [];
  readonly #world: World;
  readonly #disks: Disks;
  readonly #root: string;
  readonly #logs = new Map<string, Checks>();

  constructor(world: World, disks: Disks, root: string) {
    this.#world = world;
    this.#disks = disks;
    this.#root = root;
  }

  /** Looks at what is new on the disks. */
  follow(): void {
    for (const [id, disk] of this.#disks.all) {
      if (disk.lines.length > 0 || id === this.#root) this.#of(id, disk).follow();
    }
  }

  /** After every step. */
  always(promises: Promises, effects: Effects): void {
    this.#top.keeps(promises);
    for (const [id, checks] of this.#logs) {
      // An agent whose log is broken comes to its end there when the session above is opened again.
      if (id !== this.#root && this.#disks.get(id)?.failures.has("full")) checks.forgive();
      checks.always();
    }
    for (const [call, times] of effects.runs) {
      if (times > 1) this.#top.complain(`call ${call} had its effect ${times} times`);
      if (promises.denied.has(call)) this.#top.complain(`call ${call} was denied and ran`);
    }
    if (this.#world.waiting > maxWaits * Math.max(1, this.#logs.size))
      this.#top.complain(`${this.#world.waiting} waits are under way`);
  }

  /** The session of the host is to end soon from now on. */
  stopping(what: string): void {
    this.#top.stopping(what);
  }

  /** The machine went down, or a disk failed: nobody can be held to a time. */
  excuse(): void {
    for (const checks of this.#logs.values()) checks.excuse();
  }

  atRequest(request: ModelRequest, info: ModelInfo): string[] {
    this.follow();
    return this.#logs.get(request.session)?.atRequest(request, info) ?? ["a request is of no session"];
  }

  /** A call has its effect: its start is on disk, nobody has denied it, and its input may be. */
  atEffect(callId: string, at: string | undefined, said: HookWords): void {
    this.follow();
    const top = this.#top;
    if (![...this.#logs.values()].some((checks) => checks.hasStarted(callId)))
      top.complain(`call ${callId} had its effect before its start was on disk`);
    if (at === forbidden) top.complain(`call ${callId} ran with an input that a rule denies`);
    if (at === senseless) top.complain(`call ${callId} ran with an input that its tool refuses`);
    if (said.get(callId) === "deny") top.complain(`call ${callId} was denied by a hook and ran`);
  }

  /** When all is calm and nothing is left to do. */
  atTheEnd(promises: Promises): void {
    const none = { refused: new Set<string>() };
    for (const [id, checks] of this.#logs) checks.atTheEnd(id === this.#root ? promises : none);
    const silent = this.#world.faults.filter(({ kind }) => kind === "stall").length;
    const stalls = [...this.#logs.values()].reduce((sum, checks) => sum + checks.stalls, 0);
    if (stalls > silent) this.#top.complain(`${stalls} streams were given up, ${silent} were silent`);
    const starters = new Set<string>();
    for (const [id, checks] of this.#logs) if (id !== this.#root) this.#lookAtAgent(id, checks, starters);
    this.#lookAtBill();
  }

  get #top(): Checks {
    return this.#of(this.#root, this.#disks.get(this.#root) ?? this.#disks.create(this.#root));
  }

  #of(id: string, disk: Disk): Checks {
    const known = this.#logs.get(id);
    if (known) return known;
    const name = id === this.#root ? "" : `agent ${id}: `;
    const checks = new Checks(this.#world, disk, { name, complaints: this.complaints });
    this.#logs.set(id, checks);
    return checks;
  }

  /** One call starts one agent, whose parent knows of its end, and of what it reported. */
  #lookAtAgent(id: string, checks: Checks, starters: Set<string>): void {
    const disk = this.#disks.get(id);
    const events = disk?.eventsAfter(0) ?? [];
    const [first] = events;
    const parent = first?.type === "session.opened" ? first.parent : undefined;
    if (!parent) return checks.complain("it has no parent");
    const starter = `${parent.session} ${parent.callId}`;
    if (starters.has(starter)) checks.complain(`call ${parent.callId} started another one before`);
    starters.add(starter);
    const above = this.#logs.get(parent.session);
    const task = [...(above?.state.tasks.values() ?? [])].find(({ data }) => data.session === id);
    if (!above || !task) return checks.complain("its parent does not know of it");
    if (isRunning(task)) return; // Said by the log of its parent.
    const report = reportIn(events);
    if (report !== undefined && !task.data.report?.includes(report))
      checks.complain(`its report is lost: ${report.slice(0, 30)}`);
    if (report !== undefined && hasEndedWell(events) && task.status !== "completed")
      checks.complain(`it has ended well, and its parent says ${task.status}`);
    if (task.isTold && task.status === "completed") this.#lookAtTelling(task, parent.session, checks);
  }

  /** Whose end counts as told was told: by the result of its call, or by an input. */
  #lookAtTelling({ id, data }: Task, parent: string, checks: Checks): void {
    const events = this.#disks.get(parent)?.eventsAfter(0) ?? [];
    const isNoticed = events.some(
      (event) =>
        (event.type === "input.accepted" &&
          event.input.from.kind === "task" &&
          event.input.from.taskId === id) ||
        ((event.type === "turn.started" || event.type === "input.joined") && event.tasks?.includes(id)),
    );
    const results = events.filter((event) => event.type === "tool.finished" && event.callId === data.callId);
    // Who waits for it to leave the team hears its last words by the result of that call.
    const hasLeft = events.some(
      (event) => event.type === "team.changed" && event.change === "left" && event.member === data.name,
    );
    if (hasLeft) return;
    if (!isNoticed && (data.origin !== "waited" || results.length === 0))
      checks.complain("its parent was never told of its end");
  }

  /** What the whole tree has used stands on the bill of the session of the host, once. */
  #lookAtBill(): void {
    const disks = [...this.#disks.all.values()];
    // What a log did not take was paid for all the same: then the bill knows more than the logs.
    if (disks.slice(1).some(({ failures }) => failures.has("full"))) return;
    const used = disks.reduce((sum, disk) => sum + chargesIn(disk.eventsAfter(0)).tokens, 0);
    const billed = contextTokens(this.#top.state.bill.usage);
    if (used !== billed) this.#top.complain(`the bill says ${billed} tokens, ${used} were used`);
  }
}

/** The last words of an agent whose last turn came to its end. */
function reportIn(events: readonly Durable[]): string | undefined {
  const end = events.findLastIndex(({ type }) => type === "turn.finished");
  const last = events[end];
  if (last?.type !== "turn.finished" || last.reason !== "completed") return undefined;
  const reply = events.slice(0, end).findLast((event) => event.type === "model.finished");
  const words = reply?.type === "model.finished" ? textOf(reply.content).trim() : "";
  return words === "" ? undefined : words;
}

function hasEndedWell(events: readonly Durable[]): boolean {
  const last = events.at(-1);
  return last?.type === "session.closed" && last.reason === "ended";
}
