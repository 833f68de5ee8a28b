// The tutorial, word for word: its files are written, its commands typed in a shell, and what it shows is what they print.
// `…` in what is shown stands for anything.
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { examplesOf } from "../docs/examples.ts";
import { openPage, sharedBrowser } from "../support/browser.ts";
import { linesIn, typeLines } from "./guide-shell.ts";
import { openStage, type Stage, until, watch } from "./stage.ts";

const root = path.resolve(import.meta.dirname, "../..");
const browser = sharedBrowser();
const fences = examplesOf("tutorial");

test("the five steps of the tutorial run as they stand, without a key", async () => {
  const stage = await openStage({ replies: [] });
  mkdirSync(path.join(stage.project, "node_modules"));
  symlinkSync(path.join(root, "node_modules/keel"), path.join(stage.project, "node_modules/keel"));
  const { ANTHROPIC_BASE_URL: _, ANTHROPIC_API_KEY: __, ...own } = stage.env;
  const bins = [path.dirname(process.execPath), path.join(root, "node_modules/.bin")];
  const env = { ...own, PATH: [...bins, process.env["PATH"]].join(":") };
  let said = "";
  let commands = 0;
  for (const fence of fences) {
    if (fence.kind === "sh") {
      const lines = linesIn([fence]);
      commands += lines.length;
      if (fence.text.includes("--console")) {
        await inTheConsole(fence.text.trim(), { ...stage, env });
        continue;
      }
      const ended = await typeLines(lines, { cwd: stage.project, env });
      for (const { text, code, said: words } of ended)
        expect([text, code], words).toEqual([text, Number(/# ends with (\d+)$/.exec(text)?.[1] ?? 0)]);
      said = ended.at(-1)?.said ?? "";
    } else if (fence.label === "output") {
      const parts = fence.text
        .trim()
        .split("…")
        .map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      expect(said.trim()).toMatch(new RegExp(`^${parts.join("[\\s\\S]*")}$`));
    } else {
      const file = path.join(stage.project, fence.label);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, fence.text);
    }
  }
  expect(commands).toBe(7);
});

/** What the page says of the console is done there. */
async function inTheConsole(line: string, { project, env }: Pick<Stage, "project" | "env">): Promise<void> {
  const child = spawn("bash", ["-c", `exec ${line}`], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const running = watch(child);
  await until("the link", () => /token=/.test(running.out()));
  const [link = ""] = /http:\S+/.exec(running.out()) ?? [];
  const { page } = await openPage(browser());
  await page.goto(link);
  await page
    .getByRole("link", { name: /Rehearsal/ })
    .first()
    .click();
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("passes. I am only a rehearsal").first().waitFor();
  child.kill("SIGINT");
  await running.ended;
}
