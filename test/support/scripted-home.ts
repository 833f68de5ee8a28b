// A home in a folder of its own, with a model that follows the script: whole sessions without the built command.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type Home, openHome } from "../../keel/src/app/home.ts";
import type { OpenSession } from "../../keel/src/app/open-session.ts";
import { durableEventSchema } from "../../keel/src/protocol/event/durable.ts";
import { text } from "../../keel/src/protocol/message.ts";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { requestLaw } from "../../keel/src/testing/request-law.ts";
import { eventsIn, logsIn } from "../e2e/stage.ts";

/** Everything is gone when the test ends. `settings`: what the person's own file says. */
export async function scriptedHome(
  script: Parameters<typeof startModelServer>[0]["script"],
  { settings, env: more = {} }: { settings?: object; env?: Record<string, string> } = {},
) {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-home-")));
  const cwd = path.join(folder, "project");
  mkdirSync(cwd);
  // A boundary is on disk before the request that it explains.
  const law = requestLaw({
    log: (session) =>
      eventsIn(logsIn(path.join(folder, ".keel", "projects")).find((file) => file.includes(session))).map(
        (event) => durableEventSchema.parse(event),
      ),
  });
  const server = await startModelServer({ script, law });
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    KEEL_HOME: path.join(folder, ".keel"),
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "test-key",
    ...more,
  };
  if (settings) {
    mkdirSync(env.KEEL_HOME);
    writeFileSync(path.join(env.KEEL_HOME, "settings.json"), JSON.stringify(settings));
  }
  const homes: Home[] = [];
  /** Once more, as another process would. */
  const reopen = (): Home => {
    const home = openHome({ env, cwd });
    homes.push(home);
    return home;
  };
  onTestFinished(async () => {
    for (const home of homes) await home.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const options = { version: "0", cwd, env, model: "claude-sonnet-4-5", asks: "answered" as const };
  return { home: reopen(), reopen, folder, cwd, env, server, options };
}

export const say = (session: OpenSession, words: string) =>
  session.submit({ type: "input", content: [text(words)] });

/** Says yes to whatever is asked. */
export function agree(session: OpenSession): void {
  session.onEvent((event) => {
    if (event.type === "ask.opened")
      void session.submit({ type: "answer", askId: event.ask.id, answer: { verdict: "allow" } });
  });
}
