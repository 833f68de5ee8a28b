// What an editor does with the ACP adapter: a whole session with its permissions, modes, models, cancelling, loading.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { check, executable, openPeer, project, same, until } from "./kit.mjs";

const adapter = "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js";
const asked = [];
let answer = "allow";

function openAdapter() {
  return openPeer(process.execPath, [adapter], {
    env: { ...process.env, ...(executable ? { CLAUDE_CODE_EXECUTABLE: executable } : {}) },
    onRequest(method, params) {
      asked.push({ method, params });
      if (method === "elicitation/create") return { action: "accept", content: answerForm(params) };
      const wanted = params.options.find(({ kind }) => kind.startsWith(answer)) ?? params.options[0];
      return { outcome: { outcome: "selected", optionId: wanted.optionId } };
    },
  });
}

/** The first choice of every field of a form. */
function answerForm({ requestedSchema }) {
  return Object.fromEntries(
    Object.entries(requestedSchema.properties)
      .filter(([name]) => requestedSchema.required?.includes(name) ?? true)
      .map(([name, { oneOf, enum: values, items }]) => {
        const [first] = oneOf?.map((one) => one.const) ?? values ?? ["something else"];
        return [name, items ? [items.anyOf?.[0]?.const ?? items.enum?.[0]] : first];
      }),
  );
}

let peer = openAdapter();
let sessionId = "";
const updates = () => peer.notifications.map(({ params }) => params.update).filter(Boolean);
const prompt = (text, more = []) => {
  peer.notifications.length = 0;
  asked.length = 0;
  return peer.request("session/prompt", { sessionId, prompt: [{ type: "text", text }, ...more] });
};
const said = () =>
  updates()
    .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
    .map(({ content }) => content.text)
    .join("");
/** All that was told of a call, joined in its order. */
const call = () =>
  Object.assign({}, ...updates().filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call")));
const file = (name) => path.join(project, name);
const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, elicitation: { form: {} } };

// --- opening
const initialized = await check(
  "initialize answers",
  peer.request("initialize", { protocolVersion: 1, clientCapabilities }),
);
same(
  "it can load sessions and take images",
  [initialized?.agentCapabilities?.loadSession, initialized?.agentCapabilities?.promptCapabilities?.image],
  [true, true],
);
const mcpServers = [
  { name: "loud", command: process.execPath, args: [path.resolve("scripts/mcp-server.mjs")], env: [] },
];
const opened = await check("a session is opened", peer.request("session/new", { cwd: project, mcpServers }));
sessionId = opened?.sessionId;
const option = (id) => opened?.configOptions?.find((one) => one.id === id);
same("it begins in the mode default", opened?.modes?.currentModeId, "default");
await check("modes can be chosen", () =>
  ["default", "acceptEdits", "plan", "bypassPermissions"].every((mode) =>
    opened.modes.availableModes.some(({ id }) => id === mode),
  ),
);
await check("models can be chosen, default among them", () =>
  option("model").options.some(({ value }) => value === "default"),
);
await check("a default, opus, sonnet and haiku are what is offered first", () =>
  ["opus", "sonnet", "haiku"].every((alias) =>
    option("model").options.some(({ value }) => value.includes(alias)),
  ),
);
await check("effort can be chosen", () => option("effort").options.some(({ value }) => value === "high"));
await check("commands are told", () =>
  until(() => updates().some((update) => update.availableCommands?.some(({ name }) => name === "compact"))),
);

// --- words
const first = await check("a prompt is answered", prompt("say: hello there"));
same("the words come", said(), "hello there");
same("the turn ends by itself", first?.stopReason, "end_turn");
same("its usage is told", first?.usage?.outputTokens, 20);
await check("the use of the context is told", () =>
  until(() => updates().some(({ used, size }) => used > 0 && size >= 100_000)),
);
await check("the session gets a title", () =>
  until(() => updates().some(({ title, sessionUpdate }) => sessionUpdate === "session_info_update" && title)),
);

// --- permissions
await prompt(`call: Bash {"command":"touch made.txt","description":"make a file"}`);
same(
  "a command is asked about",
  asked.map(({ method }) => method),
  ["session/request_permission"],
);
same(
  "with its title, kind and id",
  [asked[0]?.params.toolCall.title, asked[0]?.params.toolCall.kind, asked[0]?.params.toolCall.toolCallId],
  ["touch made.txt", "execute", call().toolCallId],
);
await check("allowed, it runs", () => existsSync(file("made.txt")));
same("its end is told", call().status, "completed");
answer = "reject";
const rejected = await prompt(`call: Bash {"command":"touch other.txt"}`);
await check("refused, it does not", () => asked.length === 1 && !existsSync(file("other.txt")));
same("its failure is told", call().status, "failed");
await check("the turn ends after a refusal", () => ["end_turn", "cancelled"].includes(rejected.stopReason));
answer = "allow_always";
const kinds = () => asked[0]?.params.options.map(({ kind }) => kind);
await prompt(`call: Write {"file_path":"${file("kept.txt")}","content":"one\\n"}`);
await check("always is among the answers for a write", () => kinds().includes("allow_always"));
await prompt(`call: Write {"file_path":"${file("kept-too.txt")}","content":"two\\n"}`);
await check("and holds for the next one", () => asked.length === 0 && existsSync(file("kept-too.txt")));
answer = "allow";

// --- files
writeFileSync(file("notes.txt"), "alpha\nbeta\n");
await prompt(`call: Read {"file_path":"${file("notes.txt")}"}`);
same("a file is read unasked", [asked.length, call().status, call().kind], [0, "completed", "read"]);
await prompt(
  `call: Read {"file_path":"${file("notes.txt")}"}\ncall: Edit {"file_path":"${file("notes.txt")}","old_string":"beta","new_string":"gamma"}`,
);
same("an edit is made", readFileSync(file("notes.txt"), "utf8"), "alpha\ngamma\n");
await check("and shown as a difference", () =>
  updates().some(
    ({ content }) =>
      Array.isArray(content) &&
      content.some(
        ({ type, oldText, newText }) =>
          type === "diff" && oldText.includes("beta") && newText.includes("gamma"),
      ),
  ),
);

// --- modes, models
peer.notifications.length = 0;
await check(
  "a mode is set",
  peer.request("session/set_mode", { sessionId, modeId: "plan" }).then(() => true),
);
await prompt(`call: Write {"file_path":"${file("planned.txt")}","content":"x"}`);
await check(
  "in plan mode nothing is written without a question",
  () => asked.length > 0 || !existsSync(file("planned.txt")),
);
await check("a plan is put to the person, who may choose how to go on", async () => {
  await prompt(`call: ExitPlanMode {"plan":"1. Write the file"}`);
  return asked[0].params.options.some(({ optionId }) => /accept|default|auto/i.test(optionId));
});
await peer.request("session/set_mode", { sessionId, modeId: "default" });
const haiku = option("model")?.options.find(({ value }) => value.includes("haiku"))?.value;
await check(
  "a model is set",
  peer
    .request("session/set_config_option", { sessionId, configId: "model", value: haiku })
    .then(({ configOptions }) => configOptions.find(({ id }) => id === "model").currentValue === haiku),
);
await check("and is the one that answers", async () => {
  const { _meta } = await prompt("say: as another");
  return _meta.quota.model_usage.some(({ model }) => model.includes("haiku"));
});
await peer.request("session/set_config_option", { sessionId, configId: "model", value: "default" });

// --- servers, questions, agents, commands
await prompt('call: mcp__loud__shout {"word":"hey"}');
await check(
  "a tool of the client's server is asked about and runs",
  () => asked.length === 1 && said().includes("HEY!"),
);
await prompt(
  'call: AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}',
);
await check(
  "a question becomes a form, and its answer reaches the model",
  () => asked.some(({ method }) => method === "elicitation/create") && said().includes("Red"),
);
await prompt(
  'call: Agent {"description":"look","prompt":"say: the agent looked","subagent_type":"general-purpose","run_in_background":false}',
);
await check("an agent reports", () => said().includes("the agent looked"));
await prompt(
  'call: ToolSearch {"query":"select:TaskCreate"}\ncall: TaskCreate {"subject":"First step","description":"do it"}',
);
await check("a task list is told as a plan", () =>
  until(() =>
    updates().some(
      ({ sessionUpdate, entries }) =>
        sessionUpdate === "plan" && entries.some(({ content }) => content.includes("First step")),
    ),
  ),
);
await check(
  "a command of its own is answered",
  async () => (await prompt("/context")).stopReason === "end_turn" && said().length > 20,
);
const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
await check(
  "an image is taken",
  async () =>
    (await prompt("say: seen", [{ type: "image", mimeType: "image/png", data: pixel }])).stopReason ===
      "end_turn" && said() === "seen",
);

// --- cancelling, failing
const slow = prompt("wait: 2000");
await until(() => said() !== "");
peer.notify("session/cancel", { sessionId });
same("a turn is cancelled", (await slow.catch((error) => error)).stopReason, "cancelled");
await prompt("say: still here");
same("and the session goes on", said(), "still here");
await check("a refused request is an error of the prompt", () =>
  prompt("fail: 400").then(
    () => false,
    ({ code, message }) => code === -32603 && message.includes("scripted error 400"),
  ),
);
await prompt("say: still here again");

// --- sessions
const { sessions = [] } =
  (await check("sessions are listed", peer.request("session/list", { cwd: project }))) ?? {};
await check("this one among them", () =>
  sessions.some((session) => session.sessionId === sessionId && session.title),
);
same("the adapter ends well", await peer.close(), 0);
peer = openAdapter();
await peer.request("initialize", { protocolVersion: 1, clientCapabilities });
await check(
  "a session is loaded by another process",
  peer.request("session/load", { sessionId, cwd: project, mcpServers: [] }),
);
const replayed = updates();
await check(
  "and its words are replayed",
  () =>
    ["user_message_chunk", "agent_message_chunk"].every((kind) =>
      replayed.some(({ sessionUpdate }) => sessionUpdate === kind),
    ) && said().includes("hello there"),
);
await check("with its calls", () =>
  replayed.some(
    ({ sessionUpdate, rawInput, title }) =>
      sessionUpdate === "tool_call" &&
      (title?.includes("touch made.txt") || rawInput?.command === "touch made.txt"),
  ),
);
await prompt("say: loaded");
same("it goes on", said(), "loaded");
const unknown = { sessionId: "00000000-0000-4000-8000-000000000000", cwd: project, mcpServers: [] };
const missing = await peer.request("session/load", unknown).catch((error) => error);
same("an unknown session is a resource that was not found", missing.code, -32002);
const fork = await check(
  "a session is forked",
  peer.request("session/fork", { sessionId, cwd: project, mcpServers: [] }),
);
await check("under an id of its own", () => fork.sessionId !== sessionId);
await check(
  "a session is deleted",
  peer.request("session/delete", { sessionId: fork?.sessionId }).then(() => true),
);
same("the adapter ends well again", await peer.close(), 0);
