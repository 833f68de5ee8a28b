/** What is written to the audit log, where a person's settings want one: what sessions decide, and what is changed beside them. */
import { pathsOf } from "../../config/settings/paths.ts";
import { loadSettings } from "../../config/settings/settings.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Session } from "../../engine/session.ts";
import { toFault } from "../../kernel/fault.ts";
import { secretsIn } from "../../kernel/secrets.ts";
import type { Clock } from "../../ports/clock.ts";
import { nodeClock } from "../node-ports.ts";
import { type AuditEntry, auditEntry } from "./audit-entries.ts";
import { AuditFile } from "./audit-file.ts";

const megabyte = 1_000_000;
const usual = { maxMb: 10, files: 10 };

type AuditPlace = Parameters<typeof pathsOf>[0];

/** `secrets`: those that the start knows of; what looks like a key is hidden all the same. */
function fileFor(
  place: AuditPlace,
  { maxMb = usual.maxMb, files = usual.files }: AuditWish,
  secrets: readonly string[] = secretsIn(place.env),
): AuditFile {
  return new AuditFile(pathsOf(place).home, { maxBytes: Math.ceil(maxMb * megabyte), files }, secrets);
}

type AuditWish = NonNullable<KeelSettings["audit"]>;

export type SessionAudit = {
  /** `key`: what its model is asked with, by its name; never the key itself. */
  follow(
    session: Pick<Session, "id" | "state" | "onEvent" | "relay">,
    key: { readonly provider: string; readonly from: string },
  ): void;
};

export type AuditedSession = {
  readonly place: AuditPlace;
  /** What is never written, wherever it stands. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly project: string;
  readonly wish: AuditWish;
};

/** One listener: every entry is made from an event, and nobody else writes any for a session. */
export function sessionAudit({ place, secrets, clock, project, wish }: AuditedSession): SessionAudit {
  const file = fileFor(place, wish, secrets);
  return {
    follow(session, { provider, from }) {
      // Nobody listens to a session that is just being opened: what failed then is told with its next event.
      let isHeard = false;
      let hasFailed = false;
      const write = (entry: AuditEntry): void => {
        try {
          file.append(entry);
          hasFailed = false;
        } catch (thrown) {
          if (!hasFailed) tell(`The audit log cannot be written: ${toFault(thrown).message}`);
          hasFailed = isHeard;
        }
      };
      const tell = (text: string): void =>
        session.relay({
          type: "notice.raised",
          level: "warning",
          text,
          code: "audit",
          at: clock.now(),
          session: session.id,
        });
      const { id, state } = session;
      const about = { at: new Date(clock.now()).toISOString(), session: id, seq: state.seq, project };
      const { model, permissionMode } = state.settings ?? {};
      write({ ...about, what: "session.opened", changed: { model, permissionMode } });
      if (from !== "none") write({ ...about, what: "key.used", by: from, changed: { provider } });
      isHeard = true;
      session.onEvent((event) => {
        const entry = auditEntry(event, project);
        if (entry) write(entry);
      });
    },
  };
}

/** A change that no session made, of settings, keys or trust. Never throws: what was changed is changed. */
export async function auditChange(
  place: AuditPlace,
  entry: Omit<AuditEntry, "at" | "project">,
): Promise<void> {
  try {
    const paths = pathsOf(place);
    const { settings } = await loadSettings({ paths, cwd: paths.home, chosen: ["user"] });
    if (!settings.audit?.enabled) return;
    fileFor(place, settings.audit).append({
      at: new Date(nodeClock().now()).toISOString(),
      project: place.cwd,
      ...entry,
    });
  } catch {
    // Settings that cannot be read, or a full disk: whoever made the change hears of both elsewhere.
  }
}
