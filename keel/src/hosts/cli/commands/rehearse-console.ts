/** `keel rehearse --console`: the rehearsal in the browser app, on a server of its own that ends with this command. */
import { connectHere } from "../../../app/sessions/home-server.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { Context } from "../context.ts";
import { exitCodeOf } from "../signals.ts";
import { showLink } from "./console.ts";
import { openStage } from "./rehearsal-stage.ts";

export async function rehearseInConsole(
  context: Context,
  { keep, opens }: { readonly keep: boolean; readonly opens: boolean },
): Promise<number> {
  await using stage = await openStage();
  if (keep) stage.keep();
  const { cwd, home, env, model, settingSources } = stage.options(context);
  const { startServer } = await import("../../server/serve.ts");
  const server = await startServer({
    version: context.version,
    cwd,
    env: { ...env, KEEL_HOME: home },
    at: { port: 0 },
  });
  const stopped = Promise.withResolvers<number>();
  const release = context.signals.take((signal) =>
    stopped.resolve(signal === "SIGINT" ? exitCodeOf(signal) : exitCodes.ended),
  );
  try {
    const { client } = await connectHere(stage.home, "keel rehearse");
    try {
      await client.workspaces.createWorkspace({
        cwd,
        title: "Rehearsal",
        workers: [
          {
            kind: "agent",
            name: "Agent",
            prompt: stage.prompt,
            options: {
              model: model ?? "",
              permissionMode: "acceptEdits",
              settingSources: [...(settingSources ?? [])],
            },
          },
        ],
      });
    } finally {
      client.close();
    }
    const link = server.link() ?? "";
    context.out.line(
      `This is a rehearsal: the model is a script, everything else is real. It happens in ${cwd}`,
    );
    context.out.line(`The console: ${link}   (good once, for ten minutes; Ctrl-C ends it)`);
    if (opens) await showLink(link, context);
    return await stopped.promise;
  } finally {
    await server.close();
    release();
  }
}
