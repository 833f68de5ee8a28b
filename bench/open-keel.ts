/** Keel's own loop with its real adapters: JSON lines on disk, the Messages wire over HTTP, the built-in tools. */

import { sessionArtifacts } from "../keel/src/agents/tree.ts";
import { systemPrompt } from "../keel/src/app/compose/prompts.ts";
import { nodeClock, nodeIds } from "../keel/src/app/node-ports.ts";
import { defaultLimits } from "../keel/src/core/limits.ts";
import { Session } from "../keel/src/engine/session.ts";
import { catalog } from "../keel/src/models/catalog.ts";
import { connectModel } from "../keel/src/models/connect.ts";
import { openHttp } from "../keel/src/models/http.ts";
import { noRules } from "../keel/src/policy/decide.ts";
import { noHooks } from "../keel/src/ports/hooks.ts";
import { text } from "../keel/src/protocol/message.ts";
import { jsonlStore } from "../keel/src/store/jsonl/store.ts";
import { builtInTools } from "../keel/src/tools/catalog.ts";
import { nodeDocuments } from "../keel/src/workspace/files/documents.ts";
import { nodeFiles } from "../keel/src/workspace/files/files.ts";
import { nodeShell } from "../keel/src/workspace/processes/shell.ts";
import { nodeSearch } from "../keel/src/workspace/search/search.ts";

export type KeelPlace = { readonly url: string; readonly home: string; readonly cwd: string };

export type Keel = {
  openSession(): Promise<Session>;
  close(): void;
};

export function openKeel({ url, home, cwd }: KeelPlace): Keel {
  const clock = nodeClock();
  const ids = nodeIds();
  const store = jsonlStore({ home, clock, ids });
  const http = openHttp();
  const models = catalog();
  const endpoint = {
    provider: "anthropic",
    baseUrl: url,
    credential: { kind: "key", value: "bench" },
  } as const;
  const model = connectModel({ endpoint }, { catalog: models, http: http.send, now: clock.now });
  const files = nodeFiles({ cwd, roots: [cwd] });
  const env = {};
  const workspace = {
    cwd,
    roots: [cwd],
    files,
    search: nodeSearch({ env }),
    documents: nodeDocuments(),
    shell: nodeShell({ env }),
  };
  const system = systemPrompt({ cwd, roots: [cwd], platform: process.platform });
  const name = models.defaultOf("anthropic");
  if (name === undefined) throw new Error("The catalog has no default model.");

  return {
    async openSession() {
      const log = await store.create(ids.uuid(), { cwd });
      return Session.open(
        {
          log,
          model,
          clock,
          ids,
          workspace,
          system,
          tools: builtInTools(),
          rules: noRules,
          hooks: noHooks,
          ...sessionArtifacts(store, log.session),
          limits: defaultLimits,
          promptOnResume: "logged",
        },
        {
          start: {
            keel: "bench",
            cwd,
            settings: { model: name, permissionMode: "default", thinking: { kind: "off" } },
          },
        },
      );
    },
    close: http.close,
  };
}

/** Says one thing and waits until the answer is there. Throws when the turn did not end well. */
export async function converse(session: Session): Promise<void> {
  await session.submit({ type: "input", content: [text("Read the file.")] });
  await session.run();
  const last = session.state.history.at(-1);
  if (session.fault || last?.role !== "assistant")
    throw new Error(`The turn did not end well: ${session.fault?.message ?? "there is no answer"}`);
}
