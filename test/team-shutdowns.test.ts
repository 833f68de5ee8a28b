// The end of a team on fakes: whatever a member is at, nobody is there two seconds after the limit; and only the member's
// own tool says that it agrees.
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { schemaOf } from "../keel/src/kernel/schema.ts";
import type { Clock } from "../keel/src/ports/clock.ts";
import { defineTool } from "../keel/src/ports/define-tool.ts";
import type { ModelRequest } from "../keel/src/ports/model.ts";
import type { Tool } from "../keel/src/ports/tool.ts";
import { textOf } from "../keel/src/protocol/message.ts";
import { instantClock } from "../keel/src/testing/fake-clock.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { openFamily, worker } from "./agents/family.ts";
import { verifies } from "./support/verifies.ts";

const hour = 3_600_000;
const never = new AbortController().signal;

/** It takes so long, and hears no signal. */
const deafTool = (clock: Clock, name: string, ms: number): Tool =>
  defineTool({
    name,
    description: "Takes long.",
    input: schemaOf(z.object({})),
    traits: { readOnly: true, concurrent: true },
    claims: async () => [],
    run: async function* () {
      await clock.sleep(ms, never);
      return { content: [], display: { kind: "text", text: "" } };
    },
  }) as Tool;

const deaf = (id: string) => toolUse("Deaf", {}, id);
const agent = (name: string, more = {}) =>
  toolUse(
    "Agent",
    { description: name, prompt: `Work, ${name}.`, subagent_type: "worker", name, ...more },
    `new-${name}`,
  );
const says = (approve: boolean, id: string) =>
  toolUse("ShutdownReply", { approve, ...(approve ? {} : { reason: "Busy." }) }, id);
const isAsked = (words: string): boolean => words.includes("keel-shutdown-request");

type Member = {
  /** What it says, to what is new, the so-many-th time. */
  readonly says: (words: string, at: number) => Reply;
  /** Of an agent of its own. */
  readonly helper?: (at: number) => Reply;
  /** Its model is silent from the second time on. */
  readonly isSilent?: boolean;
  readonly shutdown?: object;
};

/** A leader asks ann to shut down within five seconds while she is at something. */
async function shutDown(member: Member) {
  const clock = instantClock();
  const counts = new Map<string, number>();
  const answerOf = ({ messages }: ModelRequest): Reply => {
    const first = textOf(messages[0]?.content ?? []);
    const who =
      /You are (\w+), a member/.exec(first)?.[1] ?? (first.includes("Work, helper.") ? "helper" : "main");
    const at = counts.get(who) ?? 0;
    counts.set(who, at + 1);
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    const words = textOf(messages.slice(last + 1).flatMap(({ content }) => content));
    if (who === "helper") return member.helper?.(at) ?? reply("Helped.");
    if (who === "ann") return member.says(words, at);
    if (at === 0) return reply(toolUse("TeamCreate", { team_name: "crew" }, "create"));
    if (at === 1) return reply(agent("ann"));
    if (at === 2) return reply(toolUse("TeamShutdown", { timeout: 5, ...member.shutdown }, "shut"));
    return reply("Heard.");
  };
  const scripted = scriptedModel(answerOf, { clock, law: "none" });
  const family = await openFamily({
    clock,
    model: {
      ...scripted,
      async *stream(request, signal) {
        const isAnn = textOf(request.messages[0]?.content ?? []).includes("You are ann");
        if (member.isSilent && isAnn) await clock.sleep(hour, never);
        yield* scripted.stream(request, signal);
      },
    },
    definitions: [worker],
    tools: [deafTool(clock, "Deaf", hour), deafTool(clock, "Slow", 1_000)],
    answer: () => undefined,
  });
  await family.say("Go.");
  await family.settle();
  const [call] = family.own("tool.started").filter(({ callId }) => callId === "shut");
  const said = family
    .own("tool.finished")
    .flatMap(({ callId, content }) => (callId === "shut" ? [textOf(content)] : []));
  return { family, said: said.join("\n"), limit: (call?.at ?? 0) + 5_000 };
}

const slow = (at: number) => reply(toolUse("Slow", {}, `slow-${at}`));

describe("at the limit", () => {
  const members: Readonly<Record<string, Member>> = {
    "a call that hears nothing": { says: (_, at) => reply(deaf(`deaf-${at}`)) },
    "a model that says nothing": { says: () => reply("Late."), isSilent: true },
    "a question that nobody answers": {
      says: (_, at) => reply(toolUse("Write", { file_path: "/project/a.txt", content: "x" }, `w-${at}`)),
    },
    "an agent of its own whose call hears nothing": {
      says: () => reply(agent("helper", { run_in_background: false })),
      helper: (at) => reply(deaf(`below-${at}`)),
    },
    "an agent of its own in the background": {
      says: (_, at) => (at === 0 ? reply(agent("helper", { run_in_background: true })) : slow(at)),
      helper: (at) => reply(deaf(`below-${at}`)),
    },
    "work that goes on and on, and no answer": { says: (_, at) => slow(at) },
    "a yes, and then a call that hears nothing": {
      says: (words, at) =>
        isAsked(words) ? reply(says(true, "yes")) : at < 2 ? slow(at) : reply(deaf(`deaf-${at}`)),
    },
    "work, and nobody asks": { says: (_, at) => slow(at), shutdown: { force: true } },
  };

  test.each(Object.entries(members))("a member is stopped: %s", async (_, member) => {
    verifies("S2.34");
    const { family, said, limit } = await shutDown(member);
    expect(said).toContain("ann: It was stopped.");
    const closed = family.below("session.closed").filter(({ origin }) => origin?.description === "ann");
    expect(closed.map(({ reason }) => reason)).toEqual(["stopped"]);
    const ends = family.events.flatMap((event) =>
      event.type === "task.changed" && event.status !== "running" ? [event] : [],
    );
    // Whoever is below is gone as well.
    expect(ends.length).toBe(member.helper ? 2 : 1);
    const late = family.below("model.started").concat(family.below("tool.started") as never);
    for (const { at } of [...closed, ...ends, ...late]) expect(at).toBeLessThanOrEqual(limit + 2_000);
    expect(family.tree.sessions()).toEqual([family.session]);
    expect(family.session.state.team?.members.get("ann")?.hasLeft).toBe(true);
  });
});

describe("what is no answer", () => {
  const words = "Shutdown approved. I approve the shutdown request: approve=true.";
  const tell = (to: string, id: string) => toolUse("SendMessage", { to, message: words }, id);
  const members: Readonly<Record<string, Member>> = {
    "a message to the leader": {
      says: (heard, at) => (isAsked(heard) ? reply(words, tell("main", "m")) : slow(at)),
    },
    "a message to everybody": { says: (heard, at) => (isAsked(heard) ? reply(tell("*", "m")) : slow(at)) },
    "the name of a task": {
      says: (heard, at) =>
        isAsked(heard) ? reply(toolUse("TaskCreate", { subject: words, description: words }, "t")) : slow(at),
    },
    "words beside a call": {
      says: (heard, at) => (isAsked(heard) ? reply(words, toolUse("Slow", {}, "beside")) : slow(at)),
    },
    "a yes before the question": {
      says: (heard, at) => (at === 0 ? reply(says(true, "early")) : isAsked(heard) ? slow(at) : slow(at)),
    },
    "the report of an agent of its own": {
      says: (heard, at) => (isAsked(heard) ? reply(agent("helper", { run_in_background: false })) : slow(at)),
      helper: () => reply(words),
    },
  };

  test.each(Object.entries(members))("%s: the member works on until the limit", async (_, member) => {
    verifies("S2.34");
    const { family, said, limit } = await shutDown(member);
    expect(said).toContain("ann: It was stopped.");
    const last = family.below("model.started").filter(({ origin }) => origin?.description === "ann");
    expect(last.at(-1)?.at).toBeGreaterThan(limit - 2_500);
  });

  test("an objection with a yes in its words is an objection", async () => {
    verifies("S2.34");
    const { said, family } = await shutDown({
      says: (heard, at) =>
        isAsked(heard)
          ? reply(words, toolUse("ShutdownReply", { approve: false, reason: words }, "no"))
          : at < 6
            ? slow(at)
            : reply(words),
    });
    expect(said).toBe(`ann: objects: ${words}`);
    expect(family.session.state.team?.members.get("ann")?.hasLeft).toBe(false);
  });

  test("what a member says of it to nobody who asked ends nothing: it can be told more", async () => {
    const { family } = await shutDown({ says: () => reply(words), shutdown: { members: ["nobody"] } });
    const member = family.session.state.team?.members.get("ann");
    expect(member?.hasLeft).toBe(false);
    const notices = family.own("input.accepted").filter(({ input }) => input.from.kind === "task");
    expect(notices).toHaveLength(1);
  });
});
