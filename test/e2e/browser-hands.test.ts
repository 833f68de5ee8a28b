// Several hands on one session: two browsers, the terminal's screen and a program of the SDK. Whoever answers first
// counts, the call runs once, and everybody else sees at once that it was answered, and by whom. What an agent of the
// session asks is there for all of them too.
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { type PermissionResult, query } from "../../keel/src/sdk/index.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { countOf } from "../support/budget.ts";
import { note } from "../support/notes.ts";
import { verifies } from "../support/verifies.ts";
import { openScreen } from "../tui/screen.ts";
import { ready } from "../tui/stage.ts";
import { openBrowserStage, say, startWork } from "./browser-stage.ts";
import { command, until } from "./stage.ts";

const browser = sharedBrowser();
const question = "Run a command?";
const askIn = (page: Page) => page.getByRole("group", { name: question });

/** Notes when a button of the page is pressed: until it is found and can be pressed nobody has answered. */
const notePress = (page: Page): Promise<unknown> =>
  page.evaluate(`window.pressedAt = Infinity;
    addEventListener("click", () => { window.pressedAt = Date.now(); }, { capture: true, once: true });`);
const pressedAt = (page: Page): Promise<number> => page.evaluate<number>("window.pressedAt");

test("an answer of any of four hands closes the question for all of them, says who it was, and runs its call once", async () => {
  verifies("S3.20", "S3.10", "S4.71");
  const rounds = countOf("browser-hands");
  const stage = await openBrowserStage(
    browser(),
    Array.from({ length: rounds }, (_, round) => [
      reply(toolUse("Bash", { command: `echo ${round} >> trace.txt` })),
      reply(`Done with ${round}.`),
    ]).flat(),
  );
  const served = await stage.serve();
  // High enough for every row.
  const high = { viewport: { width: 1440, height: 300 + rounds * 300 } };
  const { page: first, workspace } = await startWork(stage, served, high);
  const { page: second } = await stage.visit({ ...served, link: await stage.newLink(served) }, high);
  await second.goto(first.url());
  const session = workspace.workers[0]?.session ?? "";
  const env = { PATH: process.env["PATH"], ...stage.env, ANTHROPIC_API_KEY: "none", PWD: stage.project };
  const screen = openScreen({ command, parameters: ["attach", session], cwd: stage.project, env });
  onTestFinished(() => screen.kill("SIGKILL"));
  await ready(screen);
  const hasQuestion = (): boolean => screen.rows().some((row) => row.startsWith(` ${question}`));

  // The program begins each turn, so that it is asked too.
  const begun = Array.from({ length: rounds }, () => Promise.withResolvers<void>());
  let asked = Promise.withResolvers<void>();
  let answer = Promise.withResolvers<PermissionResult>();
  async function* prompts() {
    for (const [round, { promise }] of begun.entries()) {
      await promise;
      const message = { role: "user" as const, content: `Number ${round}` };
      yield { type: "user" as const, message, parent_tool_use_id: null };
    }
  }
  const program = query({
    prompt: prompts(),
    options: {
      cwd: stage.project,
      env,
      resume: session,
      canUseTool: async () => {
        asked.resolve();
        return answer.promise;
      },
    },
  });
  const results: string[] = [];
  const heard = (async () => {
    for await (const message of program)
      if (message.type === "result" && message.subtype === "success") results.push(message.result);
  })();

  const allow = (page: Page): Promise<void> =>
    askIn(page).getByRole("button", { name: "Allow once" }).click({ timeout: 2_000 });
  const hands: Readonly<Record<string, () => Promise<unknown>>> = {
    "one browser": () => allow(first),
    screen: async () => screen.type("\r"),
    "the other browser": () => allow(second),
    program: async () => answer.resolve({ behavior: "allow" }),
    // At the same moment; who comes late finds the button gone, or is told so.
    "all of them": () =>
      Promise.all([
        allow(first).catch(() => undefined),
        allow(second).catch(() => undefined),
        screen.type("\r"),
        answer.resolve({ behavior: "allow" }),
      ]),
  };
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    begun[round]?.resolve();
    await Promise.all([
      askIn(first).waitFor(),
      askIn(second).waitFor(),
      asked.promise,
      screen.until(question, hasQuestion),
    ]);
    await screen.until("keys", ({ rows }) => !rows().some((row) => row.includes("pause typing")));
    await screen.settled(350);
    const [name = "", act] = Object.entries(hands)[round % Object.keys(hands).length] ?? [];
    await Promise.all([notePress(first), notePress(second)]);
    const from = Date.now();
    const acting = act?.();
    await Promise.all([
      askIn(first).waitFor({ state: "detached" }),
      askIn(second).waitFor({ state: "detached" }),
      screen.until(`${name} answered ${round}`, () => !hasQuestion()),
    ]);
    const gone = Date.now();
    const pressed = Math.min(await pressedAt(first), await pressedAt(second));
    times.push(gone - (name.endsWith("browser") ? pressed : from));
    await acting;
    // It ran, and its turn is over everywhere, before the next one.
    for (const page of [first, second])
      await page.locator(".reply", { hasText: `Done with ${round}.` }).waitFor();
    await until("the program has heard it", () => results.includes(`Done with ${round}.`));
    answer.resolve({ behavior: "deny", message: "too late" });
    answer = Promise.withResolvers();
    asked = Promise.withResolvers();
  }
  await heard;
  note(
    "counts",
    `browser-hands: a question is gone everywhere after at most ${Math.round(Math.max(...times))} ms`,
  );
  for (const page of [first, second]) {
    const said = await page.locator(".answered").allInnerTexts();
    expect(said).toHaveLength(rounds);
    for (const row of said) expect(row).toMatch(/ · at \S+/);
  }
  const trace = readFileSync(path.join(stage.project, "trace.txt"), "utf8").trim().split("\n");
  expect(trace).toEqual(Array.from({ length: rounds }, (_, round) => String(round)));
  const closed = stage.log().filter(({ type }) => type === "ask.closed");
  expect(new Set(closed.map(({ askId }) => askId)).size).toBe(rounds);
  expect(closed).toHaveLength(rounds);
}, 600_000);

test("what an agent of the session asks stands in the conversation above it, in the list of all, and in the title", async () => {
  verifies("S3.10", "S3.16");
  const stage = await openBrowserStage(browser(), (_, { lastUser, assistantTurns, toolResults }) => {
    const isAgent = lastUser.includes("Write below") || toolResults.includes("below");
    const own = [reply(toolUse("Bash", { command: "echo below | tee below.txt" })), reply("Written below.")];
    const above = [
      reply(
        toolUse("Agent", {
          description: "write below",
          prompt: "Write below.",
          subagent_type: "general-purpose",
        }),
      ),
      reply("It is written."),
    ];
    return isAgent && assistantTurns < 2 && !toolResults.includes("Written") ? own : above;
  });
  const served = await stage.serve();
  const { page } = await startWork(stage, served);
  const { page: phone } = await stage.visit(
    { ...served, link: await stage.newLink(served) },
    { viewport: { width: 390, height: 844 }, hasTouch: true },
  );
  await phone.goto(`${served.url}/asks`);
  await phone.getByText("Nothing waits for you.").waitFor();
  await say(page, "Have it written");
  await askIn(page).waitFor();
  await askIn(phone).waitFor();
  // Both say whose question it is.
  await askIn(page).getByText("write below").first().waitFor();
  await until("it is counted", async () => /^\(1\)/.test(await page.title()));
  await askIn(phone).getByRole("button", { name: "Allow once" }).tap();
  await askIn(page).waitFor({ state: "detached" });
  await phone.getByText("Nothing waits for you.").waitFor();
  await page.locator(".reply", { hasText: "It is written." }).waitFor();
  await until("it is counted no more", async () => !/^\(/.test(await page.title()));
});
