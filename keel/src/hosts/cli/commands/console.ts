/** `keel console`: the browser app on the server of this home, which is started where none runs. */
import { openHome } from "../../../app/home.ts";
import { connectHere } from "../../../app/sessions/home-server.ts";
import { Fault, fault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { openBrowser } from "./open-browser.ts";

type ConsoleValues = {
  readonly port?: string | undefined;
  readonly "no-open": boolean;
  readonly json: boolean;
};

export const openConsole: CommandRun<ConsoleValues> = async ({ values }, context) => {
  const link = (await linkOfRunning(context)) ?? (await startAndLink(values, context));
  if (typeof link === "number") return link;
  if (values.json) context.out.line(JSON.stringify({ link }));
  else context.out.line(`The console: ${link}   (good once, for ten minutes)`);
  if (!values["no-open"] && !values.json) await showLink(link, context);
  return exitCodes.ended;
};

/** Says so where no browser can be opened from here. */
export async function showLink(link: string, { env, err }: Context): Promise<void> {
  if (!(await openBrowser(link, env)))
    err.line("No browser could be opened from here: open the link yourself.");
}

/** Undefined where none runs. Throws `usage` for one without an address. */
async function linkOfRunning(context: Context): Promise<string | undefined> {
  const met = await connectHere(openHome(context).path, "keel console").catch((thrown: unknown) => {
    if (thrown instanceof Fault && thrown.code === "link_lost") return undefined;
    throw thrown;
  });
  if (!met) return undefined;
  try {
    if (met.state.url === undefined)
      throw fault("usage", {
        reason:
          "The server that runs has no address for browsers. End it with `keel serve --stop`, then try again.",
      });
    return await met.client.devices.link();
  } finally {
    met.client.close();
  }
}

async function startAndLink({ port = "0" }: ConsoleValues, context: Context): Promise<string | number> {
  const { startApart } = await import("./serve-apart.ts");
  const started = await startApart(["serve", "--port", port, "--json"], {
    home: openHome(context).path,
    err: context.err,
  });
  return typeof started === "number" ? started : (started.link ?? exitCodes.ended);
}
