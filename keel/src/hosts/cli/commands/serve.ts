/** `keel serve`: starts a server of sessions, says how to reach it, and ends it. */

import { usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { fault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { exitCodeOf } from "../signals.ts";

type ServeValues = {
  readonly port?: string | undefined;
  readonly stdio: boolean;
  readonly status: boolean;
  readonly stop: boolean;
  readonly json: boolean;
};

export const serve: CommandRun<ServeValues> = async ({ values }, context) => {
  if ([values.stdio, values.status, values.stop].filter(Boolean).length > 1)
    throw usage("Name one of --stdio, --status and --stop.");
  if (values.status || values.stop) return await meet(values, context);
  const { startServer } = await import("../../server/serve.ts");
  const port = wholeNumber("port", values.port, 0);
  const server = await startServer({ ...context, port });
  const stopped = Promise.withResolvers<number>();
  const release = context.signals.take((signal) =>
    stopped.resolve(signal === "SIGINT" ? exitCodeOf(signal) : exitCodes.ended),
  );
  try {
    if (values.stdio) {
      await server.serveLines({ input: context.input, output: process.stdout });
      return exitCodes.ended;
    }
    const { state } = server;
    if (values.json) context.out.line(JSON.stringify({ ...state, link: server.link() }));
    else {
      context.out.line(`Serving the sessions of ${openHome(context).path} (process ${state.pid}).`);
      context.out.line(`  socket  ${state.socket}`);
      if (state.url !== undefined) {
        context.out.line(`  address ${state.url}   secret: ${state.secretFile}`);
        context.out.line(`  browser ${server.link() ?? ""}   (good once, for ten minutes)`);
      }
    }
    return await stopped.promise;
  } finally {
    await server.close();
    release();
  }
};

/** The server that runs, by what it says itself: a file may be older than it. */
async function meet({ stop, json }: ServeValues, context: Context): Promise<number> {
  const [{ readState }, { askServer }] = await Promise.all([
    import("../../server/serve.ts"),
    import("../../server/ask-server.ts"),
  ]);
  const state = await readState(openHome(context).path);
  const status = state && (await askServer(state.socket).catch(() => undefined));
  if (!state || !status) throw fault("link_lost", { reason: "none of this home runs" });
  if (stop) process.kill(status.pid, "SIGTERM");
  else if (json) context.out.line(JSON.stringify({ ...state, ...status }));
  else {
    context.out.line(
      `A server runs (process ${status.pid}, Keel ${status.version}): ${state.url ?? state.socket}`,
    );
    context.out.line(`  ${status.open} sessions open, ${status.clients} clients`);
  }
  return exitCodes.ended;
}
