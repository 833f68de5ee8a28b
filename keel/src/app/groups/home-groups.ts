/** The groups of a home in the process that serves it: who listens, who works, and how many at once. */

import { GroupTalk } from "../../groups/group-talk.ts";
import { Slots } from "../../groups/slots.ts";
import { toFault } from "../../kernel/fault.ts";
import type { GroupAgent, GroupBook, GroupRegister } from "../../ports/groups.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import type { Home } from "../home.ts";
import { channelKeys } from "../maintenance/keys.ts";
import type { OpenSession } from "../open-session.ts";
import { folderBell } from "../schedules/bell.ts";
import type { ServedSessions } from "../sessions/served-sessions.ts";
import { sessionAgent } from "./group-agent.ts";
import { GroupChannels } from "./group-channels.ts";
import { openingOf, readInstructions } from "./group-opening.ts";
import { type GroupSettings, groupSettings, mostAtOnce, mountPlaces } from "./group-settings.ts";
import { resolveMounts } from "./mounts.ts";

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
    const { book } = await this.#open();
    for (const { id } of await book.list()) void this.#look(id);
  }

  async close(): Promise<void> {
    this.#leave?.();
    const opened = await this.#opened;
    // Nothing new is taken in: what was said meanwhile is told again by its channel, or is in the book.
    await opened?.channels.close();
    await Promise.all([...this.#talks.values()].map((talk) => talk.stop()));
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
    return sessionAgent(group, { use: () => this.#use(group, settings) });
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
