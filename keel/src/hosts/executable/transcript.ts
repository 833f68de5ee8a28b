/** The lines by which SDKs of the interface mirror a session to a store, and the way back from there. */
import { readFile } from "node:fs/promises";
import type { Home } from "../../app/home.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { newTranscript, type TranscriptEntry, toEntries } from "../../app/transcripts/entries.ts";
import { transcriptFile } from "../../app/transcripts/places.ts";
import { reasonOf } from "../../kernel/fault.ts";
import { projectKeyOf } from "../../kernel/path.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import type { SessionStoreEntry } from "../../sdk/stored/session-store.ts";
import type { Context } from "../cli/context.ts";

export type MirrorMessage = {
  type: "transcript_mirror";
  filePath: string;
  entries: (TranscriptEntry | SessionStoreEntry)[];
};

/** Enough to be worth a line; the rest goes with the end of the reply. */
const maxHeld = 50;

export class WireMirror {
  readonly #context: Context;
  readonly #send: ((message: MirrorMessage) => void) | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(context: Context, send: ((message: MirrorMessage) => void) | undefined) {
    this.#context = context;
    this.#send = send;
  }

  /** All that happened and happens, with Keel's own records between the messages: by them the session can be brought back. */
  follow(session: Pick<OpenSession, "id" | "info" | "attach">): void {
    const send = this.#send;
    if (!send) return;
    this.#work = this.#work
      .then(() => this.#pass(session, send))
      .catch((thrown: unknown) => {
        this.#context.err.line(`keel: the copy for SDKs is not complete: ${reasonOf(thrown)}`);
      });
  }

  /** Settles when everything of sessions that have ended is sent. */
  async flush(): Promise<void> {
    await this.#work;
  }

  async #pass(
    session: Pick<OpenSession, "id" | "info" | "attach">,
    send: (message: MirrorMessage) => void,
  ): Promise<void> {
    const { entryOf } = await import("../../sdk/stored/mirror.ts");
    const { env, version } = this.#context;
    const filePath = transcriptFile(env, { cwd: session.info.cwd, id: session.id });
    const entrypoint = env["CLAUDE_CODE_ENTRYPOINT"] ?? "cli";
    const facts = { sessionId: session.id, version, entrypoint, gitBranch: "" };
    let memo = newTranscript;
    let held: MirrorMessage["entries"] = [];
    for await (const event of session.attach()) {
      if (!isDurable(event) || event.origin) continue;
      const [entries, next] = toEntries(event, memo, facts);
      memo = next;
      held.push(...entries, entryOf(event));
      const isPause = event.type === "model.finished" || event.type === "turn.finished";
      if (!isPause && held.length < maxHeld) continue;
      send({ type: "transcript_mirror", filePath, entries: held });
      held = [];
    }
    if (held.length > 0) send({ type: "transcript_mirror", filePath, entries: held });
  }
}

/** Brings a session back that only the transcript knows, as an SDK with a store leaves it before a resume. */
export async function restoreSession(
  session: string,
  context: Context,
  { sessions }: Pick<Home, "sessions">,
): Promise<void> {
  if (sessions.location(session) !== undefined) return;
  const file = transcriptFile(context.env, { cwd: context.cwd, id: session });
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return;
  const { ownRecordsIn, restoreFrom } = await import("../../sdk/stored/mirror.ts");
  const store = { append: async () => undefined, load: async () => ownRecordsIn(text.split("\n")) };
  const key = { projectKey: projectKeyOf(context.cwd), sessionId: session };
  await restoreFrom(store, { key, cwd: context.cwd, sessions });
}
