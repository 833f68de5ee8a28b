// Sessions that are begun ahead of their prompt, and a sandbox that is wanted and cannot be had.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { prewarm, startup } from "../../keel/src/sdk/query/startup.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";

describe("prewarm", () => {
  test("takes folder, environment and words when it is claimed, and tells of its beginning and end", async () => {
    const { options, server, cwd } = await sdkStage({ replies: [reply("Warm.")] });
    const folder = path.join(cwd, "other");
    mkdirSync(folder);
    await using spare = await prewarm({ options: { ...options, title: "first" } });
    expect(server.requests).toEqual([]);
    const messages = await all(
      spare.claim({
        prompt: "hi",
        options: { cwd: folder, appendSystemPrompt: "Speak like a gull.", model: "claude-haiku-4-5" },
      }),
    );
    const { cwd: claimed, sessionId } = await spare.claimed;
    expect(claimed).toBe(folder);
    expect(messages.at(-1)).toMatchObject({ type: "result", result: "Warm.", session_id: sessionId });
    await spare.exited;
    const body = JSON.stringify(server.requests[0]?.body);
    expect(body).toContain("Speak like a gull.");
    expect(body).toContain("claude-haiku-4-5");
    expect(() => spare.claim({ prompt: "again", options: { cwd: folder } })).toThrow("claimed or closed");
  });

  test("can be closed unused, and refuses words beside a whole prompt", async () => {
    const { options, cwd } = await sdkStage({ replies: [] });
    const spare = await prewarm({ options: { ...options, systemPrompt: "Whole." } });
    expect(() => spare.claim({ prompt: "x", options: { cwd, appendSystemPrompt: "more" } })).toThrow(
      "own prompt",
    );
    spare.close();
    await spare.exited;
    await expect(spare.claimed).rejects.toThrow();
  });
});

test("startup is disposed of with its block", async () => {
  const { options, server } = await sdkStage({ replies: [] });
  {
    await using warm = await startup({ options });
    expect(warm.query).toBeTypeOf("function");
  }
  expect(server.requests).toEqual([]);
});

describe("a sandbox that cannot be had", () => {
  const outcome = async (more: Options, settings?: object) => {
    const { options, cwd } = await sdkStage({ replies: [], otherwise: reply("Hi.") });
    if (settings) {
      mkdirSync(path.join(cwd, ".keel"));
      writeFileSync(path.join(cwd, ".keel/settings.json"), JSON.stringify(settings));
    }
    const told: string[] = [];
    // It is made in this folder.
    const env = { ...options.env, TMPDIR: path.join(cwd, "missing") };
    const given = { ...options, ...more, env, stderr: (words: string) => told.push(words) };
    try {
      const messages = await all(query({ prompt: "hi", options: given }));
      return { said: told.join(""), init: JSON.stringify(messages[0]), ran: true };
    } catch (thrown) {
      return { said: String(thrown), init: "", ran: false };
    }
  };

  test("that is wanted and must not be missing refuses the start, as it does when nothing is said", async () => {
    for (const sandbox of [{ enabled: true }, { enabled: true, failIfUnavailable: true }]) {
      const { ran, said } = await outcome({ sandbox });
      expect(ran).toBe(false);
      expect(said).toContain("Commands cannot be confined here");
    }
  });

  test("that may be missing is warned about, on standard error and in init", async () => {
    const { ran, said, init } = await outcome({ sandbox: { enabled: true, failIfUnavailable: false } });
    expect(ran).toBe(true);
    expect(said).toContain("NOT CONFINED");
    expect(init).toContain("NOT CONFINED");
  });

  test("that files want is warned about, and one that nobody wants is not spoken of", async () => {
    const wanted = { sandbox: { enabled: true, network: { allowedDomains: ["a.org"] } } };
    expect((await outcome({ settingSources: ["project"] }, wanted)).said).toContain("NOT CONFINED");
    // What another source says does not take the wish back.
    const over: Options = { settingSources: ["project"], settings: { sandbox: { enabled: false } } };
    expect((await outcome(over, wanted)).said).toContain("NOT CONFINED");
    expect(await outcome({ sandbox: { enabled: false } })).toMatchObject({ ran: true, said: "" });
    expect(await outcome({})).toMatchObject({ ran: true, said: "" });
  });
});
