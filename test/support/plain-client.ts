/** A plain client of the model server, without any of Keel's own code: for the tests of the server. */
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../../keel/src/testing/model-server.ts";

export type PlainEvent = { readonly type: string; readonly [key: string]: unknown };

type ServeScript = (
  script: ModelServerOptions["script"],
  more?: Partial<ModelServerOptions>,
) => Promise<ModelServer>;

/** Starts servers and closes all of them at the end of a test. */
export function serving(): { serve: ServeScript; close: () => Promise<void> } {
  const servers: ModelServer[] = [];
  return {
    serve: async (script, more = {}) => {
      const server = await startModelServer({ script, ...more });
      servers.push(server);
      return server;
    },
    close: async () => {
      await Promise.all(servers.splice(0).map((server) => server.close()));
    },
  };
}

/** A valid body, with some properties replaced. */
export const body = (change: object = {}): object => ({
  model: "test-model",
  max_tokens: 100,
  messages: [{ role: "user", content: "hello" }],
  ...change,
});

type PlainRequest = { path?: string; headers?: Record<string, string>; signal?: AbortSignal };

export function post(
  server: ModelServer,
  content: unknown,
  { path = "/v1/messages", headers = {}, signal }: PlainRequest = {},
): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
    body: typeof content === "string" ? content : JSON.stringify(content),
    ...(signal ? { signal } : {}),
  });
}

/** The events of a stream; throws on a record that is not JSON. */
export const eventsIn = (text: string): PlainEvent[] =>
  text.split("\n\n").flatMap((record) => {
    const data = /^data: (.*)$/m.exec(record)?.[1];
    return data === undefined ? [] : [JSON.parse(data)];
  });

export async function streamed(server: ModelServer): Promise<PlainEvent[]> {
  const response = await post(server, body({ stream: true }));
  return eventsIn(await response.text());
}

/** What came before the stream broke, and how it broke; undefined when it did not. */
export async function broken(server: ModelServer): Promise<{ text: string; error: unknown }> {
  const response = await post(server, body({ stream: true }));
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  } catch (error) {
    return { text, error };
  }
  return { text, error: undefined };
}
