// What the golden screens show: recorded sessions as they ended and as they stood on the way, every display, and forms.
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Ask } from "../../keel/src/protocol/ask.ts";
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import { displaySamples, formAsk } from "../../web/src/gallery/samples.ts";
import type { GoldenScene } from "./fed.ts";
import { panelScenes } from "./panel-scenes.ts";

const gallery = path.resolve(import.meta.dirname, "../../web/src/gallery/recorded");
export const recordedEvents = (name: string): readonly Envelope[] =>
  JSON.parse(readFileSync(path.join(gallery, `${name}.json`), "utf8"));

/** Up to the first event for which it holds, with that one. */
function upTo(events: readonly Envelope[], isLast: (event: Envelope) => boolean): readonly Envelope[] {
  const at = events.findIndex(isLast);
  if (at < 0) throw new Error("the recording has no such event");
  return events.slice(0, at + 1);
}

const login = recordedEvents("login");
/** Where an event of its kind stands for the nth time. */
function nth(type: Envelope["type"], count: number): (event: Envelope) => boolean {
  let seen = 0;
  return (event) => event.type === type && ++seen === count;
}

const down = "\u001b[B";
const right = "\u001b[C";

/** A recording with other questions in place of its own. */
const asking = (name: string, ask: Ask): readonly Envelope[] =>
  recordedEvents(name).map((event) =>
    event.type === "ask.opened" ? { ...event, ask: { ...ask, callId: event.ask.callId } } : event,
  );

/** One turn, in which a tool shows each of the displays. */
function displayed(): readonly Envelope[] {
  const edit = recordedEvents("edit");
  const finished = edit.findIndex(({ type }) => type === "tool.finished");
  const model = edit.find(({ type }) => type === "model.finished");
  const called = edit[finished];
  const started = edit.find(({ type }) => type === "tool.started");
  if (
    called?.type !== "tool.finished" ||
    started?.type !== "tool.started" ||
    model?.type !== "model.finished"
  )
    throw new Error("the recording has no call");
  const names = Object.keys(displaySamples);
  const before = edit.slice(0, edit.indexOf(model));
  const calls = names.map((name) => ({
    type: "tool_use" as const,
    id: `call-${name}`,
    name: "Show",
    input: { what: name },
  }));
  let { seq } = model;
  return [
    ...before.filter((event) => "seq" in event),
    { ...model, seq, content: calls },
    ...names.flatMap((name): Envelope[] => [
      { ...started, seq: ++seq, callId: `call-${name}`, tool: "Show" },
      {
        ...called,
        seq: ++seq,
        callId: `call-${name}`,
        tool: "Show",
        content: [],
        display: displaySamples[name] ?? called.display,
        failed: name === "terminal",
      },
    ]),
  ];
}

export const goldenScenes: readonly GoldenScene[] = [
  {
    name: "nothing yet",
    events: upTo(login, nth("session.opened", 1)),
    keys: [
      { say: "commands", type: "/" },
      { say: "nothing again", type: "\u0015" },
      { say: "keys", type: "?" },
    ],
  },
  { name: "thinking", events: upTo(login, nth("thinking.delta", 6)) },
  { name: "a reply that is written", events: upTo(login, nth("text.delta", 5)) },
  { name: "a call that runs", events: upTo(login, nth("tool.progress", 1)) },
  {
    name: "an agent at work",
    events: upTo(login, ({ type, origin }) => type === "tool.started" && origin !== undefined),
  },
  {
    name: "a whole turn, and a question about a command",
    events: login,
    keys: [
      { say: "the next answer", type: right },
      { say: "words with a no", type: "n" },
    ],
  },
  {
    name: "a change to be allowed",
    events: recordedEvents("edit"),
    keys: [{ say: "the next answer", type: right }],
  },
  { name: "a plan", events: recordedEvents("plan") },
  {
    name: "questions",
    events: recordedEvents("question"),
    keys: [
      { say: "another answer", type: down },
      { say: "the next question", type: "\r" },
    ],
  },
  {
    name: "a form",
    events: asking("question", formAsk),
    keys: [
      { say: "its first field", type: "\r" },
      { say: "a field of a kind of its own", type: "login\r" },
      { say: "what does not fit", type: "nobody\r" },
      { say: "a choice", type: "\u0015\r" },
      { say: "several of them", type: "2" },
    ],
  },
  { name: "pictures", events: recordedEvents("image") },
  { name: "a conversation that was shortened", events: recordedEvents("shortened") },
  { name: "a failure", events: recordedEvents("failed") },
  { name: "displays", events: displayed() },
  ...panelScenes(recordedEvents("shortened")),
];
