import { describe, expect, test } from "vitest";
import type { Ask } from "../../../protocol/ask.ts";
import type { Command } from "../../../protocol/command.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import { refuseAsks } from "./answer-asks.ts";
import { askPerson } from "./ask-person.ts";

describe("without a person", () => {
  test("every question is refused in words, also one that an earlier process left open", async () => {
    const session = fakeSession([askOf("old")]);
    refuseAsks(session);
    session.open(askOf("new"));
    await session.settled();
    expect(session.commands).toMatchObject([
      { askId: "old", by: "no-host", answer: { verdict: "deny" } },
      { askId: "new", by: "no-host", answer: { verdict: "deny" } },
    ]);
  });
});

const chosen = (option: Ask["options"][number] | undefined) => option && { option };

describe("with a person", () => {
  test("a rule is kept where they say before the answer is given, and a no carries their words", async () => {
    const session = fakeSession([]);
    const kept: unknown[] = [];
    const allow = { id: "always", label: "Yes", verdict: "allow", rule: "Bash(ls)" } as const;
    const deny = { id: "no", label: "No", verdict: "deny" } as const;
    askPerson(session, {
      ask: async ({ id }) =>
        id === "a" ? { option: allow, keep: "local" } : { option: deny, words: "use pnpm" },
      keep: async (rule, to) => {
        kept.push([rule, to, session.commands.length]);
      },
    });
    session.open(askOf("a"));
    session.open(askOf("b"));
    await session.settled();
    expect(kept).toEqual([["Bash(ls)", "local", 0]]);
    expect(session.commands).toMatchObject([
      { askId: "a", answer: { verdict: "allow", option: "always" } },
      { askId: "b", answer: { verdict: "deny", option: "no", reason: "The user said no: use pnpm" } },
    ]);
  });

  test("questions come one after the other, and one that was settled meanwhile is not shown", async () => {
    const session = fakeSession([]);
    const shown: string[] = [];
    const first = Promise.withResolvers<void>();
    askPerson(session, {
      ask: async ({ id, options }) => {
        shown.push(id);
        if (id === "a") await first.promise;
        return chosen(options[0]);
      },
    });
    for (const id of ["a", "b", "c"]) session.open(askOf(id));
    await session.settled();
    expect(shown).toEqual(["a"]);
    // "Always" for the first one covers the second.
    session.close("b");
    first.resolve();
    await session.settled();
    expect(shown).toEqual(["a", "c"]);
    expect(session.commands.map((command) => command.type === "answer" && command.askId)).toEqual(["a", "c"]);
  });

  test("a question that is withdrawn while it is shown is not answered", async () => {
    const session = fakeSession([]);
    askPerson(session, {
      ask: (_, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
    });
    session.open(askOf("a"));
    await session.settled();
    session.close("a");
    await session.settled();
    expect(session.commands).toEqual([]);
  });

  test("questions are answered line by line; without an answer they are declined", async () => {
    const choice = {
      question: "Which?",
      header: "Choice",
      options: ["A", "B"].map((label) => ({ label, description: label })),
      multiSelect: false,
    };
    const questions = (id: string): Ask => ({
      ...askOf(id),
      kind: "question",
      schema: {},
      input: { questions: [choice] },
    });
    const session = fakeSession([questions("a"), questions("b")]);
    const lines = ["2", ""];
    askPerson(session, { ask: async () => undefined, readAnswer: async () => lines.shift() });
    await session.settled();
    expect(session.commands).toMatchObject([
      { askId: "a", by: "host", answer: { verdict: "allow", data: { answers: { "Which?": "B" } } } },
      { askId: "b", by: "host", answer: { verdict: "deny" } },
    ]);
  });

  test("a question that wants data is refused rather than guessed where no line can be read", async () => {
    const session = fakeSession([{ ...askOf("a"), kind: "elicitation", schema: {} }]);
    askPerson(session, { ask: async ({ options }) => chosen(options[0]) });
    await session.settled();
    expect(session.commands).toMatchObject([{ by: "no-host", answer: { verdict: "deny" } }]);
  });

  test("a form is filled in field by field, once the person wants to", async () => {
    const schema: Ask["schema"] = { type: "object", properties: { age: { type: "integer" } } };
    const form = { ...askOf("a"), kind: "elicitation" as const, schema };
    const lines = ["old", "30"];
    const session = fakeSession([form]);
    askPerson(session, {
      ask: async ({ options }) => chosen(options[0]),
      readAnswer: async () => lines.shift(),
    });
    await session.settled();
    expect(session.commands).toMatchObject([{ by: "host", answer: { verdict: "allow", data: { age: 30 } } }]);
    const refused = fakeSession([form]);
    askPerson(refused, { ask: async () => undefined, readAnswer: async () => "1" });
    await refused.settled();
    expect(refused.commands).toMatchObject([{ by: "host", answer: { verdict: "deny" } }]);
    const nested = { type: "object", properties: { a: { type: "object" } } };
    const impossible = fakeSession([{ ...form, schema: nested }]);
    askPerson(impossible, { ask: async ({ options }) => chosen(options[0]), readAnswer: async () => "1" });
    await impossible.settled();
    expect(impossible.commands).toMatchObject([{ by: "no-host", answer: { verdict: "deny" } }]);
  });
});

const askOf = (id: string): Ask => ({
  id,
  kind: "permission",
  title: "",
  body: { kind: "text", text: "" },
  options: [{ id: "once", label: "", verdict: "allow" }],
});

function fakeSession(asks: Ask[]) {
  const commands: Command[] = [];
  const listeners = new Set<(event: Envelope) => void>();
  const tell = (event: Envelope) => {
    for (const listener of listeners) listener(event);
  };
  const about = { seq: 1, at: 0, session: "s" };
  return {
    commands,
    openAsks: () => asks,
    onEvent(listener: (event: Envelope) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async submit(command: Command) {
      commands.push(command);
      return { type: "done" } as const;
    },
    open: (ask: Ask) => tell({ ...about, type: "ask.opened", ask }),
    close: (askId: string) =>
      tell({ ...about, type: "ask.closed", askId, answer: { verdict: "allow" }, by: "rule" }),
    settled: () => new Promise((resolve) => setImmediate(resolve)),
  };
}
