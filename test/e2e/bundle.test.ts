import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { httpError, reply } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openStage } from "./stage.ts";

test("keel doctor --bundle writes one private file with faults and a session's log, and no secret", async () => {
  verifies("P52");
  const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz";
  const stage = await openStage({ replies: [httpError(400, { message: "no such thing" }), reply("Hello.")] });
  const env = { ANTHROPIC_API_KEY: secret, MY_TOKEN: "very-private-value" };
  await stage.run(["-p", "first"], { env });
  await stage.run(["-p", `the password is very-private-value`], { env });
  await stage.run(["config", "set", "providers.openai.key", "kept-in-settings"], { env });
  const session =
    stage.sessions().find((id) => JSON.stringify(stage.log(id)).includes("the password is")) ?? "";
  const file = path.join(stage.project, "bundle.json");
  const ended = await stage.run(["doctor", "--bundle", "bundle.json", "--session", session], { env });
  expect(ended).toMatchObject({ code: 0, stdout: "" });
  expect(ended.stderr).toContain(file);
  const text = readFileSync(file, "utf8");
  const bundle = JSON.parse(text);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(bundle.faults).toMatchObject([{ type: "turn.finished" }, { type: "model.failed" }]);
  expect(bundle.log.length).toBeGreaterThan(5);
  expect(bundle.variables).toContain("MY_TOKEN");
  expect(text).toContain("the password is [hidden]");
  for (const word of [secret, "very-private-value", "kept-in-settings"]) expect(text).not.toContain(word);

  const again = await stage.run(["doctor", "--bundle", "bundle.json"], { env });
  expect(again.code).toBe(64);
  expect(readFileSync(file, "utf8")).toBe(text);
});
