import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openStage } from "./stage.ts";

test("files that a session changed by a command are listed, previewed, put back, and the rewind taken back", async () => {
  verifies("S0.32", "P2");
  const stage = await openStage({
    replies: [reply(toolUse("Bash", { command: "echo after > a.txt; echo made > b.txt" })), reply("Done.")],
  });
  const file = path.join(stage.project, "a.txt");
  writeFileSync(file, "before\n");
  const ended = await stage.run(["-p", "--allowed-tools", "Bash", "change it"]);
  expect(ended.code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe("after\n");
  const [session = ""] = stage.sessions();

  const listed = await stage.run(["sessions", "rewind", session]);
  const checkpoint = listed.stdout.split(" ")[0] ?? "";
  expect(listed.stdout).toContain("2 files  change it");
  const preview = await stage.run(["sessions", "rewind", session, checkpoint, "--preview"]);
  expect(preview.stdout).toContain("a.txt  +1 -1");
  expect(readFileSync(file, "utf8")).toBe("after\n");

  // No key and no model are needed for it.
  const rewound = await stage.run(["sessions", "rewind", session, checkpoint], {
    env: { ANTHROPIC_BASE_URL: "", KEEL_MODEL: "" },
  });
  expect(rewound.code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe("before\n");
  const undo = /rewind \S+ (\S+)/.exec(rewound.stdout)?.[1] ?? "";
  await stage.run(["sessions", "rewind", session, undo]);
  expect(readFileSync(file, "utf8")).toBe("after\n");
  expect((await stage.run(["sessions", "rewind", session, "nothing"])).code).toBe(64);
});
