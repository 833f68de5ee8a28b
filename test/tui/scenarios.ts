// Conversations with everything that a screen shows of them, told once for every place where a session may live: here, at
// a server, and at a server that is killed at one of the moments of the scenario.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { summaryRequest } from "../../keel/src/core/model-text.ts";
import { reply, replyWith, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import type { Screen } from "./screen.ts";
import { asked, ready, say } from "./stage.ts";

export type Scene = {
  readonly screen: Screen;
  readonly project: string;
  say(words: string): void;
  key(bytes: string): void;
  /** Until it stands there, wherever it does. */
  sees(words: string): Promise<void>;
  /** Until it stands in the rows that are seen now. */
  shows(words: string): Promise<void>;
  /** Until the question can be answered. */
  asked(title: string): Promise<void>;
  ready(): Promise<void>;
  /** The server may be killed here, and is back when this settles. */
  moment(): Promise<void>;
};

export type Scenario = {
  readonly name: string;
  readonly permissionMode?: "acceptEdits" | "plan" | "bypassPermissions";
  /** By words of the newest message that has any of them: what is said to it, and to results of its calls. */
  replies(project: string): Readonly<Record<string, (results: string) => Reply>>;
  play(scene: Scene): Promise<void>;
  /** What is told beside the log. */
  readonly live?: readonly RegExp[];
  readonly moments: number;
};

const esc = "\u001b";
const slow = { betweenMs: 25, chunkChars: 24 };

const numbered = (name: string, count: number): string =>
  Array.from({ length: count }, (_, line) => `${name}-${String(line).padStart(2, "0")} of the reply`).join(
    "\n",
  );

/** A call first, and words once there is something of it. */
const callThen =
  (call: Reply, words: Reply) =>
  (results: string): Reply =>
    results === "" ? call : words;

export const scenarios: readonly Scenario[] = [
  {
    name: "a conversation",
    moments: 4,
    replies: () => ({
      Begin: () => reply("Hello **there**.\n\n- a list\n- of two\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
      Write: () => replyWith(slow, numbered("LINE", 30)),
      Thanks: () => reply("You are welcome."),
    }),
    async play({ say: says, sees, ready: rests, moment }) {
      await moment();
      says("Begin");
      await sees("of two");
      await rests();
      await moment();
      says("Write");
      await sees("LINE-05");
      await moment();
      await sees("LINE-29");
      await rests();
      await moment();
      says("Thanks");
      await sees("You are welcome.");
      await rests();
    },
  },
  {
    name: "files that are read and changed",
    permissionMode: "acceptEdits",
    moments: 2,
    replies: (project) => ({
      Mend: (results) => {
        const file_path = path.join(project, "a.ts");
        if (results === "") return reply("I read it.", toolUse("Read", { file_path }));
        if (/const a = 1/.test(results))
          return reply(
            "I mend it.",
            toolUse("Edit", { file_path, old_string: "const a = 1;", new_string: "const a = 2;" }),
          );
        return replyWith(slow, "It is mended now, and nothing else was changed in it.");
      },
    }),
    async play({ say: says, sees, ready: rests, moment, project }) {
      writeFileSync(path.join(project, "a.ts"), "const a = 1;\n");
      says("Mend");
      await sees("I mend it.");
      await moment();
      await sees("nothing else was changed");
      await rests();
      await moment();
    },
  },
  {
    name: "a command that is asked about and runs",
    moments: 3,
    replies: () => ({
      Run: callThen(
        reply("I run it.", toolUse("Bash", { command: "touch made; echo one; sleep 1; echo two" })),
        reply("That was it."),
      ),
    }),
    async play({ say: says, key, sees, asked: isAsked, ready: rests, moment }) {
      says("Run");
      await isAsked("Run a command?");
      await moment();
      await isAsked("Run a command?");
      key("\r");
      await sees("one");
      await moment();
      await sees("That was it.");
      await rests();
      await moment();
    },
  },
  {
    name: "a no with words",
    moments: 2,
    replies: () => ({
      Publish: callThen(
        reply(toolUse("Bash", { command: "npm publish" })),
        reply("Then I leave it as it is."),
      ),
    }),
    async play({ say: says, key, sees, shows, asked: isAsked, ready: rests, moment }) {
      says("Publish");
      await isAsked("Run a command?");
      key("n");
      await shows("Enter says no");
      key("not today");
      await moment();
      // What was being written belongs to the question: where that has gone and come back, it is written again.
      await isAsked("Run a command?");
      key(`${esc}`);
      await isAsked("Allow once");
      key("n");
      await shows("Enter says no");
      key("not today\r");
      await sees("Then I leave it");
      await rests();
      await moment();
    },
  },
  {
    name: "questions",
    moments: 2,
    replies: () => ({
      Store: callThen(
        reply(
          "I have to know one thing.",
          toolUse("AskUserQuestion", {
            questions: [
              {
                question: "Which database should they live in?",
                header: "Database",
                multiSelect: false,
                options: [
                  { label: "SQLite", description: "one file" },
                  { label: "None", description: "in memory" },
                ],
              },
            ],
          }),
        ),
        reply("So be it."),
      ),
    }),
    async play({ say: says, key, sees, asked: isAsked, ready: rests, moment }) {
      says("Store");
      await isAsked("Which database");
      await moment();
      await isAsked("Which database");
      key("2");
      await sees("So be it.");
      await rests();
      await moment();
    },
  },
  {
    name: "a plan",
    permissionMode: "plan",
    moments: 1,
    replies: () => ({
      Plan: callThen(
        reply("Here it is.", toolUse("ExitPlanMode", { plan: "# Mend it\n\n1. Read\n2. Change" })),
        reply("I begin."),
      ),
    }),
    async play({ say: says, key, sees, asked: isAsked, ready: rests, moment }) {
      says("Plan");
      await isAsked("Carry out this plan?");
      await moment();
      await isAsked("Carry out this plan?");
      key("\r");
      await sees("I begin.");
      await rests();
    },
  },
  {
    name: "agents, one of which asks",
    moments: 2,
    replies: () => ({
      Delegate: callThen(
        reply(
          "Two look at it.",
          toolUse("Agent", { description: "review", prompt: "REVIEW the login", run_in_background: false }),
          toolUse("Agent", { description: "clock", prompt: "CLOCK of the login", run_in_background: false }),
        ),
        reply("Both have ended."),
      ),
      REVIEW: callThen(
        reply("I try it.", toolUse("Bash", { command: "touch of-agent" })),
        reply("Nothing was found."),
      ),
      CLOCK: () => replyWith(slow, "I look at the clock for a while, line by line."),
    }),
    async play({ say: says, key, sees, asked: isAsked, ready: rests, moment, screen }) {
      says("Delegate");
      await isAsked("Run a command?");
      await moment();
      // A server that was killed has settled the agents of the call, and asks the model again.
      await screen.until("the question or the end", ({ rows, text }) =>
        /Run a command\?.*agent|Both have ended\./.test(rows().join("\n") + text()),
      );
      if (!screen.text().includes("Both have ended.")) {
        await isAsked("Run a command?");
        key("\r");
      }
      await sees("Both have ended.");
      await rests();
      await moment();
    },
  },
  {
    name: "a list of things to do",
    moments: 2,
    replies: () => ({
      Steps: (results) => {
        if (results === "")
          return reply(
            "I write them down.",
            toolUse("TaskCreate", { subject: "Read", description: "all of it", activeForm: "Reading" }),
            toolUse("TaskCreate", { subject: "Mend", description: "one thing", activeForm: "Mending" }),
          );
        if (/in_progress|completed/.test(results))
          return replyWith(slow, "One is done, and one is left over.");
        return reply(
          toolUse("TaskUpdate", { taskId: "1", status: "completed" }),
          toolUse("TaskUpdate", { taskId: "2", status: "in_progress" }),
        );
      },
    }),
    async play({ say: says, key, sees, shows, ready: rests, moment }) {
      says("Steps");
      await sees("One is");
      await moment();
      await sees("one is left over.");
      await rests();
      key("\u0014");
      await shows("Mend");
      await moment();
      await shows("Mend");
      key("\u0014");
      await rests();
    },
  },
  {
    name: "a command in the background",
    permissionMode: "bypassPermissions",
    moments: 2,
    // What a server that was killed left of it is told to the model as words of the task.
    replies: () => ({
      Serve: callThen(
        reply(toolUse("Bash", { command: "echo served; sleep 2; echo over", run_in_background: true })),
        reply("It runs beside us."),
      ),
      "<task-notice>": () => reply("I have heard of it."),
    }),
    async play({ say: says, sees, ready: rests, moment }) {
      says("Serve");
      await sees("It runs beside us.");
      await moment();
      await sees("Task");
      await rests();
      await moment();
    },
  },
  {
    name: "an interrupted reply",
    moments: 2,
    replies: () => ({
      Long: () => replyWith(slow, numbered("LONG", 200)),
      Short: () => reply("Here I am again."),
    }),
    async play({ say: says, key, sees, ready: rests, moment }) {
      says("Long");
      await sees("LONG-04");
      await moment();
      await sees("LONG-08");
      key(esc);
      await sees("Interrupted");
      await rests();
      await moment();
      says("Short");
      await sees("Here I am again.");
      await rests();
    },
  },
  {
    name: "words that wait for their turn",
    moments: 2,
    replies: () => ({
      First: () => replyWith(slow, numbered("FIRST", 40)),
      Second: () => reply("That was the second."),
    }),
    async play({ say: says, key, sees, shows, ready: rests, moment }) {
      says("First");
      await sees("FIRST-03");
      key("Second");
      key("\u001b\r");
      await shows("queued");
      await moment();
      await sees("That was the second.");
      await rests();
      await moment();
    },
  },
  {
    name: "a command and a note of one's own",
    moments: 2,
    live: [/^· \$ echo mine/, /^mine$/, /^· /],
    replies: () => ({ Look: () => reply("I have seen it.") }),
    async play({ say: says, sees, ready: rests, moment }) {
      says("!echo mine");
      await sees("$ echo mine");
      await rests();
      await moment();
      says("Look");
      await sees("I have seen it.");
      await rests();
      await moment();
    },
  },
  {
    name: "thinking, and a model that fails",
    moments: 2,
    replies: () => ({
      Think: () => replyWith(slow, thinking("It may not be there."), "I do not know it."),
      Fail: () => ({
        blocks: [],
        fault: { kind: "http", status: 400, type: "invalid_request_error", message: "too strange" },
      }),
    }),
    async play({ say: says, sees, ready: rests, moment }) {
      says("Think");
      await sees("I do not know it.");
      await rests();
      await moment();
      says("Fail");
      await sees("too strange");
      await rests();
      await moment();
    },
  },
  {
    name: "a conversation that goes back",
    moments: 3,
    replies: () => ({
      One: () => reply("That is one."),
      Two: () => reply("That is two."),
    }),
    async play({ say: says, key, sees, shows, ready: rests, moment }) {
      says("One");
      await sees("That is one.");
      await rests();
      says("Two");
      await sees("That is two.");
      await rests();
      await moment();
      says("/rewind");
      await shows("Go back to before which message?");
      key("\r");
      await shows("The conversation only");
      await moment();
      await shows("The conversation only");
      key("\u001b[B\r");
      await sees("The conversation goes on from an earlier message");
      await shows("Two");
      key("\u0015");
      await rests();
      await moment();
    },
  },
  {
    name: "a conversation that is shortened",
    moments: 2,
    replies: () => ({
      One: () => reply(`That is one. ${"It has a good many words. ".repeat(20)}`),
      Two: () => reply("That is two."),
      // What it is asked for is not said in these words to anybody else.
      [summaryRequest(undefined).slice(0, 40)]: () => replyWith(slow, "Both were said, and nothing else."),
    }),
    async play({ say: says, sees, ready: rests, moment }) {
      says("One");
      await sees("That is one.");
      await rests();
      says("/compact");
      await sees("The conversation was shortened here");
      await rests();
      await moment();
      says("Two");
      await sees("That is two.");
      await rests();
      await moment();
    },
  },
  {
    name: "screens of commands",
    moments: 3,
    live: [/^· Model: /],
    replies: () => ({ Hello: () => reply("Hello to you.") }),
    async play({ say: says, key, sees, shows, ready: rests, moment }) {
      says("Hello");
      await sees("Hello to you.");
      await rests();
      says("/context");
      await shows("The conversation is shortened by itself");
      await moment();
      await shows("The conversation is shortened by itself");
      key(esc);
      await rests();
      says("/cost");
      await shows("Time of the provider");
      key(esc);
      await rests();
      key("\u000f");
      await shows("Transcript");
      await moment();
      key(esc);
      await rests();
      says("/permissions");
      await shows("Rules");
      key(esc);
      await rests();
      await moment();
    },
  },
  {
    name: "a megabyte that is pasted",
    moments: 2,
    replies: () => ({ "line 1 ": () => reply("I have read it.") }),
    async play({ screen, key, sees, shows, ready: rests, moment }) {
      screen.paste(Array.from({ length: 12_000 }, (_, line) => `line ${line} ${"x".repeat(70)}`).join("\n"));
      await shows("[Pasted text");
      await moment();
      await shows("[Pasted text");
      key("\r");
      await sees("I have read it.");
      await rests();
      await moment();
    },
  },
  {
    name: "a storm of sizes",
    moments: 1,
    replies: () => ({ Storm: () => replyWith({ betweenMs: 20, chunkChars: 12 }, numbered("STORM", 50)) }),
    async play({ screen, say: says, sees, ready: rests, moment }) {
      says("Storm");
      await sees("STORM-02");
      for (const [columns, rows] of [
        [60, 20],
        [134, 40],
        [40, 24],
        [97, 30],
      ] as const) {
        screen.resize(columns, rows);
        await screen.settled(40).catch(() => undefined);
      }
      await moment();
      for (const [columns, rows] of [
        [33, 24],
        [120, 18],
        [80, 24],
      ] as const) {
        screen.resize(columns, rows);
        await screen.settled(40).catch(() => undefined);
      }
      await sees("STORM-49");
      await rests();
    },
  },
  {
    name: "output that plays games",
    permissionMode: "bypassPermissions",
    moments: 1,
    replies: (project) => ({
      Show: callThen(
        reply(toolUse("Bash", { command: `cat ${path.join(project, "games.txt")}` })),
        reply("Words with \u001b[2J and \u001b]0;title\u0007 in them."),
      ),
    }),
    async play({ say: says, sees, ready: rests, moment, project }) {
      writeFileSync(
        path.join(project, "games.txt"),
        "\u001b[2Jcleared\u001b[?1049h\u001b]52;c;aGk=\u0007\u009b3J\u202eabc\n",
      );
      says("Show");
      await sees("Words with");
      await rests();
      await moment();
    },
  },
];

/** The words that stand last among what was said to the model are the ones that are meant. */
export function scriptOf({ replies }: Scenario, project: () => string) {
  return (request: unknown, { toolResults }: { readonly toolResults: string }): Reply => {
    const { messages = [] } = request as { messages?: readonly SentMessage[] };
    const said = messages
      .filter(({ role }) => role === "user")
      .flatMap(({ content }) =>
        typeof content === "string" ? [content] : content.map(({ text = "" }) => text),
      )
      .join("\n");
    const [first] = Object.entries(replies(project()))
      .map(([words, answer]) => ({ at: said.lastIndexOf(words), answer }))
      .filter(({ at }) => at >= 0)
      .sort((left, right) => right.at - left.at);
    return first?.answer(toolResults) ?? reply("?");
  };
}

type SentMessage = {
  readonly role: string;
  readonly content: string | readonly { readonly text?: string }[];
};

/** What a scenario does on a screen; it counts the moments. */
export async function playScenario(
  scenario: Scenario,
  { screen, project, moment }: Pick<Scene, "screen" | "project"> & { moment(at: number): Promise<void> },
): Promise<void> {
  let at = 0;
  const sees =
    (look: (now: Screen) => string) =>
    (words: string): Promise<void> =>
      screen.until(words, (now) => look(now).includes(words));
  await ready(screen);
  await scenario.play({
    screen,
    project,
    say: (words) => say(screen, words),
    key: (bytes) => screen.type(bytes),
    sees: sees(({ text }) => text()),
    shows: sees(({ rows }) => rows().join("\n")),
    asked: (title) => asked(screen, title),
    ready: () => ready(screen),
    moment: () => moment(at++),
  });
  if (at !== scenario.moments) throw new Error(`${scenario.name} has ${at} moments, not ${scenario.moments}`);
}
