// What can be done from lists of the screen, with real servers and real files: a server is switched off and on, a rule is
// taken away, another session is mentioned, and what memory found is read and forgotten.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { everything } from "../support/mcp-stage.ts";
import { verifies } from "../support/verifies.ts";
import { leave, openScreenStage, ready, say } from "../tui/stage.ts";

const down = "\u001b[B";

test("a server is switched off and on, and a rule is taken away, from their lists", async () => {
  verifies("S4.66");
  const stage = await openScreenStage({ replies: [] });
  mkdirSync(stage.home, { recursive: true });
  const file = path.join(stage.home, "settings.json");
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: { any: { command: process.execPath, args: [everything, "stdio"] } },
      mcp: { startMs: 60_000, connectMs: 60_000 },
      permissions: { allow: ["Bash(ls)", "Bash(make)"] },
    }),
  );
  const screen = stage.open([], { live: [/^any: /, /^· any: /] });
  const shows = (what: RegExp): Promise<void> =>
    screen.until(String(what), ({ rows }) => rows().some((row) => what.test(row)));
  await ready(screen);
  say(screen, "/mcp");
  // It is started with the first turn, or when somebody wants it.
  await shows(/ any\s+pending/);
  screen.type("\r");
  await shows(/Connect anew/);
  screen.type("\r");
  await shows(/ any\s+connected/);
  screen.type("\r");
  await shows(/Switch it off/);
  screen.type(`${down}${down}\r`);
  await shows(/ any\s+disabled/);
  screen.type("\r");
  await shows(/Switch it on/);
  screen.type("\r");
  await shows(/ any\s+connected/);
  screen.type("\u001b");
  await ready(screen);
  say(screen, "/permissions");
  await shows(/allow Bash\(ls\)/);
  screen.type("\r");
  await shows(/Take it away/);
  screen.type("\r");
  await screen.until("it is gone", ({ rows }) => {
    const list = rows().join("\n");
    return list.includes("allow Bash(make)") && !list.includes("Bash(ls)");
  });
  expect(JSON.parse(readFileSync(file, "utf8")).permissions).toEqual({ allow: ["Bash(make)"] });
  screen.type("\u001b");
  await ready(screen);
  await leave(screen);
});

test("another session is mentioned by its words, and what was said in it goes along", async () => {
  verifies("S4.71");
  const stage = await openScreenStage({
    replies: [reply("The kettle stands in the kitchen."), reply("Yes.")],
  });
  const first = stage.open();
  await ready(first);
  say(first, "Where is the kettle");
  await first.until("the reply", ({ text }) => text().includes("The kettle stands"));
  await ready(first);
  await leave(first);
  const second = stage.open();
  await ready(second);
  second.type("@kettle");
  await second.until("it", ({ rows }) => rows().some((row) => row.includes("session, just now")));
  second.type("\t");
  await second.until("its mention", ({ rows }) => rows().some((row) => row.includes("@session-")));
  second.type("Is it true?\r");
  await second.until("the reply", ({ text }) => text().includes("Yes."));
  await ready(second);
  await leave(second);
  expect(JSON.stringify(stage.server.requests.at(-1))).toContain("The kettle stands in the kitchen.");
});

test("what an earlier session said is found in /memory, read and forgotten for good", async () => {
  verifies("S4.66");
  const stage = await openScreenStage({
    replies: [reply("The kettle stands in the kitchen, beside the blue teapot."), reply("Good day.")],
  });
  const first = stage.open();
  await ready(first);
  say(first, "Where is the kettle");
  await first.until("the reply", ({ text }) => text().includes("beside the blue teapot"));
  await ready(first);
  await leave(first);
  const screen = stage.open();
  const shows = (what: RegExp): Promise<void> =>
    screen.until(String(what), ({ rows }) => rows().some((row) => what.test(row)));
  await ready(screen);
  say(screen, "/memory");
  await shows(/Memory of this project/);
  await shows(/What was said before +\d+ pieces of \d sessions/);
  screen.type("teapot");
  await shows(/› The kettle stands in the kitchen/);
  screen.type("\r");
  await shows(/agent, just now/);
  await shows(/Esc leaves/);
  screen.type("\u001b");
  await shows(/Delete forgets/);
  screen.type("\u001b[3~");
  await shows(/› Forget it/);
  screen.type("\r");
  await shows(/Nothing of this project says that/);
  // Out of the box first, then out of the screen.
  screen.type("\u001b");
  await shows(/What was said before/);
  screen.type("\u001b");
  await ready(screen);
  await leave(screen);
  const index = readFileSync(path.join(stage.home, "memory/index.sqlite"));
  expect(index.includes("teapot")).toBe(false);
});
