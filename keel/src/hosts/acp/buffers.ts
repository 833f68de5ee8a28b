/** The editor's open files, where it said that it reads and writes them. */
import type { AgentContext, ReadTextFileRequest, ReadTextFileResponse } from "@agentclientprotocol/sdk";
import type { OpenOptions } from "../../app/options.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EditorAbilities } from "./capabilities.ts";

type Buffers = NonNullable<OpenOptions["buffers"]>;

/** An editor that does not answer must not hold up a tool: then the disk counts. */
const maxMs = 5_000;

export function buffersOf(
  editor: EditorAbilities,
  client: AgentContext,
  { clock, sessionId }: { clock: Clock; sessionId: string },
): Buffers | undefined {
  if (!editor.readsFiles && !editor.writesFiles) return undefined;
  const within = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> => {
    const late = new AbortController();
    const done = new AbortController();
    const answer = work(late.signal).catch(() => undefined);
    const first = await Promise.race([answer, clock.sleep(maxMs, done.signal).then(() => "late" as const)]);
    done.abort();
    if (first === "late") late.abort();
    return first === "late" ? undefined : first;
  };
  const stopping = (cancellationSignal: AbortSignal) => ({ cancellationSignal, stopWaitingOnCancel: true });
  return {
    read: editor.readsFiles
      ? (path) =>
          within(async (signal): Promise<string> => {
            const params: ReadTextFileRequest = { sessionId, path };
            const read: ReadTextFileResponse = await client.request(
              "fs/read_text_file",
              params,
              stopping(signal),
            );
            return read.content;
          })
      : undefined,
    write: editor.writesFiles
      ? async (path, content) => {
          const params = { sessionId, path, content };
          const answer = await within((signal) =>
            client.request("fs/write_text_file", params, stopping(signal)),
          );
          return answer !== undefined;
        }
      : undefined,
  };
}
