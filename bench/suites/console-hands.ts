/** One question before several hands: two browsers and the terminal's screen. When has it gone everywhere, by each one's own look? */
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { openScreen, type Screen } from "../../test/tui/screen.ts";
import type { ConsoleStage } from "../console/stage.ts";
import type { Contest, Samples } from "../measure.ts";
import type { Bench } from "./suite.ts";

const command = path.resolve(import.meta.dirname, "../../node_modules/.bin/keel");
const answer = "Allow once";

/** Notes when the answer was pressed and when the question was gone, by the clock that all processes share. */
const watchAsk = `
  window.pressedAt = Infinity;
  window.goneAt = undefined;
  addEventListener("click", () => { window.pressedAt = Date.now(); }, { capture: true, once: true });
  const look = () => {
    if (document.querySelector("[data-ask]")) return requestAnimationFrame(look);
    requestAnimationFrame(() => { window.goneAt = Date.now(); });
  };
  look();
`;

/** By the choice that is pointed at: what somebody chose stays on the screen. */
const hasQuestion = (screen: Screen): boolean => screen.rows().some((row) => row.includes(`› ${answer}`));

const patienceMs = 30_000;

async function goneFrom(screen: Screen): Promise<number> {
  const deadline = performance.now() + patienceMs;
  while (hasQuestion(screen)) {
    if (performance.now() > deadline) throw new Error("the question has not gone from the screen");
    await pause(2);
  }
  return Date.now();
}

async function goneFromPage(page: Page): Promise<number> {
  const look = (): Promise<number | null> => page.evaluate("window.goneAt ?? null");
  const deadline = performance.now() + patienceMs;
  let at = await look();
  for (; at === null; at = await look()) {
    if (performance.now() > deadline) throw new Error("the question has not gone from a page");
    await pause(20);
  }
  return at;
}

export function hands({ counts }: Bench, stage: ConsoleStage): Contest {
  const rounds = counts.consoleAsks;
  /** Each hand in turn answers; the program that begins the turn is the fourth who follows. */
  const answered = async (who: readonly ("page" | "other" | "screen")[]): Promise<Samples> => {
    await stage.model.follow({
      toolTurns: 0,
      callFor: "please",
      // Out of the folder: it is asked about.
      call: { name: "Read", input: { file_path: "/etc/hostname" } },
      deltas: 3,
    });
    const workspace = await stage.client.workspaces.createWorkspace({
      cwd: stage.cwd,
      title: "Hands",
      workers: [{ kind: "agent" }],
    });
    const session = workspace.workers[0]?.session ?? "";
    const newcomer = await stage.newcomer();
    const pages = { page: await stage.visitor.newPage(), other: await newcomer.newPage() };
    for (const page of Object.values(pages)) {
      await page.goto(`${stage.url}/workspaces/${workspace.id}`);
      await page.getByRole("textbox").first().waitFor();
    }
    const screen = who.includes("screen")
      ? openScreen({ command, parameters: ["attach", session], cwd: stage.cwd, env: stage.env })
      : undefined;
    const times: number[] = [];
    try {
      await screen?.until("ready", () => screen.rows().some((row) => row.startsWith(">")));
      const handle = stage.client.attach(session);
      // What a first request has behind the words is said.
      await handle.submit({ type: "input", content: [{ type: "text", text: "Begin." }] });
      await pages.other.locator(".reply").waitFor();
      for (let round = 0; round < rounds; round++) {
        await handle.submit({ type: "input", content: [{ type: "text", text: `${round}, please` }] });
        for (const page of Object.values(pages)) await page.locator("[data-ask]").waitFor();
        await screen?.until(answer, hasQuestion);
        await screen?.until("keys", ({ rows }) => !rows().some((row) => row.includes("pause typing")));
        await screen?.settled(350);
        for (const page of Object.values(pages)) await page.evaluate(watchAsk);
        const name = who[round % who.length] ?? "page";
        const gone = [
          ...Object.values(pages).map(goneFromPage),
          ...(screen === undefined ? [] : [goneFrom(screen)]),
        ];
        let from = Date.now();
        if (name === "screen") screen?.type("\r");
        else {
          await pages[name].locator("[data-ask]").getByRole("button", { name: answer }).click();
          from = await pages[name].evaluate<number>("window.pressedAt");
        }
        times.push(Math.max(...(await Promise.all(gone))) - from);
        for (const page of Object.values(pages))
          await page.getByRole("button", { name: "Interrupt" }).waitFor({ state: "detached" });
      }
    } finally {
      screen?.kill("SIGKILL");
      for (const page of Object.values(pages)) await page.close();
      await newcomer.close();
      await stage.client.workspaces.deleteWorkspace({ workspace: workspace.id });
    }
    return { most: [Math.max(...times)], usual: times };
  };
  return {
    name: "several hands",
    floor: { name: "two browsers and no screen", run: () => answered(["page", "other"]) },
    keel: { name: "keel", run: () => answered(["page", "screen", "other"]) },
    figures: [
      {
        key: "most",
        name: `a question is gone from two browsers and a screen after an answer of one: the slowest of ${rounds}`,
        unit: "ms",
        goal: { kind: "value", most: 300 },
      },
      { key: "usual", name: "the same, as a rule", unit: "ms" },
    ],
  };
}
