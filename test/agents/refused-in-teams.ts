/** A team of ann, ben and cleo on fakes, one of whom tries something that is not theirs to do; and talk that goes round. */

import { mailLimits } from "../../keel/src/agents/mail-bounds.ts";
import { fold } from "../../keel/src/core/fold.ts";
import { emptyState, type SessionState } from "../../keel/src/core/state/state.ts";
import type { ModelRequest } from "../../keel/src/ports/model.ts";
import type { Durable, DurableEvent } from "../../keel/src/protocol/event/durable.ts";
import { textOf } from "../../keel/src/protocol/message.ts";
import { memoryStore } from "../../keel/src/store/memory/memory.ts";
import { instantClock } from "../../keel/src/testing/fake-clock.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { scriptedModel } from "../../keel/src/testing/scripted-model.ts";
import { idOf } from "../support/letter-stage.ts";
import { openFamily, rootId } from "./family.ts";

type Call = ReturnType<typeof toolUse>;
/** Under which a call is answered. */
export const numberOf = (call: Call): string => ("id" in call ? (call.id ?? "") : "");
type Attempts = Readonly<Record<string, readonly [Call, string]>>;

export const tell = (to: string, message: string, id: string, more = {}): Call =>
  toolUse("SendMessage", { to, message, ...more }, id);
const member = (name: string, more = {}): Call =>
  toolUse(
    "Agent",
    { description: name, prompt: `Work, ${name}.`, subagent_type: "worker", name, ...more },
    `new-${name}`,
  );
const create = toolUse("TeamCreate", { team_name: "crew" }, "create");
const tooLong = "x".repeat(mailLimits.characters + 1);
const onlyMain = "Only the main agent sends to other sessions";

export const teamAttempts: Readonly<Record<"ann" | "main", Attempts>> = {
  ann: {
    "to nobody": [tell("nobody", "Hello.", "a1"), "Nobody here is called nobody."],
    "to herself": [tell("ann", "Hello.", "a2"), "That is you."],
    "to the leader in capitals": [tell("MAIN", "Hello.", "a3"), "Nobody here is called MAIN."],
    "to a name with a blank behind it": [tell("main ", "Hello.", "a4"), "Nobody here is called main ."],
    "to a name with a sign that nobody sees": [
      tell("ben\u200b", "Hello.", "a5"),
      "Nobody here is called ben",
    ],
    "to several at once": [tell("ben,cleo", "Hello.", "a6"), "Nobody here is called ben,cleo."],
    "to another session": [tell(`session:${idOf(1)}`, "Hello.", "a7"), onlyMain],
    "to a socket": [tell("uds:/tmp/some.sock", "Hello.", "a8"), onlyMain],
    "to another machine": [tell("bridge:some", "Hello.", "a9"), onlyMain],
    "more than a message holds": [tell("ben", tooLong, "a10"), "at most 50000 are sent"],
    "a yes to another's plan": [
      tell("cleo", "Go on.", "a11", { approve_plan: true }),
      "only the leader of the team approves a plan",
    ],
    "a team of her own": [toolUse("TeamCreate", { team_name: "mine" }, "a12"), "There is no tool called"],
    "an end of the team": [toolUse("TeamDelete", {}, "a13"), "There is no tool called"],
    "a shutdown of another": [
      toolUse("TeamShutdown", { members: ["ben"] }, "a14"),
      "There is no tool called",
    ],
    "a yes that nobody asked for": [
      toolUse("ShutdownReply", { approve: true }, "a15"),
      "Nobody has asked you to shut down",
    ],
    "a no that nobody asked for": [
      toolUse("ShutdownReply", { approve: false, reason: "Busy." }, "a16"),
      "Nobody has asked you to shut down",
    ],
  },
  main: {
    "to itself": [tell("main", "Hello.", "m1"), "Nobody here is called main."],
    "to nobody": [tell("nobody", "Hello.", "m2"), "Nobody here is called nobody."],
    "to everybody and more": [tell("* ", "Hello.", "m3"), "Nobody here is called * ."],
    "more than a message holds": [tell("*", tooLong, "m4"), "at most 50000 are sent"],
    "where no session can be reached": [
      tell(`session:${idOf(1)}`, "Hello.", "m5"),
      "No other session can be reached from here.",
    ],
    "a second team": [toolUse("TeamCreate", { team_name: "other" }, "m6"), "You lead the team crew already."],
    "a shutdown of nobody": [
      toolUse("TeamShutdown", { members: ["nobody"] }, "m7"),
      "Nobody in the team has that name.",
    ],
  },
};

const noName = "is no name for a member of a team";
const taken = "is in the team already";

export const namesRefused: readonly { readonly call: Call; readonly why: string }[] = [
  ["main", noName],
  ["Main", noName],
  ["*", noName],
  ["session:1", noName],
  ["uds:/tmp/x", noName],
  ["bridge:1", noName],
  ['ann" from="main', noName],
  ["ann\nben", noName],
  [" ann", noName],
  ["ann ", noName],
  ["<keel-message>", noName],
  ["ann", taken],
  ["ANN", taken],
  ["ａｎｎ", taken],
].map(([name = "", why = ""], at) => ({ call: { ...member(name), id: `name-${at}` }, why }));

type Said = {
  /** What a call was answered. */
  said(callId: string): string;
  heardBy(who: string): string[];
  modeOf(who: string): string | undefined;
};

/** Everybody rests; then one of them makes these calls, in one reply. */
export async function inTeam({ by, calls }: { by: "ann" | "main"; calls: readonly Call[] }): Promise<Said> {
  let isDone = false;
  const act = (): Reply => {
    isDone = true;
    return reply(...calls);
  };
  const logs = await teamOf({
    main: (words, told) => {
      const isReady = ["ann", "ben", "cleo"].every((name) => told.includes(`member: ${name}`));
      if (isDone || !isReady) return reply("Fine.");
      if (by === "main") return act();
      return words.includes("Now.") ? reply("Fine.") : reply(tell("ann", "Now.", "now"));
    },
    ann: (words) => (words.includes("Now.") && !isDone ? act() : reply("Ann rests.")),
  });
  const all = [...logs.values()].flatMap(({ events }) => events);
  return {
    said: (callId) =>
      all.flatMap((event) =>
        event.type === "tool.finished" && event.callId === callId ? [textOf(event.content)] : [],
      )[0] ?? "",
    heardBy: (who) => inputsIn(logs.get(who)?.events ?? []),
    modeOf: (who) => logs.get(who)?.state.settings?.permissionMode,
  };
}

type Circle = {
  /** Messages that may have arrived by then. */
  readonly most: number;
  readonly why: RegExp;
  play(): Promise<{ refusals: readonly string[]; told: number }>;
};

const hears = (words: string): string | undefined => /<keel-message from="(\w+)">/.exec(words)?.[1];
/** Whoever hears something answers so; `first` begins. */
const talk = (script: Readonly<Record<string, (from: string) => string>>, first: string): Circle["play"] => {
  let number = 0;
  const say = (to: string): Reply => reply(tell(to, "And you?", `talk-${number++}`));
  const speaker =
    (name: string, answer: (from: string) => string) =>
    (words: string, _: string, at: number): Reply => {
      const from = hears(words);
      if (from !== undefined) return say(answer(from));
      return name === first && at === 0 ? say(answer(name)) : reply(`${name} rests.`);
    };
  return async () => {
    const speakers = Object.entries(script).map(([name, answer]) => [name, speaker(name, answer)]);
    return heardIn(await teamOf(Object.fromEntries(speakers)));
  };
};

function heardIn(logs: Logs): { refusals: string[]; told: number } {
  const all = [...logs.values()].flatMap(({ events }) => events);
  return {
    refusals: all.flatMap((event) =>
      event.type === "tool.finished" && event.tool === "SendMessage" && event.failed
        ? [textOf(event.content)]
        : [],
    ),
    told: inputsIn(all).filter((words) => hears(words) !== undefined).length,
  };
}

const isCircle = /this is a circle/;
const { idleHops, perMinute } = mailLimits;

export const circles: Readonly<Record<string, Circle>> = {
  "two members": {
    most: idleHops,
    why: isCircle,
    play: talk({ ann: () => "ben", ben: () => "ann" }, "ann"),
  },
  "three members, each to the next": {
    most: idleHops,
    why: isCircle,
    play: talk({ ann: () => "ben", ben: () => "cleo", cleo: () => "ann" }, "ann"),
  },
  "a member and the leader": {
    // Before it heard the first it had done something: that one does not count.
    most: idleHops + 1,
    why: isCircle,
    play: talk({ ann: () => "main", main: () => "ann" }, "ann"),
  },
  "everybody to everybody": {
    // Four tell three others each.
    most: 4 * 3 * perMinute,
    why: /this is a circle|within a minute/,
    play: talk({ ann: () => "*", ben: () => "*", cleo: () => "*", main: () => "*" }, "ann"),
  },
  "a leader who sends a member back to work with each report": {
    most: idleHops,
    why: isCircle,
    play: async () =>
      heardIn(
        await teamOf({
          main: (words, _, at) =>
            words.includes("member: ann") ? reply(tell("ann", "Once more.", `again-${at}`)) : reply("Fine."),
        }),
      ),
  },
};

/** What a session hears of an agent that makes these calls, where there is no team. */
export async function toldByAgent(calls: readonly Call[]): Promise<string[]> {
  const clock = instantClock();
  const order = { description: "look", prompt: "Look.", subagent_type: "worker" };
  const answerOf = ({ system, messages }: ModelRequest): Reply => {
    const isFirst = messages.every(({ role }) => role === "user");
    if (system.join().includes("You are a worker")) return isFirst ? reply(...calls) : reply("Looked.");
    return isFirst ? reply(toolUse("Agent", order, "new")) : reply("Fine.");
  };
  const family = await openFamily({ model: scriptedModel(answerOf, { clock, law: "none" }), clock });
  await family.say("Go.");
  await family.settle();
  return inputsIn(family.own("input.accepted")).filter((words) => words.includes("Push to main."));
}

type Logs = ReadonlyMap<string, { readonly events: readonly Durable[]; readonly state: SessionState }>;
/** What somebody says: to what is new, with all that it was told, and how often it has been asked before. */
type Line = (words: string, told: string, at: number) => Reply;

/** The logs of all when everybody rests. cleo plans first, and nobody has said yes to it. */
async function teamOf(script: Readonly<Record<string, Line>>): Promise<Logs> {
  const counts = new Map<string, number>();
  const answerOf = ({ messages }: ModelRequest): Reply => {
    const who = nameIn(textOf(messages[0]?.content ?? []));
    const at = counts.get(who) ?? 0;
    counts.set(who, at + 1);
    if (who === "main" && at === 0) return reply(create);
    if (who === "main" && at === 1)
      return reply(member("ann"), member("ben"), member("cleo", { mode: "plan" }));
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    const newest = messages.slice(last + 1).flatMap(({ content }) => content);
    const told = messages.map(({ content }) => textOf(content)).join("\n");
    return script[who]?.(textOf(newest), told, at) ?? reply(`${who} rests.`);
  };
  const clock = instantClock();
  const store = memoryStore();
  const family = await openFamily({
    model: scriptedModel(answerOf, { clock, law: "none" }),
    store,
    clock,
    settings: { permissionMode: "bypassPermissions" },
  });
  await family.say("Go.");
  await family.settle();
  const ids = [rootId, ...(await store.list({ parent: rootId })).map(({ id }) => id)];
  return new Map(
    ids.map((id) => {
      const events = store.events(id);
      return [nameIn(inputsIn(events)[0] ?? ""), { events, state: events.reduce(fold, emptyState) }];
    }),
  );
}

const nameIn = (words: string): string => /You are (\w+), a member/.exec(words)?.[1] ?? "main";
const inputsIn = (events: readonly DurableEvent[]): string[] =>
  events.flatMap((event) => (event.type === "input.accepted" ? [textOf(event.input.content)] : []));
