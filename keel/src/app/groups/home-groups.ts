/** The groups of a home in the process that serves it: who listens, who works, and how many at once. */

import { GroupTalk } from "../../groups/group-talk.ts";
import { Slots } from "../../groups/slots.ts";
import { toFault } from "../../kernel/fault.ts";
import type { ChatChannel, GroupBook, GroupRegister } from "../../ports/groups.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import type { Home } from "../home.ts";
import { folderBell } from "../schedules/bell.ts";
import type { ServedSessions } from "../sessions/served-sessions.ts";
import { sessionAgent } from "./group-agent.ts";

/** Of all groups together. */
const maxWorking = 5;
/** Without an answer for so long an agent is stopped. */
const hardLimitMs = 3_600_000;

/** Whoever asks for the log reads it there: the book itself is the channel. */
const localChannel: ChatChannel = { limit: 100_000, send: async () => ({ kind: "sent" }) };

type GroupsPorts = {
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

export class HomeGroups {
  readonly #home: Home;
  readonly #served: ServedSessions;
  readonly #ports: GroupsPorts;
  readonly #talks = new Map<string, GroupTalk>();
  readonly #slots = new Slots(maxWorking);
  #book: (GroupBook & GroupRegister & { close(): Promise<void> }) | undefined;
  #leave: (() => void) | undefined;

  constructor(home: Home, served: ServedSessions, ports: GroupsPorts) {
    this.#home = home;
    this.#served = served;
    this.#ports = ports;
  }

  /** Listens, and goes on with what an earlier process left. A home without groups costs a look at its folder. */
  async serve(): Promise<void> {
    this.#leave = await folderBell(this.#home.groupsPath).listen((id) => void this.#look(id));
    if (!(await this.#home.hasGroups())) return;
    for (const { id } of await (await this.#opened()).list()) void this.#look(id);
  }

  async close(): Promise<void> {
    this.#leave?.();
    await Promise.all([...this.#talks.values()].map((talk) => talk.stop()));
    await this.#book?.close();
  }

  async #opened() {
    this.#book ??= await this.#home.groupBook();
    return this.#book;
  }

  async #look(id: string): Promise<void> {
    try {
      const book = await this.#opened();
      const group = await book.find(id);
      if (!group) return await this.#forget(id);
      const talk = this.#talks.get(id) ?? this.#talkOf(group, book);
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

  #talkOf(group: ChatGroup, book: GroupBook): GroupTalk {
    const { clock, ids } = this.#home;
    return new GroupTalk(
      { ...group, hardLimitMs },
      {
        book,
        clock,
        ids,
        channel: localChannel,
        agent: sessionAgent(group, { use: (id, opening) => this.#served.useOrBegin(id, opening) }),
        slot: (signal) => this.#slots.take(group.id, signal),
        tell: this.#ports.tell,
      },
    );
  }
}
