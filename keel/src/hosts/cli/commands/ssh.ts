/** `keel ssh`: a session on another machine, on this terminal. A cut line is opened again; the work there never stops. */
import { hostname } from "node:os";
import { usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { clientOver, type KeelClient, webTimers } from "../../../client/connect.ts";
import { wireLink } from "../../../client/wire-link.ts";
import { fault } from "../../../kernel/fault.ts";
import { attachHere } from "../attach/attach.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { type RemotePlace, SshLine } from "../ssh/ssh-line.ts";

export type SshValues = {
  readonly resume?: string | undefined;
  readonly continue: boolean;
  readonly model?: string | undefined;
  readonly keel?: string | undefined;
  readonly "ssh-command"?: string | undefined;
};

/** A person may have to type a password first, or to look for it. */
const openMs = 120_000;

export const ssh: CommandRun<SshValues> = async ({ values, positionals }, context) => {
  const [destination, folder = "", ...more] = positionals;
  if (destination === undefined || more.length > 0)
    throw usage("Name a machine, and at most one folder there: keel ssh [USER@]HOST [FOLDER]");
  if (values.resume !== undefined && values.continue)
    throw usage("--resume names a session and --continue the newest one: give one of them.");
  const { client, place } = await connectBySsh(destination, { ...values, folder }, context);
  try {
    if (place.version !== context.version)
      context.err.line(`keel: ${destination} has Keel ${place.version}, this is ${context.version}.`);
    const id = await sessionOf(client, values, place.cwd);
    const again = `keel ssh ${destination} --resume ${id}`;
    return await attachHere({ client, id, again, home: openHome(context).path }, context);
  } finally {
    client.close();
  }
};

/** A client of the server there, which has answered. Throws `remote_lacks`, and `link_lost` with what `ssh` says. */
export async function connectBySsh(
  destination: string,
  { folder, ...values }: Pick<SshValues, "keel" | "ssh-command"> & { readonly folder: string },
  { env }: Context,
): Promise<{ readonly client: KeelClient; readonly place: RemotePlace }> {
  const words = (values["ssh-command"] ?? env["KEEL_SSH_COMMAND"] ?? "").split(" ").filter(Boolean);
  const line = new SshLine({
    destination,
    folder,
    keel: values.keel ?? "keel",
    program: words.length > 0 ? words : ["ssh"],
    env,
  });
  const open = (signal: AbortSignal) => line.open(signal);
  const name = `keel ssh on ${hostname()}`;
  const client = clientOver(wireLink({ open, name, timers: webTimers(), openMs }));
  try {
    await client.greeting();
    const { place } = line;
    if (!place) throw fault("link_lost", { reason: `${destination} did not say where it is` });
    return { client, place };
  } catch (thrown) {
    client.close();
    throw line.lack === undefined ? thrown : fault("remote_lacks", { host: destination, reason: line.lack });
  }
}

/** The one that is named, the newest of the folder, or a new one. */
async function sessionOf(
  client: KeelClient,
  { resume, continue: newest, model }: SshValues,
  cwd: string,
): Promise<string> {
  if (resume !== undefined) return resume;
  if (newest) {
    const [found] = await client.sessions({ cwd, limit: 1 });
    if (!found) throw fault("session_unknown", { session: `none of ${cwd}` });
    return found.id;
  }
  const { id } = await client.open({ cwd, options: model === undefined ? {} : { model } });
  return id;
}
