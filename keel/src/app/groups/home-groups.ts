/** The groups of a home in the process that serves it: who listens, who works, and how many at once. */

import { GroupTalk } from "../../groups/group-talk.ts";
import { Slots } from "../../groups/slots.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import type { GroupAgent, GroupBook, GroupRegister } from "../../ports/groups.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import type { Home } from "../home.ts";
import { channelKeys } from "../maintenance/keys.ts";
import { folderBell } from "../schedules/bell.ts";
import type { SchedulerPorts, TryEnd } from "../schedules/scheduler.ts";
import type { ServedSessions } from "../sessions/served-sessions.ts";
import type { Boxes, BoxWish } from "./box-agent.ts";
import { changeGroups } from "./change-groups.ts";
import { GroupChannels } from "./group-channels.ts";
import { deskPlaces, GroupDesk } from "./group-desk.ts";
import { openingOf, readInstructions } from "./group-opening.ts";
import { GroupSessions } from "./group-sessions.ts";
import { type GroupSettings, groupSettings, mostAtOnce, mountPlaces } from "./group-settings.ts";
import { groupTasks, wordsOfTask } from "./group-tasks.ts";
import { mountFolder, resolveMounts } from "./mounts.ts";
import { registerFrom } from "./register-group.ts";
import { toolsProgram } from "./tools-program.ts";
import type { UnaskedResult } from "./unasked-results.ts";

/** So long after its last query a box is ended. */
const idleMinutes = 30;
/** Without an answer for so long an agent is stopped. */
const hardMinutes = 60;

export type GroupsPorts = {
  readonly version: string;
  /** How `keel` is started, for the tools of groups; they have none when left out. */
  readonly keel?: { readonly command: string; readonly args: readonly string[] } | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

type OpenGroupBook = GroupBook & GroupRegister & { close(): Promise<void> };

type OpenGroups = {
  readonly book: OpenGroupBook;
  readonly settings: GroupSettings;
  readonly slots: Slots;
  readonly channels: GroupChannels;
  readonly sessions: GroupSessions;
  readonly desk: GroupDesk;
  close(): Promise<void>;
};

export class HomeGroups {
  readonly #home: Home;
  readonly #served: ServedSessions;
  readonly #ports: GroupsPorts;
  readonly #talks = new Map<string, GroupTalk>();
  #opened: Promise<OpenGroups> | undefined;
  #slots: Slots | undefined;
  #boxes: Promise<Boxes> | undefined;
  #leave: (() => void) | undefined;

  constructor(home: Home, served: ServedSessions, ports: GroupsPorts) {
    this.#home = home;
    this.#served = served;
    this.#ports = ports;
  }

  stateOf(id: string): "working" | "queued" | "resting" {
    if (this.#slots?.isWorking(id)) return "working";
    return this.#slots?.isWaiting(id) ? "queued" : "resting";
  }

  /** Listens, and goes on with what an earlier process left. A home without groups costs a look at its folder. */
  async serve(): Promise<void> {
    this.#leave = await folderBell(this.#home.groupsPath).listen((id) => void this.#look(id));
    if (!(await this.#home.hasGroups()) && !(await this.#hasChannel())) return;
    const { book, settings } = await this.#open();
    const groups = await book.list();
    if (groups.some(({ box }) => box === "container")) await this.#openBoxes(settings).catch(() => undefined);
    for (const { id } of groups) void this.#look(id);
  }

  async close(): Promise<void> {
    this.#leave?.();
    const opened = await this.#opened;
    // Nothing new is taken in: what was said meanwhile is told again by its channel, or is in the book.
    await opened?.channels.close();
    await Promise.all([...this.#talks.values()].map((talk) => talk.stop()));
    await (await this.#boxes?.catch(() => undefined))?.close();
    await opened?.close();
  }

  /** Chats that are no groups yet are found by those who listen. */
  async #hasChannel(): Promise<boolean> {
    const { irc, whatsapp } = await groupSettings(this.#home, this.#ports.env);
    return (
      irc !== undefined ||
      whatsapp !== undefined ||
      (await channelKeys(this.#place()))["telegram"] !== undefined
    );
  }

  #place() {
    const { path: home } = this.#home;
    return { cwd: home, home, env: this.#ports.env };
  }

  #open() {
    this.#opened ??= (async () => {
      const settings = await groupSettings(this.#home, this.#ports.env);
      const slots = new Slots(mostAtOnce(settings, this.#ports.env));
      this.#slots = slots;
      const { clock, ids, groupsPath } = this.#home;
      const book = await this.#home.groupBook();
      const schedules = await this.#home.scheduleBook();
      const { tell } = this.#ports;
      const now = (): number => clock.now();
      const channels = new GroupChannels({
        settings,
        keys: await channelKeys(this.#place()),
        book,
        clock,
        ids,
        rung: (id) => void this.#look(id),
        tell,
      });
      const desk = new GroupDesk({
        groupsPath,
        book,
        tasks: groupTasks({ book: schedules, bell: folderBell(this.#home.schedulesPath), now }),
        send: (id, call, text) => this.#say(id, { id: call, text }),
        register: registerFrom(changeGroups(this.#home, book), this.#ports),
        now,
        tell,
      });
      const sessions = new GroupSessions({
        served: this.#served,
        opened: (id) => this.#home.opened(id),
        clock,
        most: mostAtOnce(settings, this.#ports.env),
        openingOf: (group) => this.#openingOf(group, settings),
        idleMs: (group) => idleMsOf(group, settings),
        attend: (id) => desk.attend(id),
        said: (id, result) => void this.#say(id, result),
        tell,
      });
      const close = async (): Promise<void> => {
        sessions.close();
        await desk.close();
        await schedules.close();
        await book.close();
      };
      await channels.start();
      return { book, settings, slots, channels, sessions, desk, close };
    })();
    return this.#opened;
  }

  /** What is due by the clock for a group. */
  readonly perform: SchedulerPorts["perform"] = async (schedule, run, signal): Promise<TryEnd> => {
    const { book } = await this.#open();
    const group = await book.find(schedule.group ?? "");
    if (!group) return { kind: "failed", why: "no_group" };
    const id = run.inputs.at(-1) ?? "";
    const session = run.session === group.session ? undefined : run.session;
    const words = { id, text: wordsOfTask(schedule, run), isAlone: true, session };
    const end = await (await this.#talkOf(group)).perform(words, signal);
    // This process ends: the run stays open, and the next goes on with it.
    if (!end) return { kind: "asks" };
    return { kind: end.how, why: end.why };
  };

  /** The agent of a group says it on its own account. Never rejects. */
  async #say(group: string, { id, text }: UnaskedResult): Promise<void> {
    try {
      const found = await (await this.#open()).book.find(group);
      if (found) await (await this.#talkOf(found)).say(id, text);
    } catch (thrown) {
      this.#ports.tell?.("group.failed", { group, why: toFault(thrown).code });
    }
  }

  async #look(id: string): Promise<void> {
    try {
      const { book } = await this.#open();
      const group = await book.find(id);
      if (!group) return await this.#forget(id);
      await (await this.#talkOf(group)).look();
    } catch (thrown) {
      this.#ports.tell?.("group.failed", { group: id, why: toFault(thrown).code });
    }
  }

  async #forget(id: string): Promise<void> {
    await this.#talks.get(id)?.stop();
    this.#talks.delete(id);
  }

  async #talkOf(group: ChatGroup): Promise<GroupTalk> {
    const { clock, ids } = this.#home;
    const { book, settings, slots, channels, sessions } = await this.#open();
    const known = this.#talks.get(group.id);
    if (known) return known;
    const minutes = group.limits?.hardMinutes ?? settings.hardMinutes ?? hardMinutes;
    const talk = new GroupTalk(
      { ...group, always: group.always || group.main === true, hardLimitMs: minutes * 60_000 },
      {
        book,
        clock,
        ids,
        channel: channels.of(group),
        agent: group.box === "container" ? this.#boxedAgent(group, settings) : sessions.agentOf(group),
        slot: (signal, what) => slots.take(group.id, signal, what),
        tell: this.#ports.tell,
      },
    );
    this.#talks.set(group.id, talk);
    return talk;
  }

  #boxedAgent(group: ChatGroup, settings: GroupSettings): GroupAgent {
    const wish = (): Promise<BoxWish> => this.#boxWish(group, settings);
    const boxed = async (): Promise<GroupAgent> => (await this.#openBoxes(settings)).agentOf(group, wish);
    return {
      async *say(input, signal) {
        yield* (await boxed()).say(input, signal);
      },
    };
  }

  /** What an earlier life left is ended before anything new is started. */
  #openBoxes(settings: GroupSettings): Promise<Boxes> {
    this.#boxes ??= (async () => {
      const { env, tell } = this.#ports;
      const { image, runtime: named, env: more = [] } = settings;
      if (image === undefined)
        throw fault("usage", {
          reason: "Containers need an image: `groups.image` in your settings names it.",
        });
      const whole = Object.fromEntries(
        Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      );
      const [{ ContainerRuntime }, late] = await Promise.all([
        import("../../workspace/boxes/container-runtime.ts"),
        import("./box-agent.ts"),
      ]);
      const runtime = await ContainerRuntime.find(named, whole);
      const { clock, ids, groupsPath } = this.#home;
      const most = mostAtOnce(settings, env);
      const { desk } = await this.#open();
      const attend = (id: string) => desk.attend(id);
      const said = (id: string, result: UnaskedResult): void => void this.#say(id, result);
      const ports = { runtime, image, groupsPath, env, more, most, clock, ids, attend, said, tell };
      const boxes = new late.Boxes(ports);
      await boxes.endOrphans();
      return boxes;
    })();
    this.#boxes.catch((thrown: unknown) => {
      this.#boxes = undefined;
      this.#ports.tell?.("box.failed", { why: toFault(thrown).message });
    });
    return this.#boxes;
  }

  async #boxWish(group: ChatGroup, settings: GroupSettings): Promise<BoxWish> {
    const { given, refused } = resolveMounts(group, mountPlaces(this.#home, settings, this.#ports.env));
    for (const why of refused) this.#ports.tell?.("mount.refused", { group: group.id, why });
    const instructions = await readInstructions(this.#home.groupsPath, group.id);
    const inside = given.map((mount) => ({ ...mount, source: `${mountFolder}/${mount.target}` }));
    // Inside it is started by whatever `keel` is there.
    const { insideBox } = await import("./box-agent.ts");
    const tools = toolsProgram({ command: "keel", args: [] }, { ...insideBox, isMain: group.main === true });
    return {
      opening: openingOf(group, { instructions, mounts: inside, tools }),
      mounts: given,
      idleMs: idleMsOf(group, settings),
    };
  }

  async #openingOf(group: ChatGroup, settings: GroupSettings) {
    const { given, refused } = resolveMounts(group, mountPlaces(this.#home, settings, this.#ports.env));
    for (const why of refused) this.#ports.tell?.("mount.refused", { group: group.id, why });
    const { groupsPath } = this.#home;
    const instructions = await readInstructions(groupsPath, group.id);
    const { keel } = this.#ports;
    const desk = { ...deskPlaces(groupsPath, group.id), isMain: group.main === true };
    return openingOf(group, { instructions, mounts: given, tools: keel && toolsProgram(keel, desk) });
  }
}

const idleMsOf = (group: ChatGroup, settings: GroupSettings): number =>
  (group.limits?.idleMinutes ?? settings.idleMinutes ?? idleMinutes) * 60_000;
