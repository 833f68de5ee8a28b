/** What the server of the gallery tells beside sessions: another engine's words, devices, and what a command means. */
import type { AgentUpdate } from "keel/client";
import type { AnswerTo, DeviceEntry, InquiryAnswer, InquiryQuestion } from "keel/protocol";

const at = Date.UTC(2026, 10, 16, 9, 40);

/** As an agent of the official SDK tells it. */
export const foreignMessages: readonly AgentUpdate[] = [
  { type: "user", uuid: "1", message: { content: "Which routes has the shop?" } },
  {
    type: "assistant",
    uuid: "2",
    message: {
      content: [
        { type: "text", text: "I look at the routes." },
        { type: "tool_use", name: "Grep", input: { pattern: "app.get" } },
      ],
    },
  },
  {
    type: "user",
    uuid: "3",
    message: { content: [{ type: "tool_result", content: "src/routes.ts:4: app.get('/prices')" }] },
  },
  {
    type: "assistant",
    uuid: "4",
    message: { content: [{ type: "text", text: "There is one: `/prices`." }] },
  },
  { type: "result", uuid: "5", total_cost_usd: 0.012 },
].map((message) => ({ kind: "message", message }));

export const choices: AnswerTo<"choices"> = {
  engines: [
    { name: "keel", fields: ["kind", "model", "mode"] },
    { name: "sdk", fields: ["model", "mode"] },
    { name: "pty", fields: ["command"] },
  ],
  agents: [
    { name: "reviewer", description: "Looks at a change and says what is wrong with it." },
    {
      name: "explore",
      description: "Read-only. Searches the code base and answers where something is or how it works.",
    },
  ],
  models: [
    { id: "claude-opus-5-5", name: "Claude Opus 5.5" },
    { id: "claude-sonnet-5-5", name: "Claude Sonnet 5.5" },
  ],
};

export const memory: AnswerTo<"memory">["found"] = [
  {
    id: 812,
    session: "login",
    cwd: "/home/ada/shop",
    at: at - 3_600_000,
    by: "person",
    text: "Which port does the staging gateway listen on?\n\nIt is 4100, behind the proxy; TLS ends there.",
  },
  {
    id: 640,
    session: "login",
    cwd: "/home/ada/shop",
    at: at - 2 * 86_400_000,
    by: "Bash",
    text: "gateway.conf: listen 4100;\ngateway.conf: keepalive_timeout 65;",
  },
  {
    id: 77,
    session: "empty",
    cwd: "/home/ada/blog",
    at: at - 12 * 86_400_000,
    by: "agent",
    text: "The drafts are written to a folder of their own, and one that was published is never changed again.",
  },
];

export const devices: readonly DeviceEntry[] = [
  { id: "own", name: "this machine", access: "work", createdAt: at, connected: 2 },
  { id: "phone", name: "a phone", access: "answer", createdAt: at - 86_400_000, connected: 1 },
  { id: "tablet", name: "a tablet", access: "watch", createdAt: at - 9 * 86_400_000, connected: 0 },
];

/** What the policy makes of the command that the login asks for; of others nothing was recorded. */
export const explain = ({ input }: InquiryQuestion<"explain">): InquiryAnswer<"explain"> =>
  JSON.stringify(input).includes("npm publish") ? published : { ...published, commands: [] };

const published: InquiryAnswer<"explain"> = {
  verdict: "ask",
  because: "",
  programs: ["npm"],
  wrapped: [],
  flags: { readOnly: false, writesOutsideCwd: false, network: true, destructive: false },
  commands: [
    {
      words: [
        { text: "npm", role: "program" },
        { text: "publish", role: "word" },
        { text: "--tag", role: "option" },
        { text: "next", role: "word" },
        { text: "--dry-run", role: "option" },
      ],
      readOnly: false,
      because: "npm: the option --tag is not known to be harmless",
      network: true,
      destructive: false,
      writesOutside: false,
      runs: [],
      hides: false,
      pipedFrom: [],
    },
  ],
};

const groupOf = (id: string, given: Partial<AnswerTo<"groups">["groups"][number]>) => ({
  id,
  name: id,
  channel: "local" as const,
  chat: id,
  trigger: "@keel",
  always: false,
  main: false,
  box: "sandbox" as const,
  folder: `/home/ada/agents/${id}`,
  session: "login",
  createdAt: at,
  state: "resting" as const,
  waiting: 0,
  open: 0,
  tries: 0,
  unsent: 0,
  lastAt: at - 3_600_000,
  refusedMounts: [],
  ...given,
});

export const groups: AnswerTo<"groups">["groups"] = [
  groupOf("own", { name: "Ada herself", main: true, lastAt: at - 86_400_000 }),
  groupOf("lunch", { name: "Lunch & more", state: "working", open: 1, waiting: 2, lastAt: at - 20_000 }),
  groupOf("club", {
    name: "The chess club of the whole northern district, autumn season",
    channel: "telegram",
    chat: "-100123/7",
    trigger: "@marcus",
    box: "container",
    state: "queued",
    open: 1,
    tries: 2,
    unsent: 3,
    refusedMounts: ["/srv/handbook: no folder of `groups.mounts` in your settings has it"],
  }),
  groupOf("family", {
    name: "Family",
    channel: "whatsapp",
    chat: "4915111",
    always: true,
    lastAt: undefined,
  }),
];

export const groupLines: AnswerTo<"groupLog">["lines"] = [
  { at: at - 400_000, from: "Ana", text: "is anybody hungry?", isSent: true },
  { at: at - 390_000, from: "Bo", text: "[Photo] the menu of today", isSent: true },
  { at: at - 380_000, from: "Bo", text: "@keel when do we go?", isSent: true },
  {
    at: at - 370_000,
    text: "At noon: Ana has a meeting until 11:45, and the soup is gone by one.",
    isSent: true,
  },
  { at: at - 30_000, from: "Ana", text: "@keel book a table for four, please", isSent: true },
  { at: at - 20_000, text: "In a moment: I am asking at the Olive.", isSent: false },
];
