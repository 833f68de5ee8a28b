/**
 * `keel doctor --bundle`: one file for whoever helps: versions, findings, settings, recent faults, and a session's log
 * if one is named. Secrets are taken out: those that this machine knows, and what looks like one.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type Home, openHome } from "../../../app/home.ts";
import { listSettings } from "../../../app/maintenance/configure.ts";
import type { Finding } from "../../../app/maintenance/doctor.ts";
import { namedSecrets, storedKeys } from "../../../app/maintenance/keys.ts";
import { fault } from "../../../kernel/fault.ts";
import type { Json } from "../../../kernel/json.ts";
import type { Context } from "../context.ts";

export type BundleRequest = { readonly file: string; readonly session?: string | undefined };

/** Sessions whose faults are looked for, and faults that are told. */
const maxSessions = 10;
const maxFaults = 50;

/** Says where it is. A file that is there already is not replaced. */
export async function writeBundle(
  findings: readonly Finding[],
  { file, session }: BundleRequest,
  context: Context,
): Promise<string> {
  const { scrubber } = await import("../../../testing/cassette-scrub.ts");
  const { found } = await storedKeys(context);
  const scrub = scrubber([...namedSecrets(context.env), ...[...found.values()].map(({ key }) => key)]);
  const kept = openHome(context).sessions;
  const { rows, notices } = await listSettings(context);
  const bundle = {
    keel: context.version,
    versions: { ...process.versions },
    system: { platform: process.platform, arch: process.arch },
    // Names tell what is set up; most values are nobody's business.
    variables: Object.keys(context.env).sort(),
    findings,
    settings: rows,
    settingsNotices: notices,
    faults: await recentFaults(kept),
    ...(session === undefined ? {} : { session, log: await Array.fromAsync(kept.read(session)) }),
  };
  const target = path.resolve(context.cwd, file);
  const text = JSON.stringify(scrub.json(JSON.parse(JSON.stringify(bundle)) as Json), null, 2);
  try {
    await writeFile(target, `${text}\n`, { flag: "wx", mode: 0o600 });
  } catch (thrown) {
    const isThere = thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
    throw fault("usage", {
      reason: isThere ? `${target} is there already.` : `${target} cannot be written.`,
      cause: thrown,
    });
  }
  return target;
}

type BundleSessions = Home["sessions"];

/** The newest first. */
async function recentFaults(kept: BundleSessions): Promise<object[]> {
  const faults: { at: number; session: string; type: string; fault: unknown }[] = [];
  // Two of one moment stay as they came, and are turned around with the rest.
  for (const { id } of await kept.list({ limit: maxSessions })) {
    try {
      for await (const event of kept.read(id))
        if ((event.type === "model.failed" || event.type === "turn.finished") && event.fault)
          faults.push({ at: event.at, session: id, type: event.type, fault: event.fault });
    } catch (thrown) {
      faults.push({ at: 0, session: id, type: "unreadable", fault: String(thrown) });
    }
  }
  return faults
    .sort((left, right) => left.at - right.at)
    .reverse()
    .slice(0, maxFaults);
}
