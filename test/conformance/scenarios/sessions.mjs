import fs from "node:fs";
import path from "node:path";

export default function scenarios({ allow, reply, toolUse }) {
  const SESSION = "77777777-7777-4777-8777-777777777777";
  const NO_SESSION = "99999999-9999-4999-8999-999999999999";

  async function firstQuery(kit, prompt = "remember-this", extra = {}) {
    await kit.consume(kit.query(prompt, { sessionId: SESSION, ...extra }));
  }

  // A candidate keeps its transcripts under its own folder: both places are looked at.
  const SESSION_FILE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/;
  const roots = (kit) => [path.join(kit.home, ".keel"), path.join(kit.home, ".claude", "projects")];

  function transcripts(kit) {
    return roots(kit)
      .filter((root) => fs.existsSync(root))
      .flatMap((root) => fs.readdirSync(root, { recursive: true }))
      .filter((name) => SESSION_FILE.test(path.basename(name)));
  }

  return {
    "session-id": {
      about: "the option sessionId names the session and its transcript",
      replies: [reply("Stored.")],
      options: { sessionId: SESSION },
      after: (kit) => {
        kit.note("session", kit.messages.at(-1).session_id);
        kit.note(
          "transcripts",
          transcripts(kit).map((name) => path.basename(name)),
        );
      },
      data: [`${SESSION}.jsonl`],
    },

    "not-persisted": {
      about: "persistSession: false leaves no transcript",
      replies: [reply("Not stored.")],
      options: { persistSession: false },
      after: (kit) => kit.note("transcripts", transcripts(kit)),
    },

    resume: {
      about: "resume goes on with the same session and history; cost goes on too",
      replies: [reply("The code word is BANANA."), reply("It was BANANA.")],
      run: async (kit) => {
        await firstQuery(kit);
        await kit.consume(kit.query("what was it", { resume: SESSION }));
      },
      probes: ["remember-this", "The code word is BANANA.", "what was it"],
    },

    "resume-at": {
      about: "resumeSessionAt drops the later messages; the session and its bill go on",
      replies: [reply("One is BANANA."), reply("Two is CHERRY."), reply("Three is DATE."), reply("Four.")],
      run: async (kit) => {
        await firstQuery(kit, "first prompt");
        const { uuid } = kit.messages.find((message) => message.type === "assistant");
        await kit.consume(kit.query("second prompt", { resume: SESSION }));
        await kit.consume(kit.query("third prompt", { resume: SESSION, resumeSessionAt: uuid }));
        // Whoever goes on afterwards goes on from there.
        await kit.consume(kit.query("fourth prompt", { resume: SESSION }));
        kit.note("sessions", new Set(kit.messages.map((message) => message.session_id)).size);
      },
      probes: ["One is BANANA.", "Two is CHERRY.", "second prompt", "Three is DATE."],
    },

    "fork-at": {
      about: "resumeSessionAt with forkSession goes on in a copy; the original keeps its messages",
      replies: [reply("One is BANANA."), reply("Two is CHERRY."), reply("Three is DATE."), reply("Four.")],
      run: async (kit) => {
        await firstQuery(kit, "first prompt");
        const { uuid } = kit.messages.find((message) => message.type === "assistant");
        await kit.consume(kit.query("second prompt", { resume: SESSION }));
        const fork = { resume: SESSION, resumeSessionAt: uuid, forkSession: true };
        await kit.consume(kit.query("third prompt", fork));
        await kit.consume(kit.query("fourth prompt", { resume: SESSION }));
      },
      probes: ["One is BANANA.", "Two is CHERRY.", "second prompt", "Three is DATE."],
    },

    fork: {
      about: "forkSession gives the history a new session id",
      replies: [reply("The code word is BANANA."), reply("Forked reply.")],
      run: async (kit) => {
        await firstQuery(kit);
        await kit.consume(kit.query("fork it", { resume: SESSION, forkSession: true }));
      },
      probes: ["The code word is BANANA."],
    },

    continue: {
      about: "continue takes up the newest session of the directory",
      replies: [reply("The code word is BANANA."), reply("Continued.")],
      run: async (kit) => {
        await firstQuery(kit);
        await kit.consume(kit.query("go on", { continue: true }));
      },
      probes: ["The code word is BANANA."],
    },

    "session-store": {
      about: "a sessionStore receives the transcript and can resume without the file",
      replies: [reply("Stored."), reply("Resumed from store.")],
      run: async (kit) => {
        const memory = new kit.sdk.InMemorySessionStore();
        let appended = 0;
        const sessionStore = {
          append: (key, entries) => {
            appended += entries.length;
            return memory.append(key, entries);
          },
          load: (key) => memory.load(key),
        };
        await firstQuery(kit, "store-this", { sessionStore });
        kit.note("entries appended", appended > 0);
        for (const root of roots(kit)) fs.rmSync(root, { recursive: true, force: true });
        await kit.consume(kit.query("again", { sessionStore, resume: SESSION }));
      },
      probes: ["store-this", "Stored."],
    },

    "list-and-info": {
      about: "listSessions and getSessionInfo",
      replies: [reply("One.")],
      run: async (kit) => {
        await firstQuery(kit, "first prompt");
        await kit.call("listSessions", () => kit.sdk.listSessions({ dir: kit.cwd }));
        await kit.call("getSessionInfo", () => kit.sdk.getSessionInfo(SESSION));
        await kit.call("getSessionInfo of no session", () => kit.sdk.getSessionInfo(NO_SESSION));
      },
      data: ["first prompt"],
    },

    "session-messages": {
      about: "getSessionMessages gives the conversation back",
      replies: [reply(toolUse("Bash", { command: "echo hi", description: "echo" })), reply("One.")],
      run: async (kit) => {
        await firstQuery(kit, "first prompt", { canUseTool: kit.canUseTool(allow) });
        const messages =
          (await kit.call("getSessionMessages", () =>
            kit.sdk.getSessionMessages(SESSION, { dir: kit.cwd }),
          )) ?? [];
        kit.note(
          "kinds",
          messages.map((message) => message.type),
        );
        await kit.call("one message", () =>
          kit.sdk.getSessionMessages(SESSION, { dir: kit.cwd, limit: 1, offset: 1 }),
        );
      },
      data: ["hi"],
    },

    "fork-and-delete": {
      about: "forkSession copies up to a message; deleteSession removes the copy",
      replies: [reply("One."), reply("Two.")],
      run: async (kit) => {
        const { sdk } = kit;
        await firstQuery(kit, "first prompt");
        await kit.consume(kit.query("second prompt", { resume: SESSION }));
        const messages = await sdk.getSessionMessages(SESSION);
        const { sessionId } = await sdk.forkSession(SESSION, { upToMessageId: messages[1].uuid });
        kit.note("new id", sessionId !== SESSION);
        const copy = await sdk.getSessionMessages(sessionId);
        kit.note(
          "copied",
          copy.map((message) => message.type),
        );
        kit.note("new uuids", copy[0].uuid !== messages[0].uuid);
        await sdk.deleteSession(sessionId);
        kit.note("deleted", (await sdk.getSessionInfo(sessionId)) === undefined);
        kit.note("original kept", (await sdk.getSessionMessages(SESSION)).length);
      },
      data: ["user", "assistant"],
    },
  };
}
