/**
 * What the agents of groups ask their host for, by the tools of their group: taken from the folder of each group, which
 * says whose it is, whatever is written in it. A call that is read again, after a crash, is done once.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import {
  type DeskInput,
  type DeskToolName,
  isDeskTool,
  mainOnly,
  readDeskInput,
} from "../../groups/desk-tools.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import type { ServedAnswer } from "../../mcp/serve-tools.ts";
import type { GroupRegister } from "../../ports/groups.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import { FolderMailbox } from "../../store/groups/mailbox.ts";
import type { GroupTasks } from "./group-tasks.ts";

export type DeskPorts = {
  readonly groupsPath: string;
  readonly book: GroupRegister;
  readonly tasks: GroupTasks;
  /** Sends it to the group, once for an id. */
  send(group: string, id: string, text: string): Promise<void>;
  register(main: ChatGroup, wish: DeskInput<"register_group">): Promise<ChatGroup>;
  now(): number;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

export const deskPlaces = (groupsPath: string, id: string) => {
  const own = path.join(groupsPath, "boxes", id);
  return {
    own,
    input: path.join(own, "ipc", "input"),
    requests: path.join(own, "ipc", "requests"),
    answers: path.join(own, "ipc", "answers"),
    bad: path.join(own, "bad"),
  };
};

/** More than that waits for a channel that does not take it. */
const maxUnsent = 200;
const callId = /^[0-9a-f-]{36}$/;

export class GroupDesk {
  readonly #ports: DeskPorts;
  readonly #open = new Map<string, { count: number; readonly end: AbortController; job: Promise<void> }>();

  constructor(ports: DeskPorts) {
    this.#ports = ports;
  }

  /** Its calls are taken until the last who attends lets go. */
  attend(id: string): () => void {
    const known = this.#open.get(id);
    const open = known ?? { count: 0, end: new AbortController(), job: Promise.resolve() };
    open.count++;
    if (!known) {
      this.#open.set(id, open);
      open.job = this.#serve(id, open.end.signal);
    }
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--open.count > 0) return;
      this.#open.delete(id);
      open.end.abort();
    };
  }

  async close(): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    for (const { end } of all) end.abort();
    await Promise.all(all.map(({ job }) => job));
  }

  /** Never rejects. */
  async #serve(id: string, signal: AbortSignal): Promise<void> {
    const { requests, answers, bad } = deskPlaces(this.#ports.groupsPath, id);
    try {
      for (const place of [requests, answers]) await mkdir(place, { recursive: true, mode: 0o700 });
      // Whoever waited for them is gone.
      for (const name of await readdir(answers)) await rm(path.join(answers, name), { force: true });
      const mailbox = new FolderMailbox(requests, bad);
      while (!signal.aborted) {
        const { letters } = await mailbox.letters();
        for (const letter of letters) {
          await this.#answer(id, letter.body, new FolderMailbox(answers));
          await mailbox.remove(letter);
        }
        if (letters.length === 0) await mailbox.changed(signal);
      }
    } catch (thrown) {
      this.#ports.tell?.("group.tools-failed", { group: id, why: toFault(thrown).message });
    }
  }

  async #answer(
    group: string,
    letter: Readonly<Record<string, unknown>>,
    answers: FolderMailbox,
  ): Promise<void> {
    const { id, tool, input } = letter;
    if (typeof id !== "string" || !callId.test(id)) return;
    const answer = await this.#call(group, { id, tool: String(tool), input }).catch(
      (thrown: unknown): ServedAnswer => ({ text: toFault(thrown).message, failed: true }),
    );
    const done = answer.failed ? "refused" : "done";
    this.#ports.tell?.("group.tool", {
      group,
      tool: isDeskTool(String(tool)) ? String(tool) : "unknown",
      done,
    });
    await answers.place(`${id}.json`, JSON.stringify(answer));
  }

  /** Throws `usage` for what is not to be done, with the reason for the model. */
  async #call(
    from: string,
    { id, tool, input }: { readonly id: string; readonly tool: string; readonly input: unknown },
  ): Promise<ServedAnswer> {
    const group = await this.#ports.book.find(from);
    if (!group) throw wrong("This group is gone.");
    if (!isDeskTool(tool)) throw wrong(`There is no tool ${tool.slice(0, 64)}.`);
    if (mainOnly.includes(tool) && group.main !== true) throw wrong("Only the main group may do that.");
    const text = await this.#done(tool, input, { group, id });
    return { text, failed: false };
  }

  async #done(name: DeskToolName, given: unknown, by: { group: ChatGroup; id: string }): Promise<string> {
    const { tasks } = this.#ports;
    switch (name) {
      case "send_message":
        return this.#send(read(name, given), by);
      case "schedule_task": {
        const wish = read(name, given);
        return tasks.add(wish, { ...by, group: await this.#target(by.group, wish.group) });
      }
      case "list_tasks":
        return tasks.list(by.group);
      case "pause_task":
        return tasks.pause(read(name, given).task_id, true, by.group);
      case "resume_task":
        return tasks.pause(read(name, given).task_id, false, by.group);
      case "cancel_task":
        return tasks.cancel(read(name, given).task_id, by.group);
      case "list_chats":
        return this.#chats();
      case "register_group": {
        const made = await this.#ports.register(by.group, read(name, given));
        return `The group ${made.id} is there; its agent works in ${made.folder}.`;
      }
    }
  }

  async #send(
    { text, group }: DeskInput<"send_message">,
    by: { group: ChatGroup; id: string },
  ): Promise<string> {
    const { id } = await this.#target(by.group, group);
    if ((await this.#ports.book.status(id)).unsent >= maxUnsent)
      throw wrong("The channel has not taken what was sent before: wait until it has.");
    await this.#ports.send(id, `call-${by.id}`, text);
    return "Sent.";
  }

  /** Whoever names another group is the main one. */
  async #target(own: ChatGroup, named: string | undefined): Promise<ChatGroup> {
    if (named === undefined || named === own.id) return own;
    if (own.main !== true) throw wrong("Only the main group may name another one.");
    const other = await this.#ports.book.find(named);
    if (!other) throw wrong(`There is no group ${named}.`);
    return other;
  }

  async #chats(): Promise<string> {
    const { book } = this.#ports;
    const groups = await book.list();
    const taken = new Set(groups.map(({ channel, chat }) => `${channel}:${chat}`));
    const chats = (await book.chats()).filter(({ channel, chat }) => !taken.has(`${channel}:${chat}`));
    return JSON.stringify({
      groups: groups.map(({ id, name, channel, chat, main = false }) => ({
        id,
        name,
        chat: `${channel}:${chat}`,
        main,
      })),
      chats: chats.map(({ channel, chat, name }) => ({ chat: `${channel}:${chat}`, name })),
    });
  }
}

function read<Name extends DeskToolName>(name: Name, given: unknown): DeskInput<Name> {
  const found = readDeskInput(name, given);
  if (typeof found === "string") throw wrong(found);
  return found.input;
}

const wrong = (reason: string) => fault("usage", { reason });
