/**
 * The sessions that a server owns for a person, by the table of operations. A session is opened when it is first used
 * and goes on until somebody closes it or the server ends; in between it may be unloaded, which nobody notices. What it
 * was opened with is kept, so that after a restart it comes back the same.
 */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { fault } from "../../kernel/fault.ts";
import type { Command, Receipt } from "../../protocol/command.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import type { SessionHandle } from "../../protocol/handle.ts";
import type { InquiryName } from "../../protocol/inquiry.ts";
import { jsonSchema } from "../../protocol/message.ts";
import {
  type Access,
  type AnswerTo,
  accessOfCommand,
  maxHistory,
  mayDo,
  type OperationName,
  type OperationQuestion,
  operations,
  type SessionEntry,
} from "../../protocol/operation.ts";
import type { Home } from "../home.ts";
import type { OpenSession } from "../open-session.ts";
import { mustFit, openOptionsOf } from "../options.ts";
import { optionsFromPlain, plainOptionFields, readServers } from "../plain-options.ts";

export type ServedOptions = {
  readonly home: Home;
  readonly version: string;
  /** The environment of the server: keys, addresses, and what commands inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names this start of the server. */
  readonly boot: string;
  readonly pid: number;
  /** How many are connected. */
  readonly clients: () => number;
};

/** Receipts of commands with an id, so that one that is sent again is not done again. */
const maxReceipts = 1_000;

type OwnedSession = {
  readonly session: OpenSession;
  readonly receipts: Map<string, Promise<Receipt>>;
};

type Handlers = {
  readonly [Name in OperationName]: (question: OperationQuestion<Name>) => Promise<AnswerTo<Name>>;
};

export class ServedSessions {
  readonly #options: ServedOptions;
  readonly #openings: Openings;
  readonly #open = new Map<string, Promise<OwnedSession>>();
  readonly #encodings = new WeakMap<Envelope, string>();
  #closing: Promise<void> | undefined;

  constructor(options: ServedOptions) {
    this.#options = options;
    this.#openings = new Openings(path.join(options.home.path, "server"));
  }

  /** Throws `usage` for what is no question of the operation, `access_refused`, and what the operation throws. */
  async call(name: OperationName, question: unknown, access: Access): Promise<unknown> {
    const row = operations[name];
    if (!mayDo(access, row.access)) throw fault("access_refused", { needed: row.access });
    const parsed = row.question.safeParse(question ?? {});
    if (!parsed.success) throw fault("usage", { reason: sayIssue(name, parsed.error.issues[0]) });
    if (name === "submit") {
      const needed = accessOfCommand((parsed.data as OperationQuestion<"submit">).command.type);
      if (!mayDo(access, needed)) throw fault("access_refused", { needed });
    }
    if (this.#closing !== undefined) throw fault("session_closed");
    // By its name an operation finds only the handler that takes its question.
    const handler = this.#handlers[name] as (question: unknown) => Promise<unknown>;
    return handler(parsed.data);
  }

  /** See `Home.attach`: to follow a session is to use it, so it is opened where it is not. Throws `session_unknown`. */
  async follow(id: string, after: number, signal: AbortSignal): Promise<AsyncIterable<Envelope>> {
    const { session } = await this.#use(id);
    return session.attach(after, signal);
  }

  /** Each event is written once, however many are told. */
  encoded(event: Envelope): string {
    const known = this.#encodings.get(event);
    if (known !== undefined) return known;
    const text = JSON.stringify(event);
    this.#encodings.set(event, text);
    return text;
  }

  /** Every session ends in order; their clients hear of it by the end of what they follow. */
  close(): Promise<void> {
    this.#closing ??= this.#options.home.close();
    return this.#closing;
  }

  readonly #handlers: Handlers = {
    status: async () => {
      const { version, boot, pid, clients } = this.#options;
      return { version, boot, pid, open: this.#open.size, clients: clients() };
    },
    sessions: async ({ cwd, limit }) => {
      const stored = await this.#options.home.sessions.list({ cwd, limit });
      return stored.map(
        ({ bytes: _, parent: __, forkedFrom: ___, ...entry }): SessionEntry => ({
          ...entry,
          owner: this.#open.has(entry.id)
            ? "open"
            : this.#options.home.isHeld(entry.id)
              ? "elsewhere"
              : "stored",
        }),
      );
    },
    open: async ({ cwd, options = {} }) => {
      const opening = { cwd, options };
      const session = await this.#options.home.open(this.#openOptions(opening));
      await this.#openings.keep(session.id, opening);
      await this.#serve(session.id, Promise.resolve(session));
      return { session: session.id };
    },
    submit: async ({ session: id, commandId, command }) => {
      const served = await this.#use(id);
      if (commandId === undefined) return submitTo(served, command);
      const before = served.receipts.get(commandId);
      if (before) return before;
      const receipt = submitTo(served, command);
      served.receipts.set(commandId, receipt);
      // The oldest first: whoever sends again does so soon.
      for (const old of served.receipts.keys()) {
        if (served.receipts.size <= maxReceipts) break;
        served.receipts.delete(old);
      }
      return receipt;
    },
    message: async ({ session, content, id }) =>
      submitTo(await this.#use(session), {
        type: "input",
        ...(id === undefined ? {} : { id }),
        content: [{ type: "text", text: content }],
      }),
    asks: async ({ session }) => (await this.#use(session)).session.openAsks(),
    inquire: async ({ session, name, question }) =>
      // What is no name of the table is refused by it.
      (await this.#use(session)).session.inquire(name as InquiryName, question as never),
    history: async ({ session, after = 0, limit = maxHistory }) => {
      const events: AnswerTo<"history">["events"][number][] = [];
      const most = Math.max(1, Math.min(limit, maxHistory));
      for await (const event of await this.#stored(session, after)) {
        if (events.length === most) return { events, more: true };
        events.push(event);
      }
      return { events, more: false };
    },
    fork: async ({ session, upTo, title }) => {
      const copy = await this.#options.home.sessions.fork(session, { upTo, title });
      const opening = await this.#openings.read(session);
      if (opening) await this.#openings.keep(copy, opening);
      return { session: copy };
    },
    label: async ({ session: id, title, tag, archived }) => {
      const patch = { title, tag, archived };
      const open = await this.#open.get(id);
      if (open) await open.session.submit({ type: "set", patch });
      else await this.#options.home.sessions.label(id, patch);
      return {};
    },
    delete: async ({ session: id }) => {
      const open = await this.#open.get(id)?.catch(() => undefined);
      await open?.session.close("ended");
      await this.#options.home.sessions.delete(id);
      await this.#openings.forget(id);
      return {};
    },
  };

  /** What its log has, whether or not it is open. */
  async #stored(id: string, after: number) {
    const open = await this.#open.get(id)?.catch(() => undefined);
    return open ? open.session.history(after) : this.#options.home.sessions.read(id, undefined, after);
  }

  /** Two that come at once get the same session. */
  #use(id: string): Promise<OwnedSession> {
    return this.#open.get(id) ?? this.#serve(id, this.#takeUp(id));
  }

  async #takeUp(id: string): Promise<OpenSession> {
    const stored = await this.#options.home.sessions.find(id);
    if (!stored) throw fault("session_unknown", { session: id });
    const opening = (await this.#openings.read(id)) ?? { cwd: stored.cwd, options: {} };
    const session = await this.#options.home.open({
      ...this.#openOptions(opening),
      which: { kind: "resume", from: { session: id } },
    });
    // What an end of the server left unfinished goes on; what stops it is told to whoever follows.
    session.run().catch(() => undefined);
    return session;
  }

  #serve(id: string, opened: Promise<OpenSession>): Promise<OwnedSession> {
    const served = opened.then((session): OwnedSession => ({ session, receipts: new Map() }));
    this.#open.set(id, served);
    const leave = (): void => {
      if (this.#open.get(id) === served) this.#open.delete(id);
    };
    served.then(({ session }) => void session.closed.then(leave, leave), leave);
    return served;
  }

  #openOptions({ cwd, options }: Opening) {
    const parsed = z.strictObject(plainOptionFields()).safeParse(options);
    if (!parsed.success) throw fault("usage", { reason: sayIssue("open", parsed.error.issues[0]) });
    if (!path.isAbsolute(cwd)) throw fault("usage", { reason: "open: cwd must be an absolute path" });
    const given = optionsFromPlain(parsed.data);
    mustFit(given);
    return openOptionsOf(
      { permissionMode: "default", ...given },
      {
        version: this.#options.version,
        env: this.#options.env,
        cwd,
        unfinished: "continue",
        asks: "answered",
        mcpServers: given.mcpServers && readServers(given.mcpServers),
      },
    );
  }
}

const submitTo = ({ session }: OwnedSession, command: Command): Promise<Receipt> =>
  nearHandle(session).submit(command);

const sayIssue = (
  what: string,
  issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined,
): string => `${what}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}`.slice(0, 300);

const openingSchema = z.object({ cwd: z.string(), options: z.record(z.string(), jsonSchema) });
type Opening = z.infer<typeof openingSchema>;

/** What the sessions of a server were opened with, a file each, readable by the person only. */
class Openings {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async keep(id: string, opening: Opening): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#file(id);
    const fresh = `${file}.new`;
    await writeFile(fresh, `${JSON.stringify(opening)}\n`, { mode: 0o600, flush: true });
    await rename(fresh, file);
  }

  /** Undefined where nothing was kept, or nothing that can be read: then the log's own word counts. */
  async read(id: string): Promise<Opening | undefined> {
    try {
      return openingSchema.parse(JSON.parse(await readFile(this.#file(id), "utf8")));
    } catch {
      return undefined;
    }
  }

  async forget(id: string): Promise<void> {
    await rm(this.#file(id), { force: true });
  }

  /** An id is a UUID by the time it is kept; whatever else it were, it stays in the folder. */
  #file(id: string): string {
    return path.join(this.#folder, `${path.basename(id)}.json`);
  }
}

/** A session of this process as a handle: what a face has of it, and nothing that could not cross a wire. */
export function nearHandle(session: OpenSession): SessionHandle {
  const detached = new AbortController();
  return {
    id: session.id,
    async submit(command) {
      if (command.type !== "close") return session.submit(command);
      await session.close("ended");
      return { type: "done" };
    },
    events: (afterSeq, signal) =>
      session.attach(afterSeq, signal ? AbortSignal.any([signal, detached.signal]) : detached.signal),
    asks: async () => session.openAsks(),
    inquire: session.inquire,
    detach: async () => detached.abort(),
  };
}
