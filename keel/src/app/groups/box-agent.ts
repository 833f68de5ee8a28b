/** The agent of a group in a container of its own: started when it is needed, spoken to by its mailbox, ended when idle. */
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { IdleEnd } from "../../groups/idle-end.ts";
import { type BoxOutput, MarkerReader } from "../../groups/markers.ts";
import { toFault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { AgentInput, AgentSays, GroupAgent } from "../../ports/groups.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import { FolderMailbox } from "../../store/groups/mailbox.ts";
import type { ContainerRuntime, RunningContainer } from "../../workspace/boxes/container-runtime.ts";
import type { Opening } from "../sessions/openings.ts";
import { authVariables } from "./few-variables.ts";
import { deskPlaces } from "./group-desk.ts";
import { mountFolder, type ResolvedMount } from "./mounts.ts";
import { deskVariables } from "./tools-program.ts";
import { isUnaskedResult, type UnaskedResult } from "./unasked-results.ts";

export type BoxPorts = {
  readonly runtime: ContainerRuntime;
  readonly image: string;
  readonly groupsPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that the person lets boxes see beside keys. */
  readonly more: readonly string[];
  readonly most: number;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The calls of its tools are taken until it is let go of. */
  attend(group: string): () => void;
  /** It says something by itself. */
  said(group: string, result: UnaskedResult): void;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

export type BoxWish = {
  readonly opening: Opening;
  readonly mounts: readonly ResolvedMount[];
  readonly idleMs: number;
};

/** So often a box may end in the middle of an input before that counts as a failure. */
const maxStarts = 3;

/** What stands where inside. */
export const insideBox = {
  group: "/workspace/group",
  mailbox: "/workspace/ipc/input",
  requests: "/workspace/ipc/requests",
  answers: "/workspace/ipc/answers",
  home: "/workspace/home",
} as const;

type Listener = (output: BoxOutput | undefined) => void;

/** The boxes of a home. */
export class Boxes {
  readonly #ports: BoxPorts;
  readonly #live = new Map<string, GroupBox>();
  readonly label: string;

  constructor(ports: BoxPorts) {
    this.#ports = ports;
    this.label = createHash("sha256").update(ports.groupsPath).digest("hex").slice(0, 16);
  }

  /** Those of an earlier life. That it did not work is told: nobody would know of them otherwise. */
  async endOrphans(): Promise<void> {
    const { runtime, tell } = this.#ports;
    try {
      for (const name of await runtime.running(this.label)) {
        await runtime.stop(name);
        tell?.("box.orphan", { box: name });
      }
    } catch (thrown) {
      tell?.("box.orphans-left", { why: toFault(thrown).message });
    }
  }

  agentOf(group: ChatGroup, wish: () => Promise<BoxWish>): GroupAgent {
    return { say: (input, signal) => this.#say(group, { ...input, wish }, signal) };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#live.values()].map((box) => box.leave()));
  }

  async *#say(
    group: ChatGroup,
    { wish, ...input }: AgentInput & { wish: () => Promise<BoxWish> },
    signal: AbortSignal,
  ): AsyncIterable<AgentSays> {
    for (let starts = 1; starts <= maxStarts; starts++) {
      const box = await this.#boxOf(group, wish);
      const stop = (): void => void box.stop();
      signal.addEventListener("abort", stop, { once: true });
      try {
        for await (const output of box.tell(input)) {
          if (output.step === "taken") yield { kind: "taken" };
          else if (output.step === "result") yield { kind: "result", at: output.at, text: output.result };
          else {
            const how = output.status === "success" ? "done" : "failed";
            return yield { kind: "end", how, why: output.error ?? "completed" };
          }
        }
      } finally {
        signal.removeEventListener("abort", stop);
      }
      if (signal.aborted) return yield { kind: "end", how: "failed", why: "aborted" };
    }
    // Its log knows the input: told again it would be the same, so this is the box's own failure.
    yield { kind: "end", how: "failed", why: "box_ended" };
  }

  async #boxOf(group: ChatGroup, wish: () => Promise<BoxWish>): Promise<GroupBox> {
    const known = this.#live.get(group.id);
    if (known && !known.isOver) return known;
    const others = [...this.#live.values()].filter(({ isOver }) => !isOver);
    // Whoever works has a slot, so of so many one at least is idle.
    if (others.length >= this.#ports.most) await others.find(({ isIdle }) => isIdle)?.leave();
    const again = this.#live.get(group.id);
    if (again && !again.isOver) return again;
    const box = new GroupBox(group, wish, { ...this.#ports, label: this.label });
    this.#live.set(group.id, box);
    return box;
  }
}

/** One container, from its start to its end. */
class GroupBox {
  readonly #ports: BoxPorts & { readonly label: string };
  readonly #group: ChatGroup;
  readonly #name: string;
  readonly #mailbox: FolderMailbox;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #started: Promise<RunningContainer>;
  readonly #ended = Promise.withResolvers<void>();
  readonly #letGo: () => void;
  #idle: IdleEnd | undefined;
  isOver = false;

  constructor(group: ChatGroup, wish: () => Promise<BoxWish>, ports: BoxPorts & { readonly label: string }) {
    this.#ports = ports;
    this.#name = `keel-${group.id.slice(0, 40)}-${ports.ids.uuid().slice(-12)}`;
    this.#group = group;
    this.#mailbox = new FolderMailbox(deskPlaces(ports.groupsPath, group.id).input);
    this.#letGo = ports.attend(group.id);
    this.#started = this.#start(group, wish);
    this.#started.catch(() => this.#over());
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0;
  }

  /** What comes of an input, until nothing more does or the box is gone. Throws where the box cannot be started. */
  async *tell({ id, text, isAlone, session }: AgentInput): AsyncIterable<BoxOutput> {
    const told: (BoxOutput | undefined)[] = [];
    let wake: () => void = () => undefined;
    const listener: Listener = (output) => {
      told.push(output);
      wake();
    };
    const all = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, all.add(listener));
    try {
      await this.#started;
      this.#idle?.queryBegan();
      if (this.isOver) return;
      const letter = { type: "message", id, text, ...present({ isAlone, session }) };
      await this.#mailbox.post(letter, { at: this.#ports.clock.now(), name: id });
      for (;;) {
        if (told.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const next = told.shift();
        if (!next) return;
        yield next;
        if (next.step === "ended") return;
      }
    } finally {
      all.delete(listener);
      if (all.size === 0) this.#listeners.delete(id);
      this.#idle?.queryEnded();
    }
  }

  /** It is asked to end by itself, and ended where it does not. */
  async leave(): Promise<void> {
    if (this.isOver) return;
    await this.#mailbox.close();
    const late = new AbortController();
    void this.#ended.promise.then(() => late.abort());
    await this.#ports.clock.sleep(leaveMs, late.signal);
    if (!this.isOver) await this.stop();
  }

  async stop(): Promise<void> {
    if (this.isOver) return;
    await this.#ports.runtime.stop(this.#name).catch((thrown: unknown) => {
      this.#ports.tell?.("box.stop-failed", { box: this.#name, why: toFault(thrown).message });
    });
    (await this.#started.catch(() => undefined))?.kill("SIGKILL");
    await this.#ended.promise;
  }

  async #start(group: ChatGroup, wish: () => Promise<BoxWish>): Promise<RunningContainer> {
    const { runtime, image, groupsPath, env, more, clock, label, tell } = this.#ports;
    const { opening, mounts, idleMs } = await wish();
    const places = deskPlaces(groupsPath, group.id);
    const { own, input, requests, answers } = places;
    for (const folder of [path.join(own, "home"), input, requests, answers])
      await mkdir(folder, { recursive: true, mode: 0o700 });
    await this.#mailbox.reopen();
    const child = runtime.run({
      name: this.#name,
      label,
      image,
      mounts: [
        { source: group.folder, target: insideBox.group, readonly: false },
        { source: path.join(own, "home"), target: insideBox.home, readonly: false },
        // Each by itself: what is mounted cannot be replaced by a link from inside.
        { source: input, target: insideBox.mailbox, readonly: false },
        { source: requests, target: insideBox.requests, readonly: false },
        { source: answers, target: insideBox.answers, readonly: false },
        ...mounts.map(({ source, target, readonly }) => ({
          source,
          target: `${mountFolder}/${target}`,
          readonly,
        })),
      ],
      set: {
        KEEL_HOME: insideBox.home,
        KEEL_BOX_MAILBOX: insideBox.mailbox,
        [deskVariables.requests]: insideBox.requests,
        [deskVariables.answers]: insideBox.answers,
        IS_SANDBOX: "1",
      },
      pass: [...authVariables, ...more].filter((name) => env[name] !== undefined),
      cwd: insideBox.group,
      command: ["keel", "groups", "agent"],
    });
    this.#idle = new IdleEnd(idleMs, clock, () => void this.leave());
    const reader = new MarkerReader();
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      for (const output of reader.push(piece)) this.#hear(output);
    });
    // What it says there is no sign of work, and moves no limit.
    child.stderr.resume();
    child.stdin.on("error", () => undefined);
    child.once("error", (thrown) => {
      tell?.("box.failed", { box: this.#name, why: toFault(thrown).message });
      this.#over();
    });
    // Not before all that it said was read.
    child.once("close", (code) => {
      tell?.("box.ended", { box: this.#name, code: code ?? -1 });
      this.#over();
    });
    child.stdin.end(
      `${JSON.stringify({
        opening: { ...opening, cwd: insideBox.group },
        sessionId: group.session,
        groupFolder: group.id,
        chatJid: `${group.channel}:${group.chat}`,
        isMain: group.main === true,
      })}\n`,
    );
    tell?.("box.started", { box: this.#name, group: group.id });
    return child;
  }

  #hear(output: BoxOutput): void {
    for (const listener of this.#listeners.get(output.input) ?? []) listener(output);
    if (!isUnaskedResult(output.input) || output.step !== "result" || output.result === null) return;
    this.#idle?.said();
    this.#ports.said(this.#group.id, { id: output.input, text: output.result });
  }

  #over(): void {
    if (!this.isOver) this.#letGo();
    this.isOver = true;
    this.#idle?.stop();
    this.#ended.resolve();
    for (const all of this.#listeners.values()) for (const listener of all) listener(undefined);
  }
}

/** A turn that is at work when a box is asked to end may end first. */
const leaveMs = 20_000;
