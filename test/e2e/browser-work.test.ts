// A conversation in a real browser: what it shows of each kind of work, each kind of question answered, what stands
// beside it, and all of it at the width of a phone.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { reply, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import { sharedBrowser } from "../support/browser.ts";
import { everything } from "../support/mcp-stage.ts";
import { verifies } from "../support/verifies.ts";
import { allowUnasked } from "./allow-unasked.ts";
import { openBrowserStage, say, startWork } from "./browser-stage.ts";
import { until } from "./stage.ts";

const browser = sharedBrowser();
const rows = (page: Page): Locator => page.getByRole("region", { name: "Conversation" });
const ask = (page: Page, name: string): Locator => page.getByRole("group", { name });
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A function that runs in the page, which knows what a page has. */
const inPage = (source: string): never => new Function(`return ${source}`)() as never;

describe("a conversation", () => {
  test("shows each kind of work in its own way, and what it cost and took beside it", async () => {
    verifies("S3.14", "S4.71", "S4.72", "P38", "P54");
    const stage = await openBrowserStage(browser(), (project, { lastUser }) => {
      if (lastUser.includes("Count the lines")) return [reply("There are **two** lines.")];
      return [
        reply(
          thinking("First I look around."),
          "# Look\n\nA list:\n\n- one\n- two\n\n```ts\nconst a = 1;\n```\n",
        ),
        reply(toolUse("Bash", { command: "printf '\\033[31mred\\033[0m plain\\n'" })),
        reply(toolUse("Write", { file_path: `${project}/new.txt`, content: "one\ntwo\n" })),
        reply(toolUse("Edit", { file_path: `${project}/new.txt`, old_string: "two", new_string: "three" })),
        reply(toolUse("Glob", { pattern: "**/*.txt" })),
        reply(toolUse("TaskCreate", { subject: "Write it", description: "All of it." })),
        reply(toolUse("Read", { file_path: `${project}/dot.png` })),
        reply(
          toolUse("Agent", {
            description: "Counts lines",
            prompt: "Count the lines",
            subagent_type: "general-purpose",
          }),
        ),
        reply("All **done**."),
      ];
    });
    writeFileSync(path.join(stage.project, "dot.png"), Buffer.from(png, "base64"));
    allowUnasked(stage, ["Bash", "Write", "Edit"]);
    const served = await stage.serve();
    const { page, notes } = await startWork(stage, served, {
      // High enough for all rows at once: what is opened stays where it is.
      viewport: { width: 1440, height: 3_000 },
    });
    await say(page, "Look first");
    await rows(page).getByRole("heading", { name: "Look" }).waitFor();
    await rows(page).getByRole("listitem").filter({ hasText: "two" }).waitFor();
    await rows(page).getByText("const a = 1;").waitFor();
    const thought = rows(page).getByRole("button", { name: /Thought/ });
    expect(await thought.getAttribute("aria-expanded")).toBe("false");
    await thought.click();
    await rows(page).getByText("First I look around.").last().waitFor();

    await say(page, "Now work");
    await rows(page).getByText("done", { exact: true }).waitFor();
    const call = async (name: RegExp): Promise<void> => {
      const line = rows(page).getByRole("button", { name, expanded: false }).first();
      await line.click();
    };
    // Changes are open by themselves; a list that is worked off stands beside.
    await rows(page).getByText("three").first().waitFor();
    await call(/^Bash|Bash printf/);
    const red = rows(page).getByText("red", { exact: true }).last();
    await red.waitFor();
    const colour = (one: Locator): Promise<string> =>
      one.evaluate(inPage("(node) => getComputedStyle(node).color"));
    expect(await colour(red)).not.toBe(await colour(rows(page).getByText("plain").last()));
    await call(/Glob/);
    await rows(page).getByRole("listitem").filter({ hasText: "new.txt" }).first().waitFor();
    await call(/dot\.png/);
    const image = rows(page).getByRole("img", { name: /image/i }).first();
    await image.waitFor();
    expect(await image.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth)).toBe(
      1,
    );
    await call(/Counts lines/);
    await rows(page).getByText("two", { exact: true }).last().waitFor();

    const beside = page.getByRole("complementary", { name: "Beside the conversation" });
    await beside.getByText("Write it").first().waitFor();
    await beside.getByText("system prompt").waitFor();
    await beside.getByRole("img", { name: /% of the context is used/ }).waitFor();
    await beside.getByText("new.txt").first().waitFor();
    await beside.getByRole("button", { name: "Timeline" }).click();
    await beside.getByRole("button", { name: "Show every turn" }).click();
    const timeline = page.getByRole("dialog", { name: "Timeline" });
    await timeline.getByText("model", { exact: true }).first().waitFor();
    expect(await timeline.getByRole("listitem").filter({ hasText: "Bash" }).count()).toBeGreaterThan(0);
    expect(notes.refused).toEqual([]);
    expect(notes.errors).toEqual([]);
  }, 60_000);

  test("asks with options, a plan and a form, and each answer is what the session goes on with", async () => {
    verifies("S3.10", "S4.71");
    const stage = await openBrowserStage(browser(), [
      reply(toolUse("Bash", { command: "touch one.txt" })),
      reply(toolUse("Bash", { command: "touch two.txt" })),
      reply(toolUse("mcp__any__trigger-elicitation-request", {})),
      reply("Now a plan."),
      reply(toolUse("ExitPlanMode", { plan: "# The plan\n\n1. Read\n2. Write\n" })),
      reply(toolUse("ExitPlanMode", { plan: "# The plan\n\n1. Read twice\n2. Write\n" })),
      reply("That was all."),
    ]);
    allowUnasked(stage, ["mcp__any"], {
      mcpServers: { any: { command: process.execPath, args: [everything, "stdio"] } },
      mcp: { startMs: 60_000, connectMs: 60_000 },
    });
    const served = await stage.serve();
    const { page } = await startWork(stage, served);
    await say(page, "Begin");

    // A no with words for the model.
    await ask(page, "Run a command?").getByRole("button", { name: "Say no …" }).click();
    await page.getByRole("textbox", { name: "What should it do instead?" }).fill("Make the other one");
    await page.getByRole("button", { name: "Say no with this" }).click();
    // A rule, so that it is not asked again.
    await until("the second question", async () => {
      const text = await ask(page, "Run a command?").allInnerTexts();
      return text.some((one) => one.includes("two.txt"));
    });
    await ask(page, "Run a command?")
      .getByRole("button", { name: /^Allow .+ here/ })
      .first()
      .click();

    const form = page
      .getByRole("group")
      .filter({ has: page.getByLabel("String with default") })
      .last();
    await form.getByLabel(/^String( \(optional\))?$/).fill("Ada");
    await form.getByRole("button", { name: "Answer" }).click();

    await rows(page).getByText("Now a plan.").waitFor();
    await page.getByTitle("Permission mode").click();
    await page.getByRole("menuitemradio", { name: /^Plan/ }).click();
    await until("the mode is set", () => stage.log().some(({ type }) => type === "settings.changed"));
    await say(page, "Plan it");
    const plan = (text: string): Locator => page.getByRole("group").filter({ hasText: text }).last();
    await plan("The plan").getByRole("button", { name: "Comment on lines" }).click();
    await page.getByRole("button", { name: "Comment on line 3" }).click();
    await page.getByRole("textbox", { name: "Comment on line 3" }).fill("Twice, please");
    await page.getByRole("button", { name: "Send back with 1 comment" }).click();
    await plan("Read twice")
      .getByRole("button")
      .filter({ hasNotText: /Comment|Say no/ })
      .first()
      .click();
    await rows(page).getByText("That was all.").waitFor();

    const sent = stage.server.requests.map(({ body }) => JSON.stringify(body));
    expect(sent.some((body) => body.includes("Make the other one"))).toBe(true);
    expect(sent.some((body) => body.includes("Twice, please"))).toBe(true);
    expect(sent.some((body) => body.includes("Ada"))).toBe(true);
    const closed = stage.log().filter(({ type }) => type === "ask.closed");
    expect(closed).toHaveLength(5);
    expect(closed.every(({ by }) => by === "host")).toBe(true);
  }, 60_000);

  test("takes a pasted image along, and steers the running turn", async () => {
    verifies("P50", "S3.9");
    const stage = await openBrowserStage(browser(), [
      reply("Slowly.", toolUse("Bash", { command: "sleep 2" })),
      reply("Seen."),
    ]);
    allowUnasked(stage, ["Bash"]);
    const served = await stage.serve();
    const { page } = await startWork(stage, served);
    const field = page.getByRole("textbox", { name: /Message to the agent/ });
    await field.fill("What is this?");
    await field.evaluate(
      inPage(`(node, data) => {
        const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
        const given = new DataTransfer();
        given.items.add(new File([bytes], "dot.png", { type: "image/png" }));
        node.dispatchEvent(new ClipboardEvent("paste", { clipboardData: given, bubbles: true, cancelable: true }));
      }`),
      png,
    );
    await page.getByRole("form", { name: "Message" }).getByRole("img").waitFor();
    await field.press("Enter");
    await page.getByRole("button", { name: "Interrupt" }).waitFor();
    await page.getByRole("radio", { name: "Steer" }).check();
    await say(page, "And look at the corner");
    await rows(page).getByText("Seen.").waitFor();
    const [first, second] = stage.server.requests.map(({ body }) => JSON.stringify(body));
    expect(first).toContain(png);
    // It joined the turn: the request after the call has it.
    expect(second).toContain("And look at the corner");
    expect(stage.log().filter(({ type }) => type === "turn.finished")).toHaveLength(1);
  });
});

test("at the width of a phone a question is found, answered and its result read", async () => {
  verifies("P26");
  const stage = await openBrowserStage(browser(), [
    reply(toolUse("Bash", { command: "echo phone > phone.txt" })),
    reply("Answered from a phone."),
  ]);
  const served = await stage.serve();
  const { page } = await startWork(stage, served, { viewport: { width: 390, height: 844 }, hasTouch: true });
  const field = page.getByRole("textbox", { name: /Message to the agent/ });
  await field.fill("Do it");
  await page.getByRole("button", { name: "Send" }).tap();
  await ask(page, "Run a command?").waitFor();
  // From the list of all questions, as somebody does who was called by one.
  await page.goto(`${served.url}/asks`);
  const yes = ask(page, "Run a command?").getByRole("button", { name: "Allow once" });
  const box = await yes.boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(24);
  await yes.tap();
  await until("it was made", () => readIf(path.join(stage.project, "phone.txt")) === "phone\n");
  await page.goBack();
  await rows(page).getByText("Answered from a phone.").waitFor();
  // Nothing is wider than the screen.
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
});

function readIf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
