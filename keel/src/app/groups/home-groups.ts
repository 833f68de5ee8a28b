/** The groups of a home in the process that serves it: who listens, who works, and how many at once. */

import { GroupTalk } from "../../groups/group-talk.ts";
import { Slots } from "../../groups/slots.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import type { GroupAgent, GroupBook, GroupRegister } from "../../ports/groups.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import type { Home } from "../home.ts";
import { channelKeys } from "../maintenance/keys.ts";
import type { OpenSession } from "../open-session.ts";
import { folderBell } from "../schedules/bell.ts";
import type { ServedSessions } from "../sessions/served-sessions.ts";
import type { Boxes, BoxWish } from "./box-agent.ts";
import { sessionAgent } from "./group-agent.ts";
import { GroupChannels } from "./group-channels.ts";
import { openingOf, readInstructions } from "./group-opening.ts";
import { type GroupSettings, groupSettings, mostAtOnce, mountPlaces } from "./group-settings.ts";
import { mountFolder, resolveMounts } from "./mounts.ts";

/** So long after its last query a box is ended. */
const idleMinutes = 30;
/** Without an answer for so long an agent is stopped. */
const hardMinutes = 60;

export type GroupsPorts = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

type OpenGroupBook = GroupBook & GroupRegister & { close(): Promise<void> };

export class HomeGroups {
  readonly #home: Home;
  readonly #served: ServedSessions;
  readonly #ports: GroupsPorts;
  readonly #talks = new Map<string, GroupTalk>();
  readonly #opening = new Map<string, Promise<OpenSession>>();
  #opened:
    | Promise<{ book: OpenGroupBook; settings: GroupSettings; slots: Slots; channels: GroupChannels }>
    | undefined;
  #boxes: Promise<Boxes> | undefined;
  #leave: (() => void) | undefined;

  constructor(home: Home, served: ServedSessions, ports: GroupsPorts) {
    this.#home = home;
    this.#served = served;
    this.#ports = ports;
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
    await opened?.book.close();
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
      const { clock, ids } = this.#home;
      const book = await this.#home.groupBook();
      const channels = new GroupChannels({
        settings,
        keys: await channelKeys(this.#place()),
        book,
        clock,
        ids,
        rung: (id) => void this.#look(id),
        tell: this.#ports.tell,
      });
      await channels.start();
      return { book, settings, slots, channels };
    })();
    return this.#opened;
  }

  async #look(id: string): Promise<void> {
    try {
      const { book } = await this.#open();
      const group = await book.find(id);
      if (!group) return await this.#forget(id);
      const talk = this.#talks.get(id) ?? (await this.#talkOf(group));
      this.#talks.set(id, talk);
      await talk.look();
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
    const { book, settings, slots, channels } = await this.#open();
    const minutes = group.limits?.hardMinutes ?? settings.hardMinutes ?? hardMinutes;
    return new GroupTalk(
      { ...group, always: group.always || group.main === true, hardLimitMs: minutes * 60_000 },
      {
        book,
        clock,
        ids,
        channel: channels.of(group),
        agent: this.#agentOf(group, settings),
        slot: (signal) => slots.take(group.id, signal),
        tell: this.#ports.tell,
      },
    );
  }

  #agentOf(group: ChatGroup, settings: GroupSettings): GroupAgent {
    if (group.box !== "container") return sessionAgent(group, { use: () => this.#use(group, settings) });
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
      const boxes = new late.Boxes({ runtime, image, groupsPath, env, more, most, clock, ids, tell });
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
    const idle = group.limits?.idleMinutes ?? settings.idleMinutes ?? idleMinutes;
    return {
      opening: openingOf(group, { instructions, mounts: inside }),
      mounts: given,
      idleMs: idle * 60_000,
    };
  }

  /** Two that come at once have the same session. */
  async #use(group: ChatGroup, settings: GroupSettings): Promise<OpenSession> {
    const known = this.#opening.get(group.id);
    if (known) return known;
    const opening = this.#openingOf(group, settings).then((made) =>
      this.#served.useOrBegin(group.session, made, "anew"),
    );
    this.#opening.set(group.id, opening);
    return opening.finally(() => this.#opening.delete(group.id));
  }

  async #openingOf(group: ChatGroup, settings: GroupSettings) {
    const { given, refused } = resolveMounts(group, mountPlaces(this.#home, settings, this.#ports.env));
    for (const why of refused) this.#ports.tell?.("mount.refused", { group: group.id, why });
    const instructions = await readInstructions(this.#home.groupsPath, group.id);
    return openingOf(group, { instructions, mounts: given });
  }
}
