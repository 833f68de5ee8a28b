/**
 * The letters of a process: how those of its sessions reach others, here, in another process of this home, or at a
 * socket of the same person; and how those of others come in. Who a letter is from is never what it says: the process
 * that holds that session is asked whether it has sent these very words.
 */
import { createHash } from "node:crypto";
import path from "node:path";
import { mailLimits } from "../../agents/mail-bounds.ts";
import { within } from "../../kernel/deadline.ts";
import { toFault } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";
import type { SentAbout, SessionPeers } from "../../ports/agents.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Leases } from "../../ports/lease.ts";
import { askLineSocket, type LineSocket, openLineSocket } from "../../transport/node/line-socket.ts";
import {
  type ArrivedLetter,
  type LetterAnswer,
  type LetterLine,
  letterAnswerSchema,
  letterLineSchema,
  maxLetterBytes,
  type SentLetter,
  type TakeLetter,
} from "./letter.ts";

export type LetterPorts = {
  /** Of the home. */
  readonly folder: string;
  readonly leases: Leases;
  readonly clock: Clock;
  /** Sessions that are open here. */
  opened(id: string): { readonly takeLetter?: TakeLetter | undefined } | undefined;
  openIds(): readonly string[];
};

/** A person may be asked on the other side. */
const answerMs = 3 * 60_000;
/** Nobody is asked for this. */
const confirmMs = 5_000;
const maxConnections = 64;
const sessionAddress = /^session:([0-9a-f-]{36})$/;
/** With the session that is meant, where several listen. */
const socketAddress = /^uds:(\/[^#]+)(?:#([0-9a-f-]{36}))?$/;

export class HomeLetters {
  readonly #ports: LetterPorts;
  /** On their way, by their ids: what this process says of them to whoever got one. */
  readonly #sent = new Map<string, SentLetter>();
  #door: { readonly place: string; readonly opening: Promise<LineSocket> } | undefined;
  /** Those that still open or close. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(ports: LetterPorts) {
    this.#ports = ports;
  }

  /** From now on letters come in. Throws `link_lost` where no socket can be had. `holder` is the lease of this process. */
  async listen(session: string): Promise<void> {
    const holder = await this.#holderOf(session);
    if (holder !== undefined) await this.#open(holder);
  }

  async close(): Promise<void> {
    const { opening } = this.#door ?? {};
    this.#door = undefined;
    await (await opening?.catch(() => undefined))?.close();
    await this.#last.catch(() => undefined);
  }

  /** Never rejects. */
  async send(...[from, to, words, about]: Required<Parameters<SessionPeers["send"]>>): Promise<LetterAnswer> {
    const [, session] = sessionAddress.exec(to) ?? [];
    const [, socket, behind] = socketAddress.exec(to) ?? [];
    const { signal = new AbortController().signal } = about;
    if (session === from) return refused("That is you.");
    try {
      if (session !== undefined) {
        const near = this.#ports.opened(session);
        if (near)
          return await this.#give(
            near,
            { id: about.id, from: `session:${from}`, words, way: about.way },
            signal,
          );
        const holder = await this.#holderOf(session);
        if (holder === undefined) return refused(`Nobody has the session ${session} open.`);
        return await this.#post(this.#placeOf(holder), { to: session, from, words, about }, signal);
      }
      if (socket === undefined)
        return refused("An address is session:<id of the session>, or uds:<path of a socket>.");
      return await this.#post(path.normalize(socket), { to: behind, from, words, about }, signal);
    } catch (thrown) {
      return refused(`It was not taken: ${toFault(thrown).message}`);
    }
  }

  async #post(
    place: string,
    { to, from, words, about }: { to: string | undefined; from: string; words: string; about: SentAbout },
    signal: AbortSignal,
  ): Promise<LetterAnswer> {
    const holder = await this.#holderOf(from);
    if (holder === undefined) return refused("This session is kept nowhere: nobody could answer it.");
    const door = await this.#open(holder);
    const letter: SentLetter = {
      type: "letter",
      id: about.id,
      from,
      door: door.path,
      words,
      way: about.way,
      ...(to === undefined ? {} : { to }),
    };
    this.#sent.set(letter.id, letter);
    try {
      return await this.#ask(place, letter, answerMs, signal);
    } finally {
      this.#sent.delete(letter.id);
    }
  }

  async #ask(place: string, line: LetterLine, ms: number, signal: AbortSignal): Promise<LetterAnswer> {
    const { clock } = this.#ports;
    const asked = await within({ clock, ms, signal }, (inTime) =>
      askLineSocket(place, JSON.stringify(line), { maxBytes: 4_096, signal: inTime }),
    );
    if (asked.kind !== "done") return refused("There was no answer.");
    const answer = letterAnswerSchema.safeParse(parseJson(asked.value));
    return answer.success ? answer.data : refused("The answer cannot be read.");
  }

  /** Never rejects: what is wrong with a line is its answer. */
  readonly #answer = async (line: string, signal: AbortSignal): Promise<string> => {
    const read = letterLineSchema.safeParse(parseJson(line));
    const answer = !read.success
      ? refused("That is no letter.")
      : await (read.data.type === "sent" ? this.#confirm(read.data) : this.#receive(read.data, signal)).catch(
          (thrown: unknown) => refused(toFault(thrown).message),
        );
    return JSON.stringify({
      ...answer,
      ...(answer.why === undefined ? {} : { why: answer.why.slice(0, 500) }),
    });
  };

  async #confirm({ id, from, to, sum }: Extract<LetterLine, { type: "sent" }>): Promise<LetterAnswer> {
    const sent = this.#sent.get(id);
    const isIt = sent !== undefined && sent.from === from && sent.to === to && sumOf(sent) === sum;
    return isIt ? { ok: true } : refused("It was not sent from here.");
  }

  async #receive(letter: SentLetter, signal: AbortSignal): Promise<LetterAnswer> {
    const receivers = letter.to === undefined ? this.#receivers() : [letter.to];
    const [to] = receivers;
    if (to === undefined || receivers.length > 1)
      return refused(
        to === undefined
          ? "No session here takes messages."
          : "Several sessions are open here: name one as uds:<socket>#<session>.",
      );
    // Its own socket is a way to itself.
    if (to === letter.from) return refused("That is you.");
    const near = this.#ports.opened(to);
    if (!near) return refused(`The session ${to} is not open here.`);
    const sender = await this.#senderOf(letter, signal);
    if (sender === undefined) return refused("Who it says it is from has not sent it.");
    const { id, words, way } = letter;
    return this.#give(near, { id, from: sender, words, way }, signal);
  }

  /** Its address, when the process that has that session says that it has sent this. */
  async #senderOf(letter: SentLetter, signal: AbortSignal): Promise<string | undefined> {
    const { id, from, to, door } = letter;
    const holder = await this.#holderOf(from);
    // One of this home speaks from where its lease says; a door among ours that no lease stands for is nobody's.
    if (holder === undefined && path.dirname(path.normalize(door)) === this.#folder) return undefined;
    const place = holder === undefined ? path.normalize(door) : this.#placeOf(holder);
    if (!path.isAbsolute(place)) return undefined;
    const asked = {
      type: "sent" as const,
      id,
      from,
      sum: sumOf(letter),
      ...(to === undefined ? {} : { to }),
    };
    const { ok } = await this.#ask(place, asked, confirmMs, signal);
    if (!ok) return undefined;
    return holder === undefined ? `uds:${place}#${from}` : `session:${from}`;
  }

  async #give(
    near: { readonly takeLetter?: TakeLetter | undefined },
    letter: ArrivedLetter,
    signal: AbortSignal,
  ): Promise<LetterAnswer> {
    if (letter.words.length > mailLimits.characters)
      return refused(
        `The message has ${letter.words.length} characters, at most ${mailLimits.characters} are sent.`,
      );
    return near.takeLetter?.(letter, signal) ?? refused("It takes no messages of other sessions.");
  }

  #receivers(): readonly string[] {
    const { openIds, opened } = this.#ports;
    return openIds().filter((id) => opened(id)?.takeLetter);
  }

  /** A process that has closed its last session and opens another one holds another lease, and listens there. */
  #open(holder: string): Promise<LineSocket> {
    const place = this.#placeOf(holder);
    const before = this.#door;
    if (before?.place === place) return before.opening;
    if (before) this.#last = before.opening.then((door) => door.close());
    const opening = openLineSocket({
      path: place,
      maxBytes: maxLetterBytes,
      most: maxConnections,
      answer: this.#answer,
    });
    this.#door = { place, opening };
    opening.catch(() => {
      if (this.#door?.place === place) this.#door = undefined;
    });
    return opening;
  }

  async #holderOf(session: string): Promise<string | undefined> {
    return (await this.#ports.leases.holders([session])).get(session)?.id;
  }

  get #folder(): string {
    return path.join(this.#ports.folder, "letters");
  }

  /** Short: the kernel takes no long names of sockets. */
  #placeOf(holder: string): string {
    return path.join(this.#folder, `${holder.slice(-12)}.sock`);
  }
}

const sumOf = ({ words, way }: Pick<SentLetter, "words" | "way">): string =>
  createHash("sha256")
    .update(JSON.stringify([words, way.hops, way.idleHops]))
    .digest("hex");

const refused = (why: string): LetterAnswer => ({ ok: false, why });
