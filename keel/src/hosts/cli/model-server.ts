/** `keel model-server`: a scripted model over HTTP, for tests. Serves until it is stopped or its input ends. */
import { exitCodes } from "../../kernel/faults.ts";
import { usage, wholeNumber } from "./arguments.ts";
import type { Context } from "./context.ts";

type Values = { script?: string | undefined; port?: string | undefined; requests?: string | undefined };

export async function modelServer({ values }: { values: Values }, context: Context): Promise<number> {
  if (values.script === undefined) throw usage("The model server needs --script FILE.");
  const port = wholeNumber("port", values.port, 0);
  const { runModelServer } = await import("../../testing/model-server-main.ts");
  // The server listens for the signals itself.
  const release = context.signals.take(() => undefined);
  await runModelServer({
    scriptFile: values.script,
    port,
    requestsFile: values.requests,
    write: (text) => context.out.write(text),
  });
  release();
  return exitCodes.ended;
}
