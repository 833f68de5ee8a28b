// Programs of the SDK as one of several hands on a session that the server has: `query({ resume })` beside `keel/client`
// and `keel attach`.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { openHome } from "../../keel/src/app/home.ts";
import type { Json } from "../../keel/src/kernel/json.ts";
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import { type Options, type Query, query } from "../../keel/src/sdk/index.ts";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { countOf } from "../support/budget.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { clientOf, heardUntil, isTurnEnd, openServeStage, words } from "./serve-stage.ts";
import { type Running, until } from "./stage.ts";
import { hasTerminal, startOnTerminal } from "./terminal.ts";

/** One session with a turn behind it: at the server, or of nobody. */
async function session(
  owner: "server" | "nobody",
  replies: readonly Reply[],
  options: Record<string, Json> = {},
) {
  const stage = await openServeStage(byPosition([reply("First."), ...replies]), { maxRequests: 10_000 });
  const env = { PATH: process.env["PATH"], ...stage.env };
  const given: Options = { cwd: stage.project, env };
  if (owner === "nobody") {
    const begun = await stage.run(["-p", "begin", "--output-format", "json"]);
    const id: string = JSON.parse(begun.stdout).session_id;
    return { stage, id, options: { ...given, resume: id } };
  }
  const client = await clientOf(await stage.detach());
  const handle = await client.open({ cwd: stage.project, options });
  const ended = heardUntil(handle.events(), isTurnEnd);
  await handle.submit(words("begin"));
  await ended;
  return { stage, id: handle.id, options: { ...given, resume: handle.id }, client, handle };
}

async function atServer(replies: readonly Reply[], options: Record<string, Json> = {}) {
  const { client, handle, ...rest } = await session("server", replies, options);
  if (!client || !handle) throw new Error("not at the server");
  return { ...rest, client, handle };
}

const kindOf = (message: { type: string; subtype?: string }): string =>
  `${message.type} ${message.subtype ?? ""}`.trim();
async function* said(...texts: string[]) {
  for (const content of texts)
    yield {
      type: "user" as const,
      message: { role: "user" as const, content },
      parent_tool_use_id: null,
      priority: "later" as const,
    };
}

describe("a program that goes on with a session of the server", () => {
  test("is told the same messages as with one of its own, by resume and by continue", async () => {
    verifies("S4.38", "S3.17", "S3.20");
    const told: unknown[] = [];
    for (const owner of ["server", "nobody"] as const) {
      const { options, id } = await session(owner, [
        reply(toolUse("Bash", { command: "cat nothing" })),
        reply("Nothing there."),
        reply("Third."),
        reply("Fourth."),
      ]);
      const messages = await Array.fromAsync(query({ prompt: said("look", "again"), options }));
      const { resume: _, ...others } = options;
      const more = await Array.fromAsync(
        query({ prompt: "once more", options: { ...others, continue: true } }),
      );
      expect(
        new Set([...messages, ...more].map((message) => "session_id" in message && message.session_id)),
      ).toEqual(new Set([id]));
      const results = [...messages, ...more].flatMap((message) =>
        message.type === "result" && message.subtype === "success"
          ? [[message.result, message.num_turns, message.total_cost_usd]]
          : [],
      );
      told.push({ kinds: [...messages, ...more].map(kindOf), results });
    }
    expect(told[0]).toEqual(told[1]);
    expect(told[0]).toMatchObject({
      results: [
        ["Nothing there.", 2],
        ["Third.", 1],
        ["Fourth.", 1],
      ].map((row) => expect.arrayContaining(row)),
    });
  });

  test("answers what its turn asks, sets model and mode, interrupts its own turn; the session goes on", async () => {
    verifies("S3.20");
    const { options, client, handle, id, stage } = await atServer([
      reply(toolUse("Bash", { command: "touch made" })),
      reply("It is made."),
      reply(toolUse("Bash", { command: "sleep 60" })),
      reply("Fine."),
    ]);
    const asked: string[] = [];
    async function* prompts() {
      yield* said("make it");
      await until("it is made", () => existsSync(path.join(stage.project, "made")));
      await hand.setModel("claude-sonnet-4-5");
      await hand
        .setPermissionMode("bypassPermissions")
        .catch((thrown: unknown) => asked.push(String(thrown)));
      await hand.setPermissionMode("acceptEdits");
      yield* said("wait");
    }
    const hand: Query = query({
      prompt: prompts(),
      options: {
        ...options,
        canUseTool: async (tool, input) => {
          asked.push(`${tool} ${input["command"]}`);
          return {
            behavior: "allow",
            updatedInput: input,
            updatedPermissions: [
              {
                type: "addRules",
                rules: [{ toolName: "Bash", ruleContent: "sleep:*" }],
                behavior: "allow",
                destination: "session",
              },
            ],
          };
        },
      },
    });
    const kinds: string[] = [];
    const told = (async () => {
      for await (const message of hand) {
        kinds.push(kindOf(message));
        if (message.type === "assistant" && JSON.stringify(message.message.content).includes("sleep 60")) {
          await until(
            "it runs",
            () => stage.log(id).filter(({ type }) => type === "tool.started").length === 2,
          );
          await hand.interrupt();
        }
      }
    })();
    // Its last result is that of the turn that was interrupted.
    await expect(told).rejects.toThrow("Interrupted");
    expect(asked[0]).toBe("Bash touch made");
    expect(asked).toHaveLength(2); // The other one is the refusal of a mode that nobody started it for.
    expect(kinds.filter((kind) => kind.startsWith("result"))).toEqual([
      "result success",
      "result error_during_execution",
    ]);
    const patches = stage.log(id).flatMap(({ type, patch }) => (type === "settings.changed" ? [patch] : []));
    expect(patches).toContainEqual({ model: "claude-sonnet-4-5" });
    expect(patches).toContainEqual({ permissionMode: "acceptEdits" });
    // To let go is not to close.
    expect(await client.session(id)).toMatchObject({ working: false });
    const ended = heardUntil(handle.events((await client.session(id)).seq), isTurnEnd);
    await handle.submit(words("more"));
    expect((await ended).at(-1)).toMatchObject({ reason: "completed" });
  });

  test("hears nothing of others' turns", async () => {
    const { options, handle } = await atServer([reply("Theirs."), reply("Ours.")]);
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const hand = query({
      prompt: (async function* () {
        await held;
        yield* said("ours");
      })(),
      options,
    });
    const told = Array.fromAsync(hand);
    await hand.initializationResult();
    const ended = heardUntil(handle.events(3), isTurnEnd);
    await handle.submit(words("theirs"));
    await ended;
    await heardUntil(handle.events(0), ({ type }) => type === "turn.finished");
    finish();
    const messages = await told;
    expect(JSON.stringify(messages)).not.toContain("Theirs.");
    expect(messages.map(kindOf)).toEqual(["system init", "assistant", "result success"]);
  });

  test("has nothing left to do once the end of its turn is told", async () => {
    const { options, id } = await atServer([reply("Second.")]);
    const home = openHome({ cwd: options.cwd ?? "", env: options.env ?? {} });
    const joined = await home.join({ id, name: "a test", follows: "own turns", settings: {} });
    const left: boolean[] = [];
    joined.onEvent(({ type }) => type === "turn.finished" && left.push(joined.hasWork()));
    await joined.submit(words("more"));
    expect(joined.hasWork()).toBe(true);
    await joined.idle();
    expect(left).toEqual([false]);
    await joined.close();
    await home.close();
  });

  test("is refused by name what a session has from its start", async () => {
    const { options } = await atServer([]);
    const wrong = query({
      prompt: "more",
      options: {
        ...options,
        hooks: { Stop: [{ hooks: [async () => ({})] }] },
        agents: { one: { description: "d", prompt: "p" } },
        maxTurns: 3,
      },
    });
    await expect(Array.fromAsync(wrong)).rejects.toThrow("was not started with hooks, agents, maxTurns");
    await expect(
      Array.fromAsync(query({ prompt: "more", options: { ...options, allowedTools: ["Bash"] } })),
    ).rejects.toThrow("allowedTools");
  });
});

const shows = (running: Running, text: string): Promise<void> =>
  until(`${text} in ${JSON.stringify(running.out().slice(-500))}`, () => running.out().includes(text));
const isClosed = ({ type }: Envelope): boolean => type === "ask.closed";

describe("several hands: keel/client, keel attach and a program of the SDK", () => {
  test.each(["client", "terminal", "program"] as const)(
    "an ask that the %s answers is closed everywhere, and everybody is told by whom",
    async (first) => {
      verifies("S3.17", "S3.20", "P16");
      if (!hasTerminal()) return notRunHere("attaching on a terminal", "script of util-linux absent");
      const { options, handle, id, stage } = await atServer([
        reply(toolUse("Bash", { command: "echo ran >> made" })),
        reply("Done with it."),
      ]);
      const terminal = startOnTerminal(["attach", id], { ...stage, env: { ...stage.env, TERM: "dumb" } });
      await shows(terminal, "Attached to");
      const seq = stage.log(id).length;
      const closed = heardUntil(handle.events(seq), isClosed);
      let withdrawn = false;
      const program = Array.fromAsync(
        query({
          prompt: "make it",
          options: {
            ...options,
            canUseTool: async (_, input, { signal }) => {
              await shows(terminal, "] > ");
              if (first === "program") return { behavior: "allow", updatedInput: input };
              const over = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
              if (first === "terminal") terminal.child.stdin?.write("o\n");
              else {
                const [ask] = await handle.asks();
                await handle.submit({ type: "answer", askId: ask?.id ?? "", answer: { verdict: "allow" } });
              }
              await over;
              withdrawn = true;
              return { behavior: "deny", message: "too late" };
            },
          },
        }),
      );
      const who = {
        client: "this machine",
        terminal: "keel attach on this machine",
        program: "a program on this machine",
      };
      expect((await closed).at(-1)).toMatchObject({ type: "ask.closed", by: "host", who: who[first] });
      expect((await program).at(-1)).toMatchObject({
        type: "result",
        subtype: "success",
        result: "Done with it.",
      });
      await shows(terminal, "Done with it.");
      expect(withdrawn).toBe(first !== "program");
      expect(readFileSync(path.join(stage.project, "made"), "utf8")).toBe("ran\n");
      expect(await handle.asks()).toEqual([]);
    },
  );

  test("a client and a program that answer at once: one counts, and the call runs once", async () => {
    verifies("S3.20");
    const races = countOf("racing-answers");
    const { options, handle, id, stage } = await atServer(
      Array.from({ length: races }, (_, race) => [
        reply(toolUse("Bash", { command: `echo ${race} >> trace.txt` })),
        reply("Done."),
      ]).flat(),
    );
    const receipts: string[] = [];
    for (let race = 0; race < races; race++) {
      const messages = await Array.fromAsync(
        query({
          prompt: "go",
          options: {
            ...options,
            canUseTool: async (_, input, { requestId }) => {
              const answer = { type: "answer", askId: requestId, answer: { verdict: "allow" } } as const;
              // Sometimes the one, sometimes the other is before; mostly nobody knows.
              const later = race % 3 === 1 ? pause(20) : Promise.resolve();
              const theirs = later.then(async () => receipts.push((await handle.submit(answer)).type));
              if (race % 3 === 0) await theirs;
              return { behavior: "allow", updatedInput: input };
            },
          },
        }),
      );
      expect(messages.at(-1)).toMatchObject({ type: "result", subtype: "success" });
    }
    const trace = readFileSync(path.join(stage.project, "trace.txt"), "utf8").trim().split("\n");
    expect(trace).toEqual(Array.from({ length: races }, (_, number) => String(number)));
    const closed = stage.log(id).filter(({ type }) => type === "ask.closed");
    expect(closed).toHaveLength(races);
    await until("every receipt", () => receipts.length === races);
    expect(new Set(receipts)).toEqual(new Set(["answered", "late"]));
  });

  // One that is waited for, and one that goes on when the turn of the program has ended.
  test.each([false, true])(
    "what a sub-agent asks shows in its parent and in the list of the whole app (behind: %s)",
    async (isBehind) => {
      verifies("S3.20", "P16");
      const part = "THE-PART";
      const stage = await openServeStage(({ messages }: { messages?: unknown }) => {
        const all = Array.isArray(messages) ? messages : [];
        const isFirst = all.length === 1;
        if (JSON.stringify(all[0]).includes(part))
          return isFirst ? reply(toolUse("Bash", { command: "touch made" })) : reply("Its part is done.");
        const isTold = all.length > 3;
        if (isTold) return reply("It was told.");
        return isFirst
          ? reply(toolUse("Agent", { description: "a part", prompt: part, run_in_background: isBehind }))
          : reply("All is done.");
      });
      const client = await clientOf(await stage.detach());
      const { id: workspace } = await client.workspaces.createWorkspace({ cwd: stage.project });
      const { session = "" } = await client.workspaces.createWorker({
        workspace,
        worker: { kind: "agent", engine: "keel" },
      });
      const listed = async () => (await client.workspaces.list())[0]?.workers[0];
      let seen: unknown[] = [];
      const messages = await Array.fromAsync(
        query({
          prompt: "go",
          options: {
            cwd: stage.project,
            env: { PATH: process.env["PATH"], ...stage.env },
            resume: session,
            canUseTool: async (tool, input, { agentID }) => {
              seen = [tool, typeof agentID, await listed(), await client.attach(session).asks()];
              return { behavior: "allow", updatedInput: input };
            },
          },
        }),
      );
      expect(seen).toMatchObject([
        "Bash",
        "string",
        { session, activity: "asking", asks: 1 },
        [{ tool: "Bash", origin: { depth: 1 } }],
      ]);
      expect(messages.at(-1)).toMatchObject({
        type: "result",
        result: isBehind ? "It was told." : "All is done.",
      });
      expect(await listed()).toMatchObject({ asks: 0 });
      expect(existsSync(path.join(stage.project, "made"))).toBe(true);
    },
  );
});
