/**
 * A long working day against a provider with a simulated prompt cache: real HTTP, our own adapter, real tools on files
 * in memory, thinking, compaction, pauses, another model, broken replies and a restart. The clock is the test's.
 */
import * as z from "zod/mini";
import { schemaOf } from "../../keel/src/kernel/schema.ts";
import { anthropicModel } from "../../keel/src/models/anthropic/model.ts";
import { catalog } from "../../keel/src/models/catalog.ts";
import { openHttp } from "../../keel/src/models/http.ts";
import type { Clock } from "../../keel/src/ports/clock.ts";
import { defineTool } from "../../keel/src/ports/define-tool.ts";
import type { Tool } from "../../keel/src/ports/tool.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { text } from "../../keel/src/protocol/message.ts";
import type { Usage } from "../../keel/src/protocol/usage.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";
import { instantClock } from "../../keel/src/testing/fake-clock.ts";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply, replyWith, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import { requestLaw } from "../../keel/src/testing/request-law.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { memoryLog, openTestSession, type TestSession } from "../support/test-session.ts";

export type Day = {
  /** What the server counted, in the order of the requests that it answered. */
  readonly counted: readonly { readonly model: string; readonly usage: Usage }[];
  readonly events: readonly Durable[];
};

export const models = { usual: "claude-sonnet-4-5", other: "claude-haiku-4-5" } as const;

/** A small window, so that a compaction leaves something out and another one comes by itself. */
export const known = catalog({ extra: [{ id: models.usual, windowTokens: 36_000 }] });

const minuteMs = 60_000;

/** Prose, code and another script: each has its own relation of characters to bytes. */
const files = {
  "a.md": "The harness keeps a log, and the log is the only truth about it.\n".repeat(60),
  "b.ts": 'export const value = { "key": [1, 2, 3], deep: { also: "here" } };\n'.repeat(50),
  "c.txt": "Übergrößenträger und ähnliche Wörter – mit Zeichen außerhalb von ASCII.\n".repeat(40),
};
const names = Object.keys(files);

/** Tools of its own: the day stays the same when the built-in ones change. */
const tools = ["Look", "Search", "Change"].map((name) =>
  defineTool({
    name,
    description: `${name}s at files of the project, one at a time. `.repeat(8),
    input: schemaOf(z.object({ file: z.string(), lines: z.number() })),
    traits: { readOnly: true, concurrent: true, replay: "safe" },
    claims: async () => [{ action: "read" as const, target: "/project" }],
    async *run({ file, lines }) {
      const found = (files[file as keyof typeof files] ?? "").split("\n").slice(0, lines).join("\n");
      return { content: [text(found)], display: { kind: "text", text: "seen" } };
    },
  }),
) as unknown as Tool[];

export async function liveADay(): Promise<Day> {
  const offset = { ms: 0 };
  const hurried = instantClock({ maxMs: 40_000 });
  const clock: Clock = { ...hurried, now: () => hurried.now() + offset.ms };
  const pass = (ms: number): void => {
    offset.ms += ms;
  };
  const counted: { model: string; usage: Usage }[] = [];
  const law = requestLaw();
  const server = await startModelServer({
    script: (body, asked) => answerTo(asked.lastUser, asked.number, JSON.stringify(body).length),
    cache: "simulated",
    now: clock.now,
    law,
    meter(seen, usage) {
      counted.push({ model: String(seen.body["model"]), usage });
      return usage;
    },
  });
  const http = openHttp({});
  const endpoint = { provider: "anthropic", baseUrl: server.url } as const;
  const log = memoryLog();
  const open = async (life: number): Promise<TestSession> => {
    const model = anthropicModel({ endpoint, catalog: known, http: http.send, now: clock.now });
    const told = await openTestSession({
      log,
      model,
      clock,
      ids: countingIds({ prefix: life }),
      tools,
      system: ["You are a careful engineer. ".repeat(150), "You work in /project."],
      settings: { model: models.usual, thinking: { kind: "budget", tokens: 2_000 } },
    });
    told.session.onEvent(law.hear);
    return told;
  };
  try {
    const morning = await open(0);
    for (const words of ["begin", "fail once", "break off", "go on"]) await turn(morning, words);
    pass(4 * minuteMs);
    await turn(morning, "after four minutes");
    pass(60 * minuteMs);
    for (const words of ["after an hour", "and more"]) await turn(morning, words);
    await morning.session.submit({ type: "compact" });
    await morning.session.run();
    for (const words of ["with notes", "with notes and files"]) await turn(morning, words);
    await set(morning, models.other);
    for (const words of ["another model", "still another model"]) await turn(morning, words);
    await set(morning, models.usual);
    await turn(morning, "back again");
    await morning.session.close("ended");

    pass(2 * minuteMs);
    const evening = await open(1);
    for (const words of ["resumed", "much later", "nearly full", "once more", "the end"])
      await turn(evening, words);
    await evening.session.close("ended");
  } finally {
    http.close();
    await server.close();
  }
  return { counted, events: log.events };

  async function turn(told: TestSession, words: string): Promise<void> {
    pass(minuteMs / 2);
    await told.say(words);
  }
}

async function set(told: TestSession, model: string): Promise<void> {
  await told.session.submit({ type: "set", patch: { model } });
}

/** Looks at a file or two, thinks, and answers; sometimes it is refused or breaks off. */
function answerTo(lastUser: string, number: number, size: number): Reply {
  if (lastUser.includes("about to be shortened")) return reply("Notes: ".repeat(40));
  if (lastUser === "fail once" && number % 2 === 1)
    return replyWith({ fault: { kind: "http", status: 529, type: "overloaded_error", message: "busy" } });
  if (lastUser === "break off" && number % 2 === 0)
    return replyWith({ fault: { kind: "cut", afterEvents: 3 } }, "This will not be whole.");
  const look = (name: string | undefined) => toolUse("Look", { file: name ?? "", lines: 30 });
  const thought = thinking(`Thought ${number}: ${"so ".repeat(size % 50)}`);
  if (lastUser !== "") return reply(thought, "Let me see.", look(names[number % names.length]));
  if (number % 3 === 0) return reply(thought, look(names[number % 2]), look(names[2]));
  return reply(`Answer ${number}: ${"this is what was found. ".repeat(number % 9)}`);
}
