/** `keel bridge`: from its options to the bridge; and `keel serve bridges`, which is its other end. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import {
  type CliOptions,
  type OptionValues,
  oneOf,
  oneWord,
  usage,
  wholeNumber,
} from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { connectHere } from "../../../app/sessions/home-server.ts";
import { pairDevice } from "../../../client/connect.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { type BridgeEntry, spawnModes } from "../../../protocol/bridge.ts";
import { permissionModes } from "../../../protocol/settings.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { exitCodeOf } from "../signals.ts";

export const bridgeOptions = {
  spawn: { kind: "text", value: "MODE", says: "same-dir (the default), worktree or single-session" },
  "max-sessions": { kind: "text", value: "N", says: "At once; 4 when left out" },
  dir: { kind: "text", value: "FOLDER", says: "In place of the current folder" },
  name: { kind: "text", value: "NAME", says: "What this machine is called there" },
  pair: {
    kind: "text",
    value: "CODE",
    says: "Get in with the code that `keel serve pair --access bridge` shows",
  },
  "secret-file": { kind: "text", value: "FILE", says: "What lets it in, in place of what pairing has kept" },
  via: { kind: "text", value: "WAY", says: "websocket or sse only; both in turn when left out" },
  model: { kind: "text", short: "m", value: "NAME", says: "Of sessions whose work names none" },
  "permission-mode": { kind: "text", value: "MODE", says: "Of every session" },
} as const satisfies CliOptions;

type BridgeValues = OptionValues<typeof bridgeOptions>;

const endCodes = {
  stopped: exitCodes.ended,
  done: exitCodes.ended,
  removed: exitCodes.ended,
  "given-up": exitCodes.unreachable,
} as const;

const usualSessions = 4;

export const bridge: CommandRun<BridgeValues> = async ({ values, positionals }, context) => {
  const url = oneWord(positionals, "Name the address of a server: keel bridge URL");
  const spawnMode = oneOf("spawn", values.spawn, spawnModes) ?? "same-dir";
  const permissionMode = oneOf("permission-mode", values["permission-mode"], permissionModes);
  const via = oneOf("via", values.via, ["websocket", "sse"] as const);
  const maxSessions = wholeNumber("max-sessions", values["max-sessions"], 1) ?? usualSessions;
  const { keepSecret, runBridge, safeOrigin } = await import("../../bridge/main.ts");
  if (values.pair !== undefined)
    await keepSecret(openHome(context), safeOrigin(url), await paired(url, values, context));
  const file = values["secret-file"];
  const stop = new AbortController();
  let code: number | undefined;
  const release = context.signals.take((signal) => {
    // Asked once more, it does not wait for what takes its time to end.
    if (stop.signal.aborted) process.exit(exitCodeOf(signal));
    if (signal === "SIGINT") code = exitCodeOf(signal);
    stop.abort();
  });
  try {
    const end = await runBridge(
      {
        url,
        secret:
          file === undefined ? context.env["KEEL_BRIDGE_SECRET"] : (await readFile(file, "utf8")).trim(),
        dir: values.dir ?? ".",
        name: values.name,
        spawnMode,
        maxSessions,
        via,
        sessionOptions: {
          ...(permissionMode === undefined ? {} : { permissionMode }),
          ...(values.model === undefined ? {} : { model: values.model }),
        },
      },
      {
        version: context.version,
        env: context.env,
        cwd: context.cwd,
        say: (words) => context.err.line(`keel: ${visible(words)}`),
        stopped: stop.signal,
      },
    );
    if (end === "given-up")
      context.err.line("keel: The server could not be reached for ten minutes: given up.");
    return code ?? endCodes[end];
  } finally {
    release();
  }
};

/** Throws `code_refused`, `link_lost` and `usage`. */
async function paired(url: string, { pair: code = "", name = hostname() }: BridgeValues, context: Context) {
  const device = await pairWith({ url, code, name }, context);
  if (device.secret === undefined || (device.access !== "bridge" && device.access !== "work"))
    throw usage("This code lets in no bridge: there, use `keel serve pair --access bridge`.");
  return device.secret;
}

export const pairWith = (
  wanted: { readonly url: string; readonly code: string; readonly name: string },
  { err }: Context,
) =>
  pairDevice({
    ...wanted,
    keep: "bearer",
    onDigits: (digits) => err.line(`keel: It must show these digits there: ${digits}`),
  });

type BridgesValues = {
  readonly json: boolean;
  readonly title?: string | undefined;
  readonly model?: string | undefined;
};

/** What there is; with the word `work` a piece of it is given, with `remove` it is forgotten. */
export const bridges: CommandRun<BridgesValues> = async ({ values, positionals }, context) => {
  const [verb, id, prompt, ...more] = positionals;
  if (
    more.length > 0 ||
    (verb !== undefined && id === undefined) ||
    (verb !== "work" && prompt !== undefined)
  )
    throw usage("keel serve bridges [work ID [PROMPT] | remove ID]");
  const { client } = await connectHere(openHome(context).path, "keel serve bridges");
  const { out } = context;
  try {
    const all = await client.bridges.list();
    if (verb === undefined) {
      if (values.json) out.line(toLine(all));
      else for (const one of all) out.line(sayBridge(one));
      if (all.length === 0 && !values.json) context.err.line("No bridge has come yet.");
      return exitCodes.ended;
    }
    const bridge = chosen(all, id ?? "");
    if (verb === "remove") await client.bridges.remove(bridge);
    else if (verb === "work") {
      const session = await client.bridges.give({ bridge, prompt, title: values.title, model: values.model });
      out.line(values.json ? toLine({ session }) : `${session}   (keel attach ${session})`);
    } else throw usage("keel serve bridges [work ID [PROMPT] | remove ID]");
    return exitCodes.ended;
  } finally {
    client.close();
  }
};

/** The start of an id is enough where it is the only one. */
const chosen = (all: readonly BridgeEntry[], id: string): string => {
  const found = all.filter((one) => one.id.startsWith(id));
  return found.length === 1 && found[0] ? found[0].id : id;
};

const sayBridge = ({
  id,
  machineName,
  dir,
  branch,
  spawnMode,
  maxSessions,
  sessions,
  connected,
}: BridgeEntry): string =>
  visible(
    `${id}  ${machineName}:${dir}${branch === "" ? "" : ` (${branch})`}  ${spawnMode}, ${sessions.length} of ${maxSessions}  ${connected ? "connected" : "away"}`,
  );
