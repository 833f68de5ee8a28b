/** The transcript of a session: written from its start where somebody wants it, else from the first hook on that is told where it stands. */
import path from "node:path";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Session } from "../../engine/session.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import type { HostFolds } from "../compose/host-folds.ts";
import type { CopiedSession, TranscriptCopy } from "./copy.ts";

export type TranscriptOptions = {
  readonly version: string;
  readonly cwd: string;
  /** With the settings. */
  readonly env: EnvironmentVariables;
  readonly settings: Pick<KeelSettings, "copyTranscripts">;
  /** Keel's own folder. */
  readonly path: string;
  readonly clock: Clock;
  readonly store: Pick<Store, "read">;
};

type FollowedLog = Pick<CopiedSession, "history"> & {
  /** Undefined for a session that is kept nowhere: it has no transcript either. */
  readonly location: string | undefined;
  readonly folds: HostFolds;
};

export class SessionTranscript {
  readonly #options: TranscriptOptions;
  #session: (CopiedSession & { tell(warning: string): void }) | undefined;
  #copy: Promise<TranscriptCopy> | undefined;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  follow(session: Session, { location, history, folds }: FollowedLog): void {
    if (location === undefined) return;
    const { clock, store } = this.#options;
    this.#session = {
      id: session.id,
      onEvent: (listener) => session.onEvent(listener),
      history,
      fold: (wanted) => folds.fold(wanted),
      agent: (id) => store.read(id),
      tell: (text) => {
        const notice = { type: "notice.raised", level: "warning", text } as const;
        session.relay({ ...notice, at: clock.now(), session: session.id });
      },
    };
    if (this.#isWanted()) this.#open()?.catch(() => undefined);
  }

  /** Where it stands, or that of an agent, with all that has happened; undefined where there is none. */
  async path(agentId?: string): Promise<string | undefined> {
    const copy = await this.#open();
    await copy?.begin();
    return agentId === undefined ? copy?.file : copy?.agentFile(agentId);
  }

  /** Settles when all that has happened is written. Never rejects. */
  async flush(): Promise<void> {
    await (await this.#copy?.catch(() => undefined))?.flush();
  }

  /** A host that says who it is looks there; a person's own word counts more. */
  #isWanted(): boolean {
    const { settings, env } = this.#options;
    return settings.copyTranscripts ?? Boolean(env["CLAUDE_CODE_ENTRYPOINT"]);
  }

  #open(): Promise<TranscriptCopy> | undefined {
    const session = this.#session;
    if (session) this.#copy ??= this.#load(session);
    return this.#copy;
  }

  /** What writes it is loaded where it is needed. */
  async #load(session: CopiedSession & { tell(warning: string): void }): Promise<TranscriptCopy> {
    const [{ TranscriptCopy }, places, { knownSecrets }] = await Promise.all([
      import("./copy.ts"),
      import("./places.ts"),
      import("../maintenance/keys.ts"),
    ]);
    const { id } = session;
    const { version, cwd, env, path: home } = this.#options;
    const file = this.#isWanted()
      ? places.transcriptFile(env, { cwd, id })
      : path.join(places.ownTranscriptFolder(home, id), `${id}.jsonl`);
    return new TranscriptCopy(session, {
      file,
      version,
      entrypoint: env["CLAUDE_CODE_ENTRYPOINT"] || "cli",
      secrets: knownSecrets({ env, cwd, home }).filter((secret) => secret.length >= minSecret),
      failed: (why) => session.tell(`The copy of the transcript is not complete: ${why}`),
    });
  }
}

/** Shorter ones could be ordinary words. */
const minSecret = 20;
