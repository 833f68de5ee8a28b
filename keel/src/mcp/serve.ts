/** Keel as a server of another agent: one tool that does a task in a session, and goes on with it when asked again. */
import type { Readable, Writable } from "node:stream";
import { isObject, type JsonObject } from "../kernel/json.ts";
import { traceparentIn } from "../protocol/trace.ts";
import { maxMessageBytes } from "./limits.ts";

export type ServedTask = {
  readonly prompt: string;
  readonly session: string | undefined;
  /** Where the call belongs in a trace, as W3C's `traceparent` writes it. */
  readonly trace?: string;
};

export type ServedTaskEnd = { readonly text: string; readonly session: string; readonly failed: boolean };

export type TaskHost = {
  /** Whether whoever sent the task says yes; false where nobody can be asked. */
  confirm(question: string): Promise<boolean>;
  progress(words: string): void;
  readonly signal: AbortSignal;
};

export type TaskServerOptions = {
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
  run(task: ServedTask, host: TaskHost): Promise<ServedTaskEnd>;
};

export const taskTool = {
  name: "keel",
  description:
    "Gives a task to Keel, an agent that reads and changes files and runs commands in its working folder. Returns what it did, and a session id with which the next task goes on where this one ended.",
  inputSchema: {
    type: "object" as const,
    properties: {
      prompt: { type: "string", description: "What to do." },
      session: { type: "string", description: "The id of an earlier task to go on with." },
    },
    required: ["prompt"],
  },
};

/** Resolves when the other side has closed its end. */
export async function serveTasks(options: TaskServerOptions): Promise<void> {
  const [{ Server }, { StdioServerTransport }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const server = new Server({ name: "keel", version: options.version }, { capabilities: { tools: {} } });
  const ended = Promise.withResolvers<void>();
  server.onclose = () => ended.resolve();
  server.onerror = () => undefined; // A line that is no message is answered by the library.
  options.input.once("end", () => ended.resolve());
  options.input.once("close", () => ended.resolve());

  server.setRequestHandler("tools/list", async () => ({ tools: [taskTool] }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const task = taskOf(params.arguments);
    if (params.name !== taskTool.name || !task) return failure("Give the tool keel a prompt.");
    const token = params._meta?.progressToken;
    let told = 0;
    const traced = { ...task, ...traceparentIn(params._meta?.["traceparent"]) };
    const end = await options.run(traced, {
      signal: mcpReq.signal,
      progress(words) {
        if (token === undefined) return;
        const notice = { progressToken: token, progress: ++told, message: words };
        void mcpReq.notify({ method: "notifications/progress", params: notice }).catch(() => undefined);
      },
      async confirm(question) {
        if (!server.getClientCapabilities()?.elicitation) return false;
        const requestedSchema = { type: "object" as const, properties: {} };
        const answer = await mcpReq.elicitInput({ mode: "form", message: question, requestedSchema });
        return answer.action === "accept";
      },
    });
    return {
      content: [{ type: "text" as const, text: end.text }],
      structuredContent: { session: end.session } satisfies JsonObject,
      isError: end.failed,
    };
  });
  await server.connect(
    new StdioServerTransport(options.input, options.output, { maxBufferSize: maxMessageBytes }),
  );
  await ended.promise;
  await server.close();
}

function taskOf(given: unknown): ServedTask | undefined {
  if (!isObject(given) || typeof given["prompt"] !== "string") return undefined;
  const { prompt, session } = given;
  return { prompt, session: typeof session === "string" ? session : undefined };
}

const failure = (text: string) => ({ content: [{ type: "text" as const, text }], isError: true });
