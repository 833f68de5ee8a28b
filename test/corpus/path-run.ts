// A row of the path corpus through a whole session: the real tools, the real policy, real files, and a host that notes
// what it is asked. It allows reads, so that a write is decided by itself, and gives the answer of the row to the rest.
import { noRules } from "../../keel/src/policy/decide.ts";
import { parseRule } from "../../keel/src/policy/rules.ts";
import type { PermissionMode } from "../../keel/src/protocol/settings.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { builtInTools } from "../../keel/src/tools/catalog.ts";
import { realClock, realWorkspace } from "../support/real-workspace.ts";
import { openTestSession, type TestSession } from "../support/test-session.ts";

export type ToolCall = { readonly tool: string; readonly input: Record<string, string> };

export type RunWish = {
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly mode: PermissionMode;
  readonly call: ToolCall;
  /** As the rows write them: `deny Read(./.env)`. */
  readonly rules?: readonly string[] | undefined;
  /** Read this first, as a change of an existing file needs. */
  readonly readFirst?: string | undefined;
  readonly between?: () => Promise<void>;
  readonly answer: "allow" | "deny";
};

export type Ran = {
  readonly asked: readonly { readonly claims: readonly string[]; readonly reason: string }[];
  readonly failed: boolean;
  /** Refused before anything ran: by a person, by the policy or because it made no sense. */
  readonly refused: boolean;
  readonly said: string;
  readonly ms: number;
};

export async function runCall(wish: RunWish): Promise<Ran> {
  const { cwd, roots, mode, call, readFirst, between, answer, rules = [] } = wish;
  let isMainCall = false;
  const asked: { claims: string[]; reason: string }[] = [];
  const session = await openTestSession({
    tools: builtInTools(),
    workspace: realWorkspace({ cwd, roots }),
    clock: realClock,
    settings: { permissionMode: mode },
    rules: { ...noRules, deny: rules.flatMap((words) => parseRule(words.replace(/^deny /, "")) ?? []) },
    script: {
      replies: [
        ...(readFirst === undefined
          ? []
          : [reply(toolUse("Read", { file_path: readFirst }, "first")), reply("Done.")]),
        reply(toolUse(call.tool, call.input, "main")),
        reply("Done."),
      ],
    },
    answer: (ask) => {
      if (!isMainCall) return { verdict: "allow" };
      asked.push({
        claims: (ask.claims ?? []).map(({ action, target }) => `${action} ${target}`),
        reason: ask.reason ?? "",
      });
      return { verdict: answer };
    },
  });
  if (readFirst !== undefined) await session.say("read");
  await between?.();
  isMainCall = true;
  const startedAt = performance.now();
  await session.say("go");
  return { asked, ...outcomeOf(session), ms: performance.now() - startedAt };
}

function outcomeOf({ all }: TestSession): Pick<Ran, "failed" | "refused" | "said"> {
  const finished = all("tool.finished").find(({ callId }) => callId === "main");
  if (!finished) throw new Error("The call has no result.");
  const { failed, content, denied, invalid } = finished;
  const said = content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
  return { failed, refused: denied !== undefined || invalid === true, said };
}
