// Several hands on one session of the server, the screen one of them: who answers first counts, its call runs once, the
// question goes from every screen, and who it was is told. Also when the server is killed while it asks.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readServerState } from "../../keel/src/app/sessions/home-server.ts";
import type { SessionHandle } from "../../keel/src/protocol/handle.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { countOf } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { openScreen, type Screen } from "../tui/screen.ts";
import { ready } from "../tui/stage.ts";
import { clientOf, openServeStage, type ServeStage, words } from "./serve-stage.ts";
import { command, until } from "./stage.ts";

const question = "Run a command?";
/** Open: what was answered is told in a row that begins with a sign. */
const hasQuestion = ({ rows }: Screen): boolean => rows().some((row) => row.startsWith(` ${question}`));

/** Until it can be answered. */
async function asked(screen: Screen): Promise<void> {
  await screen.until(question, hasQuestion);
  await screen.until("keys", ({ rows }) => !rows().some((row) => row.includes("pause typing")));
  await screen.settled(350);
}

/** The screen as one of the clients of the server. */
function attached(stage: ServeStage, { id }: SessionHandle): Screen {
  return openScreen({
    command,
    parameters: ["attach", id],
    cwd: stage.project,
    env: { PATH: process.env["PATH"], ...stage.env, ANTHROPIC_API_KEY: "none", PWD: stage.project },
  });
}

const running = (number: number) => [
  reply(toolUse("Bash", { command: `echo ${number} >> trace.txt` })),
  reply(`Done with ${number}.`),
];

const traceOf = (stage: ServeStage): string[] =>
  readFileSync(path.join(stage.project, "trace.txt"), "utf8").trim().split("\n");

/** For its full count. */
const timeout = 3_600_000;

test("of the screen and two others that answer at once one counts, and its call runs once", {
  timeout,
}, async () => {
  verifies("S3.20", "S4.71");
  const races = countOf("screen-hands");
  const stage = await openServeStage({
    replies: Array.from({ length: races }, (_, race) => running(race)).flat(),
  });
  const { state } = await stage.serve("--port", "0");
  const desk = await (await clientOf(state, "websocket")).open({ cwd: stage.project });
  const phone = (await clientOf(state, "sse")).attach(desk.id);
  const screen = attached(stage, desk);
  try {
    await ready(screen);
    for (let race = 0; race < races; race++) {
      await desk.submit(words(`Number ${race}`));
      await asked(screen);
      const [ask] = await desk.asks();
      if (!ask) throw new Error("nothing is asked");
      const answer = { type: "answer", askId: ask.id, answer: { verdict: "allow" } } as const;
      // Each of them is the first now and then.
      const [, ...others] = await Promise.all([
        screen.type("\r"),
        ...(race % 3 === 0 ? [] : [desk.submit(answer)]),
        ...(race % 3 === 1 ? [] : [phone.submit(answer)]),
      ]);
      const counted = others.filter(({ type }) => type === "answered").length;
      expect(counted).toBeLessThanOrEqual(1);
      await screen.until(`the end of ${race}`, ({ text }) => text().includes(`Done with ${race}.`));
      await screen.until("the question is gone", (one) => !hasQuestion(one));
      const closed = stage
        .log(desk.id)
        .filter(({ type, askId }) => type === "ask.closed" && askId === ask.id);
      expect(closed).toHaveLength(1);
    }
    expect(traceOf(stage)).toEqual(Array.from({ length: races }, (_, race) => String(race)));
  } finally {
    screen.kill("SIGKILL");
  }
});

test("a question that another hand answers goes from the screen, which says who it was", async () => {
  const stage = await openServeStage({ replies: running(0) });
  const { state } = await stage.serve();
  const desk = await (await clientOf(state)).open({ cwd: stage.project });
  const screen = attached(stage, desk);
  try {
    await ready(screen);
    await desk.submit(words("Run it"));
    await asked(screen);
    const [ask] = await desk.asks();
    await desk.submit({ type: "answer", askId: ask?.id ?? "", answer: { verdict: "allow" } });
    await screen.until("the end", ({ text }) => text().includes("Done with 0."));
    expect(hasQuestion(screen)).toBe(false);
    expect(screen.text()).toMatch(/Run a command\? Yes, by this machine/);
  } finally {
    screen.kill("SIGKILL");
  }
});

test("a question on the screen outlives a server that is killed, and its call runs once", async () => {
  verifies("S4.71");
  const stage = await openServeStage({ replies: [...running(0), ...running(1)] });
  const { child } = await stage.serve();
  const state = await readServerState(stage.home);
  if (!state) throw new Error("no server");
  const desk = await (await clientOf(state)).open({ cwd: stage.project });
  const screen = attached(stage, desk);
  try {
    await ready(screen);
    screen.type("Run it\r");
    await asked(screen);
    child.kill("SIGKILL");
    await screen.until("the loss", ({ rows }) => rows().some((row) => row.includes("connection lost")));
    await stage.serve();
    await screen.until("the way back", ({ rows }) => !rows().some((row) => row.includes("connection lost")));
    await asked(screen);
    screen.type("\r");
    await screen.until("the end", ({ text }) => text().includes("Done with 0."));
    await until("the end in the log", () => stage.log(desk.id).some(({ type }) => type === "turn.finished"));
    expect(traceOf(stage)).toEqual(["0"]);
    expect(screen.text().match(/Done with 0\./g)).toHaveLength(1);
  } finally {
    screen.kill("SIGKILL");
  }
});
