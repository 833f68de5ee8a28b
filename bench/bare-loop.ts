/**
 * The least code that could hold such a conversation: `node:http`, a split at blank lines, `JSON.parse`, the same read
 * of the same file, and one growing text as the request. It keeps nothing on disk, decides nothing and handles no
 * failure. Its requests are as valid and as long as Keel's.
 */
import { readFile } from "node:fs/promises";
import type { Agent } from "node:http";

// The least that it can be: an import statement would load the whole of `fetch` beside it.
export const http = process.getBuiltinModule("node:http");

export type BareConversation = {
  readonly url: string;
  readonly session: string;
  /** Bytes of the first request, and by how many each turn makes the next one longer. */
  readonly firstBytes: number;
  readonly bytesPerTurn: number;
};

export type BareReply = {
  readonly text: string;
  readonly deltas: number;
  readonly call: { readonly id: string; readonly name: string; readonly json: string } | undefined;
};

export type BareAsk = (body: string) => Promise<BareReply>;

/** Talks until the model asks for nothing more; returns the request as it has become. */
export async function bareLoop(conversation: BareConversation, ask: BareAsk): Promise<string> {
  let body = bareStart(conversation);
  for (;;) {
    const { call, text } = await ask(`${body}]}`);
    if (!call) return body;
    const { file_path }: { file_path: string } = JSON.parse(call.json);
    const content = await readFile(file_path, "utf8");
    body += bareTurn({ text, call, content, bytes: conversation.bytesPerTurn });
  }
}

export function bareStart({ session, firstBytes }: BareConversation): string {
  const around = (filling: string): string =>
    `{"model":"scripted-model","max_tokens":32000,"stream":true,"metadata":{"user_id":"${session}"},` +
    `"tools":[{"name":"Read","description":"Reads a file.","input_schema":{"type":"object"}}],` +
    `"system":[{"type":"text","text":"${filling}"}],` +
    `"messages":[{"role":"user","content":[{"type":"text","text":"Read the file."}]}`;
  return around("x".repeat(Math.max(1, firstBytes - around("").length - "]}".length)));
}

type Turn = {
  readonly text: string;
  readonly call: NonNullable<BareReply["call"]>;
  readonly content: string;
  readonly bytes: number;
};

function bareTurn({ text, call, content, bytes }: Turn): string {
  const around = (filling: string): string =>
    `,{"role":"assistant","content":[{"type":"text","text":${JSON.stringify(text)}},` +
    `{"type":"tool_use","id":"${call.id}","name":"${call.name}","input":${call.json}}]},` +
    `{"role":"user","content":[{"type":"tool_result","tool_use_id":"${call.id}",` +
    `"content":[{"type":"text","text":${JSON.stringify(content)}},{"type":"text","text":"${filling}"}]}]}`;
  return around("x".repeat(Math.max(1, bytes - around("").length)));
}

/** One request over kept connections, and the bare reading of what comes back. */
export function bareAsk(url: string, agent: Agent): BareAsk {
  return (body) =>
    new Promise((resolve, reject) => {
      const request = http.request(`${url}/v1/messages`, {
        method: "POST",
        agent,
        headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
      });
      request.on("error", reject);
      request.on("response", (response) => {
        const reader = bareReader();
        response.setEncoding("utf8");
        response.on("data", reader.push);
        response.on("error", reject);
        response.on("end", () => resolve(reader.reply()));
      });
      request.end(body);
    });
}

/** Server-sent events, as plainly as they can be read: blank lines part them, and the data is JSON. */
function bareReader(): { push(chunk: string): void; reply(): BareReply } {
  let rest = "";
  let text = "";
  let deltas = 0;
  let call: BareReply["call"];
  const take = (record: string): void => {
    const event = JSON.parse(record.slice(record.indexOf("data: ") + "data: ".length));
    if (event.type === "content_block_start" && event.content_block.type === "tool_use")
      call = { id: event.content_block.id, name: event.content_block.name, json: "" };
    if (event.type !== "content_block_delta") return;
    deltas += 1;
    if (event.delta.type === "text_delta") text += event.delta.text;
    else if (call) call = { ...call, json: call.json + event.delta.partial_json };
  };
  return {
    push(chunk) {
      rest += chunk;
      let from = 0;
      for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n", from)) {
        take(rest.slice(from, end));
        from = end + 2;
      }
      rest = rest.slice(from);
    },
    reply: () => ({ text, deltas, call }),
  };
}
