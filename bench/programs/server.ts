/** A server that owns many sessions; in some of them a tool of this very process streams, call after call the same. */
import { ownTool } from "../../keel/src/app/compose/own-tools.ts";
import { ok } from "../../keel/src/kernel/result.ts";
import { text } from "../../keel/src/protocol/message.ts";
import { openServer, type ServerPlace } from "../open-server.ts";
import { runProgram } from "../program.ts";
import { measureServing, type ServingPlan } from "../serving.ts";

type Options = ServingPlan & ServerPlace & { readonly sessions: number };

const caller = { access: "work", name: "the benchmark" } as const;
const opensAtOnce = 20;

await runProgram(async ({ home, cwd, url: model, sessions: count, ...plan }: Options) => {
  const keel = await openServer({ home, cwd, ...(model === undefined ? {} : { url: model }) });
  const sessions: string[] = [];
  const open = async (): Promise<void> => {
    while (sessions.length < count) {
      const question = { cwd, options: { allowedTools: ["Stream"] } };
      const index = sessions.push("") - 1;
      sessions[index] = ((await keel.served.call("open", question, caller)) as { session: string }).session;
    }
  };
  await Promise.all(Array.from({ length: opensAtOnce }, open));
  const over = Promise.withResolvers<void>();
  const streams = await Promise.all(
    sessions.slice(0, plan.streams).map(async (id) => {
      const begun = Promise.withResolvers<(text: string) => void>();
      keel.home.opened(id)?.setOwnTools([
        ownTool({
          name: "Stream",
          description: "Streams.",
          json: { type: "object" },
          parse: ok,
          readOnly: true,
          async run(_, { progress }) {
            begun.resolve(progress);
            await over.promise;
            return { content: [text("It has ended.")], failed: false };
          },
        }),
      ]);
      await keel.served.call("message", { session: id, content: "Stream." }, caller);
      return begun.promise;
    }),
  );
  const { secret, url, server } = keel;
  const costs = await measureServing(plan, {
    speaks: "keel",
    url,
    secret,
    sessions,
    server,
    delta: (stream, piece) => streams[stream]?.(piece),
  });
  over.resolve();
  await keel.close();
  return costs;
});
