/** `keel serve`: starts a server of sessions, says how to reach it, and ends it. */
import { setTimeout as pause } from "node:timers/promises";
import { usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import type { ServerState } from "../../../app/sessions/home-server.ts";
import { fault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { AnswerTo } from "../../../protocol/operation.ts";
import { isoTime } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { ownStart } from "../own-start.ts";
import { exitCodeOf } from "../signals.ts";

type ServeValues = {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly "tls-cert"?: string | undefined;
  readonly "tls-key"?: string | undefined;
  readonly "public-url"?: string | undefined;
  readonly store?: string | undefined;
  readonly detach: boolean;
  readonly stdio: boolean;
  readonly status: boolean;
  readonly stop: boolean;
  readonly openapi: boolean;
  readonly json: boolean;
};

export const serve: CommandRun<ServeValues> = async ({ values }, context) => {
  const isRelay = values.stdio && values.detach;
  const wishes = [isRelay || values.detach || values.stdio, values.status, values.stop, values.openapi];
  if (wishes.filter(Boolean).length > 1)
    throw usage("Name one of --detach (also with --stdio), --stdio, --status, --stop and --openapi.");
  if (isRelay) {
    if (addressIn(values)) throw usage("With --stdio --detach only the pipes and the socket are served.");
    return (await import("./serve-relay.ts")).relay(context);
  }
  if (values.openapi) {
    const { openApiDocument } = await import("../../server/openapi.ts");
    context.out.line(JSON.stringify(openApiDocument(context.version), null, 2));
    return exitCodes.ended;
  }
  if (values.stop) return await stopServer(context);
  if (values.status) return await sayStatus(values, context);
  if (values.detach) return await detach(values, context);
  const { startServer } = await import("../../server/serve.ts");
  const { store } = values;
  if (store !== undefined && !store.startsWith("postgres://") && !store.startsWith("postgresql://"))
    throw usage("--store takes the address of a database: postgres://user@host/name.");
  const env = store === undefined ? context.env : { ...context.env, KEEL_STORE: store };
  const server = await startServer({ ...context, env, keel: ownStart(), at: addressIn(values) });
  const stopped = Promise.withResolvers<number>();
  let isStopping = false;
  const release = context.signals.take((signal) => {
    // Asked once more, it does not wait for what takes its time to end.
    if (isStopping) process.exit(exitCodeOf(signal));
    isStopping = true;
    stopped.resolve(signal === "SIGINT" ? exitCodeOf(signal) : exitCodes.ended);
  });
  try {
    if (values.stdio) {
      const lines = server.serveLines({ input: context.input, output: process.stdout });
      return await Promise.race([lines.then(() => exitCodes.ended), stopped.promise]);
    }
    sayStarted({ ...server.state, link: server.link() }, values, context);
    return await stopped.promise;
  } finally {
    await server.close();
    release();
  }
};

async function detach(values: ServeValues, context: Context): Promise<number> {
  const { startApart } = await import("./serve-apart.ts");
  const given = process.argv.slice(2).filter((word) => word !== "--detach" && word !== "--json");
  const started = await startApart([...given, "--json"], {
    home: openHome(context).path,
    err: context.err,
  });
  if (typeof started === "number") return started;
  sayStarted(started, values, context);
  return exitCodes.ended;
}

function sayStarted(
  { link, ...state }: ServerState & { readonly link?: string | undefined },
  { json }: ServeValues,
  context: Context,
): void {
  if (json) return context.out.line(JSON.stringify({ ...state, link }));
  context.out.line(`Serving the sessions of ${openHome(context).path} (process ${state.pid}).`);
  context.out.line(`  socket  ${state.socket}`);
  context.out.line(`  log     ${state.logFile}`);
  if (state.publicUrl !== undefined) context.out.line(`  in front ${state.publicUrl}`);
  if (state.url === undefined) return;
  context.out.line(`  address ${state.url}   secret: ${state.secretFile}`);
  context.out.line(`  browser ${link ?? ""}   (good once, for ten minutes)`);
}

/** Undefined where only the socket is served. */
function addressIn(values: ServeValues) {
  const port = wholeNumber("port", values.port, 0);
  const rest = {
    host: values.host,
    tlsCert: values["tls-cert"],
    tlsKey: values["tls-key"],
    publicUrl: values["public-url"],
  };
  if (port !== undefined) return { port, ...rest };
  if (Object.values(rest).some((value) => value !== undefined))
    throw usage("Name a --port too: without one only the socket is served.");
  return undefined;
}

/** The server that runs, by what it says itself: a file may be older than it. */
async function meet(context: Context): Promise<{ state: ServerState; status: AnswerTo<"status"> }> {
  const { connectHere } = await import("../../../app/sessions/home-server.ts");
  const { client, state } = await connectHere(openHome(context).path, "keel serve");
  const status = await client.status().finally(() => client.close());
  return { state, status };
}

async function sayStatus({ json }: ServeValues, context: Context): Promise<number> {
  const { state, status } = await meet(context);
  if (json) context.out.line(JSON.stringify({ ...state, ...status }));
  else {
    context.out.line(
      `A server runs (process ${status.pid}, Keel ${status.version}): ${state.url ?? state.socket}`,
    );
    context.out.line(
      `  since ${isoTime(state.startedAt)}, ${status.open} sessions open (${status.loaded} in memory), ${status.clients} clients`,
    );
    context.out.line(`  log ${state.logFile}`);
  }
  return exitCodes.ended;
}

/** As long as sessions may take to end, and a little. */
const stopSeconds = 30;
const lookMs = 100;

/** Returns when it has gone. Throws `out_of_time`. */
async function stopServer(context: Context): Promise<number> {
  const { status } = await meet(context);
  const home = openHome(context);
  process.kill(status.pid, "SIGTERM");
  for (let ms = 0; ms < stopSeconds * 1_000; ms += lookMs) {
    if (!(await home.hasServer())) {
      context.err.line(`The server has ended (process ${status.pid}).`);
      return exitCodes.ended;
    }
    await pause(lookMs);
  }
  throw fault("out_of_time", { what: "The end of the server", seconds: stopSeconds });
}
