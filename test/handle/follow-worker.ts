// Hears what a worker of another engine says, as a screen would, and what a list shows of it.
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { openHome } from "../../keel/src/app/home.ts";
import type { ServedSessions } from "../../keel/src/app/sessions/served-sessions.ts";
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import type { AgentUpdate } from "../../keel/src/protocol/workspace.ts";
import { foldTranscript, noTranscript, rowsOf } from "../../keel/src/view/transcript.ts";
import { type Stage, serve } from "./stage.ts";

export function follow(served: ServedSessions, worker: string) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const heard: AgentUpdate[] = [];
  void (async () => {
    for await (const update of await served.workspaces.workers.watchMessages(worker, undefined, stop.signal))
      heard.push(update);
  })();
  const events = (): Envelope[] =>
    heard.flatMap((update) => (update.kind === "event" ? [update.event as unknown as Envelope] : []));
  const of = <Type extends Envelope["type"]>(type: Type): Extract<Envelope, { type: Type }>[] =>
    events().filter((event): event is Extract<Envelope, { type: Type }> => event.type === type);
  const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
    for (let tries = 0; tries < 6_000 && !(await isSo()); tries++) await pause(10);
    expect(await isSo(), `${what}: ${JSON.stringify(events().slice(-5))}`).toBe(true);
  };
  const turns = (): number => of("turn.finished").length;
  const rows = () => [...rowsOf(events().reduce(foldTranscript, noTranscript))];
  const text = (): string =>
    of("model.finished")
      .flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])))
      .join("\n");
  const openAsk = () => {
    const closed = new Set(of("ask.closed").map(({ askId }) => askId));
    return of("ask.opened").find(({ ask }) => !closed.has(ask.id))?.ask;
  };
  return { heard, events, of, until, turns, rows, text, openAsk };
}

export const entry = async ({ workspaces }: ServedSessions) =>
  (await workspaces.handlers.workspaces({}))[0]?.workers[0];

/** The next server over the same home, once this one has ended. */
export async function restarted({ cwd, env, ...at }: Stage, served: ServedSessions): Promise<ServedSessions> {
  await served.close();
  const again = serve({ ...at, cwd, env, home: openHome({ cwd, env }) }, { boot: "c" });
  onTestFinished(() => again.close());
  return again;
}
