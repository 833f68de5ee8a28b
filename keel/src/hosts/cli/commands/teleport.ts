/** `keel teleport`: a session goes to another machine, or comes from one. It is at one place at any time. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { type CliOptions, type OptionValues, usage } from "../../../app/flags/arguments.ts";
import { type Home, openHome } from "../../../app/home.ts";
import { allSecrets } from "../../../app/maintenance/keys.ts";
import type { Arrival } from "../../../app/moves/arrive.ts";
import type { DepartOptions } from "../../../app/moves/depart.ts";
import type { MovePorts } from "../../../app/moves/move-ports.ts";
import type { MoveReport } from "../../../app/moves/move-to-file.ts";
import { connect, type KeelClient } from "../../../client/connect.ts";
import { Fault } from "../../../kernel/fault.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { type CommandRun, json } from "../command.ts";
import type { Context } from "../context.ts";

export const teleportOptions = {
  ...json,
  from: { kind: "text", value: "FILE", says: "The same as naming only a FILE: takes a session in" },
  folder: {
    kind: "text",
    value: "FOLDER",
    says: "Where it is to go on: of the target, or of this machine when one is taken in",
  },
  whole: { kind: "flag", says: "With the whole history of git, for a folder that has no clone yet" },
  pair: {
    kind: "text",
    value: "CODE",
    says: "Get in to a server with the code that `keel serve pair --access work` shows there",
  },
  "secret-file": { kind: "text", value: "FILE", says: "What lets in to a server, in place of a code" },
  keel: { kind: "text", value: "PATH", says: "By ssh: the command there, where it is not found by its name" },
  "ssh-command": {
    kind: "text",
    value: "COMMAND",
    says: "In place of `ssh`, with its options; KEEL_SSH_COMMAND says the same",
  },
  "no-files": { kind: "flag", says: "Without the files of its folder, which are there by other means" },
} as const satisfies CliOptions;

type TeleportValues = OptionValues<typeof teleportOptions>;

export const teleport: CommandRun<TeleportValues> = async ({ values, positionals }, context) => {
  const [first, second, ...more] = positionals;
  const isOut = second !== undefined && values.from === undefined;
  const file = isOut ? undefined : (values.from ?? first);
  if (more.length > 0 || (!isOut && file === undefined) || (values.from !== undefined && first !== undefined))
    throw usage("keel teleport ID TO moves a session, keel teleport FILE takes one in.");
  if (values.whole && values["no-files"]) throw usage("Give one of --whole and --no-files.");
  await using home = openHome(context);
  const ports = portsOf(home, context);
  if (file !== undefined) return takeIn(path.resolve(context.cwd, file), { values, context, ports });
  await moveOut({ session: first ?? "", files: filesOf(values) }, second ?? "", {
    values,
    context,
    ports,
    home,
  });
};

const filesOf = (values: TeleportValues): DepartOptions["files"] =>
  values["no-files"] ? "none" : values.whole ? "all" : "new";

type Moving = {
  readonly values: TeleportValues;
  readonly context: Context;
  readonly ports: MovePorts;
};

/** So often a person who waits is told how far it is. */
const tellMs = 2_000;

function portsOf(home: Home, context: Context): MovePorts {
  let told = home.clock.monotonicMs();
  return home.movePorts({
    env: context.env,
    host: hostname(),
    secrets: allSecrets(context),
    tell(words) {
      const now = home.clock.monotonicMs();
      if (now - told < tellMs) return;
      told = now;
      context.err.line(`keel: ${words}`);
    },
  });
}

async function takeIn(file: string, { values, context, ports }: Moving): Promise<void> {
  const { takeFile } = await import("../../../app/moves/take-file.ts");
  const folder = values.folder === undefined ? undefined : path.resolve(context.cwd, values.folder);
  const arrival = await takeFile({ file, folder, fallback: context.cwd }, ports);
  if (values.json) context.out.line(toLine(arrival));
  else sayArrival(arrival, context);
}

function sayArrival({ session, cwd, from, state, left, notices }: Arrival, { out, err }: Context): void {
  out.line(session);
  for (const notice of notices) err.line(`keel: ${visible(notice)}`);
  sayLeft(left, err);
  err.line(
    visible(
      state === "there"
        ? "It was taken in before; nothing was changed."
        : `It came from ${from.host} and goes on in ${cwd}. What was allowed there is asked about here.`,
    ),
  );
  err.line(visible(`To go on: cd ${cwd} && keel --resume ${session}`));
}

async function moveOut(
  options: DepartOptions,
  to: string,
  { values, context, ports, home }: Moving & { readonly home: Home },
): Promise<void> {
  const target = targetOf(to, context.cwd);
  const report = await departing(options, target, { values, context, ports, home });
  if (values.json) context.out.line(toLine(report));
  else sayReport(report, target, context);
}

async function departing(
  options: DepartOptions,
  { kind, name, folder: named }: MoveTarget,
  { ports, values, context, home }: Moving & { readonly home: Home },
): Promise<MoveReport> {
  if (kind === "file") {
    if (values.folder !== undefined) throw usage("--folder is said where the file is taken in.");
    const { moveToFile } = await import("../../../app/moves/move-to-file.ts");
    return released(options.session, home, () => moveToFile({ ...options, file: name }, ports));
  }
  const { client, folder } =
    kind === "ssh"
      ? await machineOf(name, values.folder ?? named ?? "", { values, context })
      : { client: await serverOf(name, { values, context, home }), folder: values.folder };
  try {
    const { moveToServer } = await import("../../../app/moves/move-to-server.ts");
    const target = { kind, name, folder, moves: client.moves };
    return await released(options.session, home, () => moveToServer({ ...options, target }, ports));
  } finally {
    client.close();
  }
}

/** A session that the server of this home has is let go of first, where it only rests or waits. */
async function released<T>(session: string, home: Home, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== "session_served") throw thrown;
    const { connectHere } = await import("../../../app/sessions/home-server.ts");
    const { client } = await connectHere(home.path, "keel teleport");
    try {
      await client.moves.release(session);
    } finally {
      client.close();
    }
    return await work();
  }
}

/** A folder that is not there yet is made below one that is: it is named from the person's home there. */
async function machineOf(
  name: string,
  folder: string,
  { values, context }: Omit<Moving, "ports">,
): Promise<{ readonly client: KeelClient; readonly folder: string | undefined }> {
  const { connectBySsh } = await import("./ssh.ts");
  const { client, place } = await connectBySsh(name, { ...values, folder: "" }, context);
  const below = folder.replace(/^~\//, "");
  return {
    client,
    folder: folder === "" ? undefined : below.startsWith("/") ? below : path.posix.join(place.cwd, below),
  };
}

async function serverOf(
  given: string,
  { values, context, home }: Omit<Moving, "ports"> & { readonly home: Home },
): Promise<KeelClient> {
  const { keepSecret, keptSecret, safeOrigin } = await import("../../bridge/main.ts");
  const url = safeOrigin(given);
  const kept = `teleport ${url}`;
  if (values.pair !== undefined) {
    const { pairWith } = await import("./bridge.ts");
    const device = await pairWith({ url, code: values.pair, name: hostname() }, context);
    if (device.secret === undefined || device.access !== "work")
      throw usage("This code does not let in who may work: there, use `keel serve pair --access work`.");
    await keepSecret(home, kept, device.secret);
  }
  const file = values["secret-file"];
  const secret =
    file === undefined
      ? (context.env["KEEL_SERVER_SECRET"] ?? (await keptSecret(home, kept)))
      : (await readFile(path.resolve(context.cwd, file), "utf8")).trim();
  if (secret === undefined)
    throw usage(
      "There is no secret for this server here: `keel serve pair --access work`, there, shows a code for --pair.",
    );
  return connect({ url, secret, name: `keel teleport on ${hostname()}` });
}

function sayReport(
  { to, cwd, left, notices, bytes }: MoveReport,
  { kind }: MoveTarget,
  { err }: Context,
): void {
  for (const notice of notices) err.line(`keel: ${visible(notice)}`);
  sayLeft(left, err);
  err.line(
    visible(
      kind === "file"
        ? `It is in ${to} (${Math.ceil(bytes / 1_000)} KB), and not here any more. There: keel teleport ${path.basename(to)}`
        : `It goes on at ${to}, in ${cwd ?? "its folder"}, and not here any more.`,
    ),
  );
  err.line("Trust, rules, keys and settings of this machine stayed here.");
}

function sayLeft(left: readonly string[], err: Context["err"]): void {
  if (left.length === 0) return;
  const some = left.slice(0, 10).map(visible).join(", ");
  err.line(`Left behind, since they hold keys or settings: ${some}${left.length > 10 ? " …" : ""}`);
}

type MoveTarget = {
  readonly kind: "file" | "ssh" | "server";
  /** The file, the machine, or the address. */
  readonly name: string;
  readonly folder?: string | undefined;
};

/** As other programs tell them apart: an address has a scheme, a machine a colon, a file a slash or its ending. */
function targetOf(to: string, cwd: string): MoveTarget {
  if (/^https?:\/\//.test(to)) return { kind: "server", name: to };
  const [, host, folder] = /^((?:ssh:\/\/)?[^/:]+(?:@[^/:]+)?):(.*)$/.exec(to) ?? [];
  if (host !== undefined && !to.startsWith("ssh://")) return { kind: "ssh", name: host, folder };
  if (to.startsWith("ssh://")) return { kind: "ssh", name: to };
  if (to.includes("/") || to.endsWith(".keel")) return { kind: "file", name: path.resolve(cwd, to) };
  throw usage(
    `Is ${JSON.stringify(to)} a machine or a file? A machine is named with a colon, ${to}:FOLDER, a file with a slash, ./${to}, or as NAME.keel.`,
  );
}
