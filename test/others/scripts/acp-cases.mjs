// What every agent of the protocol is asked for, from meeting it to going on after a cancel: each case says what it was
// answered, and the answers are compared with those of whatever else stands behind the adapter.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { answered, executable, openPeer, pause, project, until } from "./kit.mjs";

const adapter = "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js";
const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false } };
const file = (name) => path.join(project, name);
const place = { cwd: project, mcpServers: [] };
const nobody = "00000000-0000-4000-8000-000000000000";

/** The kind of option that is chosen; nobody answers where it is `never`. */
let choice = "allow_once";
let asked = [];

function openAdapter() {
  return openPeer(process.execPath, [adapter], {
    env: { ...process.env, ...(executable ? { CLAUDE_CODE_EXECUTABLE: executable } : {}) },
    async onRequest(_method, params) {
      asked.push(params);
      if (choice === "never") return new Promise(() => undefined);
      if (choice === "cancelled") return { outcome: { outcome: "cancelled" } };
      const { optionId } = params.options.find(({ kind }) => kind === choice) ?? {};
      return { outcome: { outcome: "selected", optionId } };
    },
  });
}

let peer = openAdapter();
const codeOf = (promise) =>
  promise.then(
    () => "answered",
    ({ code }) => code,
  );
const updatesOf = (sessionId) =>
  peer.notifications
    .filter(({ params }) => params?.sessionId === sessionId)
    .map(({ params }) => params.update);
const said = (sessionId) =>
  updatesOf(sessionId)
    .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
    .map(({ content }) => content.text)
    .join("");
/** Of each call what was told last of it, and the ends that it came to. */
function callsOf(sessionId) {
  const calls = new Map();
  for (const { sessionUpdate, toolCallId, ...told } of updatesOf(sessionId)) {
    if (!sessionUpdate.startsWith("tool_call")) continue;
    const before = calls.get(toolCallId) ?? {};
    calls.set(
      toolCallId,
      Object.assign(
        {},
        before,
        ...Object.entries(told).map(([name, value]) => (value == null ? {} : { [name]: value })),
      ),
    );
  }
  return [...calls.values()].map(({ kind, status, title }) => [kind, status, title?.replaceAll(project, "")]);
}
async function prompt(sessionId, text) {
  peer.notifications.length = 0;
  asked = [];
  const outcome = await peer
    .request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })
    .catch(({ code }) => ({ code }));
  return outcome.stopReason ?? outcome;
}
const open = async () => (await peer.request("session/new", place)).sessionId;

// --- meeting
await answered("initialize", async () => {
  const { protocolVersion, agentInfo, agentCapabilities } = await peer.request("initialize", {
    protocolVersion: 1,
    clientCapabilities,
  });
  return { protocolVersion, name: agentInfo?.name, agentCapabilities };
});
await answered("an unknown method", () => codeOf(peer.request("no/such", {})));
await answered("a version that nobody speaks", async () => {
  const other = openAdapter();
  const { protocolVersion } = await other.request("initialize", {
    protocolVersion: 65_535,
    clientCapabilities,
  });
  return [protocolVersion, await other.close()];
});

// --- sessions
let first = "";
let options = [];
await answered("a new session", async () => {
  const { sessionId, modes, configOptions } = await peer.request("session/new", place);
  first = sessionId;
  options = configOptions;
  const everywhere = ["mode", "model", "effort"];
  return {
    id: typeof sessionId,
    mode: modes.currentModeId,
    modes: modes.availableModes.map(({ id }) => id).sort(),
    options: configOptions.filter(({ id }) => everywhere.includes(id)).map(({ id, type }) => [id, type]),
  };
});
await answered("all that can be chosen in it", () => options.map(({ id }) => id));
let second = "";
await answered("another one has another id", async () => {
  second = await open();
  return second !== first;
});
await answered("a prompt of a session that is none", () => prompt(nobody, "say: hello"));

// --- words
await answered("a prompt", async () => [await prompt(first, "say: hello there"), said(first)]);
await answered("a prompt of the other session", async () => [
  await prompt(second, "say: hello you"),
  said(second),
  said(first),
]);
await answered("two prompts, one after the other, are two turns", async () => [
  await prompt(first, "say: one"),
  said(first),
  await prompt(first, "say: two"),
  said(first),
]);
await answered("a model that refuses", () => prompt(second, "fail: 400"));
await answered("and a prompt after that", async () => [await prompt(second, "say: again"), said(second)]);

// --- permissions
await answered("a command that is allowed", async () => [
  await prompt(first, 'call: Bash {"command":"touch yes.txt","description":"make it"}'),
  asked.map(({ toolCall: { kind, title } }) => [kind, title]),
  callsOf(first),
  existsSync(file("yes.txt")),
]);
choice = "reject_once";
await answered("a command that is refused", async () => [
  await prompt(first, 'call: Bash {"command":"touch no.txt","description":"make it"}'),
  asked.length,
  callsOf(first),
  existsSync(file("no.txt")),
]);
choice = "cancelled";
await answered("a question that is taken back", async () => [
  await prompt(first, 'call: Bash {"command":"touch back.txt","description":"make it"}'),
  asked.length,
  existsSync(file("back.txt")),
]);
choice = "allow_once";
await answered("and a prompt after that one", async () => [await prompt(first, "say: on"), said(first)]);

// --- files
writeFileSync(file("notes.txt"), "alpha\nbeta\n");
await answered("a file that is read", async () => [
  await prompt(first, `call: Read {"file_path":"${file("notes.txt")}"}`),
  asked.length,
  callsOf(first).map(([kind, status]) => [kind, status]),
]);
await answered("a file that is changed", async () => [
  await prompt(
    first,
    `call: Read {"file_path":"${file("notes.txt")}"}\ncall: Edit {"file_path":"${file("notes.txt")}","old_string":"beta","new_string":"gamma"}`,
  ),
  callsOf(first).map(([kind, status]) => [kind, status]),
  readFileSync(file("notes.txt"), "utf8"),
]);
await answered("a file that is not there", async () => [
  await prompt(first, `call: Read {"file_path":"${file("nowhere.txt")}"}`),
  callsOf(first).map(([kind, status]) => [kind, status]),
]);

// --- choices
await answered("a mode that is set", async () => {
  await peer.request("session/set_mode", { sessionId: first, modeId: "acceptEdits" });
  const stop = await prompt(first, `call: Write {"file_path":"${file("unasked.txt")}","content":"x"}`);
  await peer.request("session/set_mode", { sessionId: first, modeId: "default" });
  return [stop, asked.length, existsSync(file("unasked.txt"))];
});
await answered("a mode that is none", () =>
  codeOf(peer.request("session/set_mode", { sessionId: first, modeId: "nonsense" })),
);
await answered("an option that is none", () =>
  codeOf(peer.request("session/set_config_option", { sessionId: first, configId: "nonsense", value: "x" })),
);

// --- cancels
await answered("a cancel while it writes", async () => {
  const running = prompt(first, "wait: 2000");
  await until(() => said(first) !== "");
  peer.notify("session/cancel", { sessionId: first });
  return running;
});
await answered("a prompt after the cancel", async () => [
  await prompt(first, "say: still here"),
  said(first),
]);
await answered("a cancel while a command runs", async () => {
  const running = prompt(first, 'call: Bash {"command":"touch begun.txt; sleep 30","description":"wait"}');
  await until(() => existsSync(file("begun.txt")));
  peer.notify("session/cancel", { sessionId: first });
  return [await running, callsOf(first).map(([kind]) => kind)];
});
choice = "never";
await answered("a cancel while somebody is asked", async () => {
  const running = prompt(first, 'call: Bash {"command":"touch never.txt","description":"make it"}');
  await until(() => asked.length > 0);
  peer.notify("session/cancel", { sessionId: first });
  return [await running, existsSync(file("never.txt"))];
});
choice = "allow_once";
await answered("a cancel of what does nothing", async () => {
  peer.notify("session/cancel", { sessionId: second });
  await pause(200);
  return [await prompt(second, "say: here"), said(second)];
});

// --- coming back
await answered("the list of sessions", async () => {
  const { sessions } = await peer.request("session/list", { cwd: project });
  return [first, second].map((id) =>
    sessions.some(({ sessionId, cwd }) => sessionId === id && cwd === project),
  );
});
await answered("the end", () => peer.close());
peer = openAdapter();
await peer.request("initialize", { protocolVersion: 1, clientCapabilities });
await answered("a session that is loaded", async () => {
  await peer.request("session/load", { sessionId: second, ...place });
  const replayed = updatesOf(second).flatMap(({ sessionUpdate, content }) =>
    sessionUpdate.endsWith("_message_chunk") ? [[sessionUpdate, content.text]] : [],
  );
  return replayed.filter(([, text]) => /hello you|again|here/.test(text));
});
await answered("a prompt of what was loaded", async () => [
  await prompt(second, "say: loaded"),
  said(second),
]);
await answered("a session that is resumed tells nothing of what was", async () => {
  peer.notifications.length = 0;
  await peer.request("session/resume", { sessionId: first, ...place });
  return updatesOf(first).filter(({ sessionUpdate }) => sessionUpdate.endsWith("_message_chunk")).length;
});
await answered("a session to load that is none", () =>
  codeOf(peer.request("session/load", { sessionId: nobody, ...place })),
);
await answered("a fork", async () => {
  const { sessionId } = await peer.request("session/fork", { sessionId: second, ...place });
  return [sessionId !== second, await prompt(sessionId, "say: forked"), said(sessionId)];
});
await answered("a session that is closed", async () => {
  await peer.request("session/close", { sessionId: second });
  return codeOf(
    peer.request("session/prompt", { sessionId: second, prompt: [{ type: "text", text: "say: x" }] }),
  );
});
await answered("the end again", () => peer.close());
