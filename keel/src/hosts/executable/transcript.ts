/**
 * The copy of a session that SDKs of the interface read from disk by themselves, and the lines by which they mirror it to
 * a store. Nothing depends on it here: what cannot be written is told once, and the session goes on.
 */

import { appendFile, mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { Home } from "../../app/home.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { reasonOf } from "../../kernel/fault.ts";
import { toLine } from "../../kernel/json.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { projectKeyOf } from "../../sdk/stored/session-store.ts";
import { Transcript, type TranscriptRecord } from "../../sdk/stored/transcript.ts";
import type { Context } from "../cli/context.ts";

export type MirrorMessage = { type: "transcript_mirror"; filePath: string; entries: TranscriptRecord[] };

/** Enough to be worth a line; the rest goes with the end of the reply. */
const maxHeld = 50;

type TranscriptCopies = {
  readonly kept: "on disk" | "nowhere";
  readonly mirror: ((message: MirrorMessage) => void) | undefined;
};

export class WireTranscript {
  readonly #context: Context;
  readonly #copies: TranscriptCopies;
  #work: Promise<void> = Promise.resolve();
  #file = "";
  #hasFailed = false;

  constructor(context: Context, copies: TranscriptCopies) {
    this.#context = context;
    this.#copies = copies;
  }

  /** From now on what happens is copied, and what happened before if it is not there yet. */
  follow(session: Pick<OpenSession, "id" | "info" | "attach">): void {
    if (this.#copies.kept === "nowhere" && !this.#copies.mirror) return;
    const { env, version } = this.#context;
    const transcript = new Transcript({
      sessionId: session.id,
      cwd: session.info.cwd,
      version,
      entrypoint: env["CLAUDE_CODE_ENTRYPOINT"] ?? "cli",
      holds: this.#copies.mirror ? "events" : "messages",
    });
    this.#then(async () => {
      this.#file = path.join(projectFolder(env, session.info.cwd), `${session.id}.jsonl`);
      const known = await idsIn(this.#file);
      const held: TranscriptRecord[] = [];
      for await (const event of session.attach()) {
        if (!isDurable(event) || event.origin) continue;
        held.push(...transcript.take(event).filter(({ uuid }) => !known.has(uuid ?? "")));
        const isPause = event.type === "model.finished" || event.type === "turn.finished";
        if (isPause || held.length >= maxHeld) await this.#write(held.splice(0));
      }
      await this.#write(held);
    });
  }

  /** Settles when everything of sessions that have ended is written. */
  async flush(): Promise<void> {
    await this.#work;
  }

  async #write(entries: TranscriptRecord[]): Promise<void> {
    if (entries.length === 0) return;
    this.#copies.mirror?.({ type: "transcript_mirror", filePath: this.#file, entries });
    if (this.#copies.kept === "nowhere") return;
    // Like the log itself, nobody else's business.
    await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    await appendFile(this.#file, entries.map((entry) => `${toLine(entry)}\n`).join(""), { mode: 0o600 });
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((thrown: unknown) => {
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      const why = reasonOf(thrown);
      this.#context.err.line(`keel: the copy for SDKs is not complete: ${why}`);
    });
  }
}

/** Brings a session back that only the transcript knows, as an SDK with a store leaves it before a resume. */
export async function restoreSession(
  session: string,
  context: Context,
  { sessions }: Pick<Home, "sessions">,
): Promise<void> {
  if (sessions.location(session) !== undefined) return;
  const text = await readFile(
    path.join(projectFolder(context.env, context.cwd), `${path.basename(session)}.jsonl`),
    "utf8",
  ).catch(() => undefined);
  if (text === undefined) return;
  const [{ ownRecordsIn }, { restoreFrom }] = await Promise.all([
    import("../../sdk/stored/transcript.ts"),
    import("../../sdk/stored/mirror.ts"),
  ]);
  const store = { append: async () => undefined, load: async () => ownRecordsIn(text.split("\n")) };
  const key = { projectKey: projectKeyOf(context.cwd), sessionId: session };
  await restoreFrom(store, { key, cwd: context.cwd, sessions });
}

const projectFolder = (env: Context["env"], cwd: string): string =>
  path.join(
    env["CLAUDE_CONFIG_DIR"] ?? path.join(env["HOME"] ?? "", ".claude"),
    "projects",
    projectKeyOf(cwd),
  );

async function idsIn(file: string): Promise<Set<string>> {
  const text = await readFile(file, "utf8").catch(() => "");
  return new Set(text.match(/(?<="uuid":")[0-9a-f-]{36}(?=")/g));
}
