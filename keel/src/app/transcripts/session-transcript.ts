/** Opens the transcript of a session where it belongs. Loaded with the first that is written. */
import path from "node:path";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { Session } from "../../engine/session.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import type { HostFolds } from "../compose/host-folds.ts";
import { knownSecrets } from "../maintenance/keys.ts";
import { type CopiedSession, TranscriptCopy } from "./copy.ts";
import { ownTranscriptFolder, transcriptFile } from "./places.ts";

export type TranscriptOptions = {
  readonly version: string;
  readonly cwd: string;
  /** With the settings. */
  readonly env: EnvironmentVariables;
  /** Keel's own folder. */
  readonly path: string;
  readonly clock: Clock;
  readonly store: Pick<Store, "read">;
};

export type TranscribedSession = Pick<CopiedSession, "history"> & {
  readonly session: Session;
  readonly folds: HostFolds;
};

/** Shorter ones could be ordinary words. */
const minSecret = 20;

/** `shared`: where programs look; otherwise in Keel's own folder, for hooks alone. */
export function openTranscript(
  { session, history, folds }: TranscribedSession,
  { version, cwd, env, path: home, clock, store }: TranscriptOptions,
  place: "shared" | "own",
): TranscriptCopy {
  const { id } = session;
  const copied: CopiedSession = {
    id,
    onEvent: (listener) => session.onEvent(listener),
    history,
    fold: (wanted) => folds.fold(wanted),
    agent: (agent) => store.read(agent),
  };
  return new TranscriptCopy(copied, {
    file:
      place === "shared"
        ? transcriptFile(env, { cwd, id })
        : path.join(ownTranscriptFolder(home, id), `${id}.jsonl`),
    version,
    entrypoint: env["CLAUDE_CODE_ENTRYPOINT"] || "cli",
    secrets: knownSecrets({ env, cwd, home }).filter((secret) => secret.length >= minSecret),
    failed: (why) => {
      const text = `The copy of the transcript is not complete: ${why}`;
      session.relay({ type: "notice.raised", level: "warning", text, at: clock.now(), session: id });
    },
  });
}
