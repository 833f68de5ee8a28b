// Much at once for a small screen: ten agents at work, and long things to be asked about.
import type { Ask } from "../../keel/src/protocol/ask.ts";
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import type { GoldenScene } from "./fed.ts";

/** The agent's whole life so far, told so many times under other names. */
export function withAgents(login: readonly Envelope[], count: number): readonly Envelope[] {
  const begin = login.findIndex(({ type }) => type === "task.changed");
  const end = login.findIndex(({ type, origin }) => type === "tool.finished" && origin !== undefined);
  const own = login.slice(begin, end + 1).filter(({ type, origin }) => type === "task.changed" || origin);
  const copies = Array.from({ length: count }, (_, copy): Envelope[] =>
    JSON.parse(
      JSON.stringify(own)
        .replaceAll(/"agentId":"([^"]*)"/g, `"agentId":"$1-${copy}"`)
        .replaceAll(/"taskId":"([^"]*)"/g, `"taskId":"$1-${copy}"`),
    ),
  );
  return [...login.slice(0, begin), ...copies.flat()];
}

export const options = [
  { id: "yes", label: "Allow once", verdict: "allow" as const },
  { id: "rule", label: "Allow ./src/** here", verdict: "allow" as const, rule: "Edit(./src/**)" },
  { id: "no", label: "Say no", verdict: "deny" as const, takesWords: true },
];
export const changeAsk: Ask = {
  id: "diff",
  kind: "permission",
  title: "Change a file?",
  tool: "Edit",
  body: {
    kind: "diff",
    path: "src/login.ts",
    hunks: [
      {
        oldStart: 1,
        oldLines: 150,
        newStart: 1,
        newLines: 150,
        lines: Array.from({ length: 300 }, (_, line) => `${line % 2 === 0 ? "-" : "+"}line ${line}`),
      },
    ],
  },
  options,
};
export const wordsAsk: Ask = {
  id: "words",
  kind: "permission",
  title: "Go on?",
  body: { kind: "text", text: Array.from({ length: 40 }, (_, line) => `line ${line} of it`).join("\n") },
  options,
};

export const longQuestion: readonly string[] = Array.from(
  { length: 40 },
  (_, line) => `line ${line + 1} of what is asked`,
);

const question = {
  question: longQuestion.join("\n"),
  header: "Database",
  multiSelect: false,
  options: [
    { label: "SQLite", description: "one file, no server" },
    { label: "PostgreSQL", description: "many machines" },
    { label: "Files", description: "one for each session" },
    { label: "None", description: "keep them in memory" },
  ],
};

export const questionAsk: Ask = {
  id: "question",
  kind: "question",
  title: "A question",
  tool: "AskUserQuestion",
  body: { kind: "text", text: question.question },
  options: [],
  input: { questions: [question] },
};

const down = "\u001b[B";
const pageDown = "\u001b[6~";

/** For a screen of 24 rows. */
export const crowdScenes = (login: readonly Envelope[]): readonly GoldenScene[] => {
  const asking = (ask: Ask): readonly Envelope[] => {
    const events = withAgents(login, 10);
    const last = events.at(-1);
    return [
      ...events,
      { type: "ask.opened", ask, seq: 900, at: last?.at ?? 0, session: last?.session ?? "s" } as Envelope,
    ];
  };
  return [
    { name: "ten agents", events: withAgents(login, 10) },
    {
      name: "ten agents and a question of forty lines",
      events: asking(questionAsk),
      keys: [
        { say: "the next page of it", type: pageDown },
        { say: "the third answer", type: down + down },
        { say: "own words", type: `${down}${down}\r` },
      ],
    },
    {
      name: "ten agents and a change of three hundred lines",
      events: asking(changeAsk),
      keys: [{ say: "the next page of it", type: pageDown }],
    },
  ];
};
