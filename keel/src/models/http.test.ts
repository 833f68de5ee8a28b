import https from "node:https";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { type Loopback, loopback, rawLoopback } from "../../../test/support/loopback.ts";
import { selfSigned } from "../../../test/support/self-signed.ts";
import { type HttpOptions, type HttpResponse, openHttp, readText } from "./http.ts";

const never = new AbortController().signal;
const closers: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function server(answer: Parameters<typeof loopback>[0]): Promise<Loopback> {
  const made = await loopback(answer);
  closers.push(made.close);
  return made;
}

function client(options: HttpOptions = {}) {
  const made = openHttp(options);
  closers.push(made.close);
  return made.send;
}

const get = (url: string) => ({ method: "GET", url, headers: {} }) as const;

async function collect(response: HttpResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body) text += decoder.decode(chunk, { stream: true });
  return text;
}

describe("a request", () => {
  test("carries method, headers and body, and asks for nothing compressed", async () => {
    const { url, seen } = await server((response) => void response.end("ok"));
    const send = client();

    const response = await send(
      { method: "POST", url: `${url}/v1`, headers: { "x-a": "b" }, body: "é" },
      never,
    );

    expect([response.status, await collect(response)]).toEqual([200, "ok"]);
    expect(seen[0]).toMatchObject({ method: "POST", path: "/v1", body: "é" });
    expect(seen[0]?.headers).toMatchObject({
      "x-a": "b",
      "accept-encoding": "identity",
      "content-length": "2",
    });
  });

  test("uses the connection of the one before it", async () => {
    const { url, connections } = await server((response) => void response.end("ok"));
    const send = client();
    for (let count = 0; count < 3; count++) await collect(await send(get(url), never));
    expect(connections()).toBe(1);
  });

  test("is sent again on a new connection when the kept one was closed meanwhile", async () => {
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    const requestsByConnection: number[] = [];
    const kept = await rawLoopback((socket) => {
      const connection = requestsByConnection.push(0) - 1;
      socket.on("data", () => {
        const count = (requestsByConnection[connection] ?? 0) + 1;
        requestsByConnection[connection] = count;
        if (connection === 0 && count === 2) socket.resetAndDestroy();
        else socket.write(answer);
      });
    });
    closers.push(kept.close);
    const send = client();

    await collect(await send(get(kept.url), never));
    expect(await collect(await send(get(kept.url), never))).toBe("ok");

    expect(requestsByConnection).toEqual([2, 1]);
  });

  test("does not follow a redirect", async () => {
    const { url, seen } = await server((response) => {
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    const response = await client()(get(url), never);
    expect([response.status, await readText(response, 100), seen.length]).toEqual([307, "", 1]);
  });

  test("goes through the proxy that the user's environment names, and past it where that says so", async () => {
    const proxy = await server((response, { path }) => void response.end(`proxied ${path}`));
    const direct = await server((response) => void response.end("direct"));

    const through = client({ proxyEnv: { HTTP_PROXY: proxy.url } });
    const past = client({ proxyEnv: { HTTP_PROXY: proxy.url, NO_PROXY: "127.0.0.1" } });

    expect(await collect(await through(get("http://models.invalid/x"), never))).toBe(
      "proxied http://models.invalid/x",
    );
    expect(await collect(await past(get(direct.url), never))).toBe("direct");
  });
});

describe("a body", () => {
  test("is read only as fast as it is taken", async () => {
    let sent = 0;
    const chunk = "x".repeat(64 * 1024);
    const source = Readable.from(
      (function* () {
        for (; sent < 2_000; sent++) yield chunk;
      })(),
    );
    const { url } = await server((response) => void source.pipe(response));
    const response = await client()(get(url), never);

    // Nothing is taken yet: the server comes to a stop at what the kernel and one buffer hold.
    for (let before = -1; before !== sent; ) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const held = sent;
    const text = await collect(response);

    expect(held).toBeLessThan(400);
    expect(text.length).toBe(2_000 * chunk.length);
  });

  test("that breaks off is stream_cut after what came", async () => {
    const { url } = await server((response) => {
      response.write("half", () => response.destroy());
    });
    const response = await client()(get(url), never);
    await expect(collect(response)).rejects.toMatchObject({ code: "stream_cut" });
  });

  test("with fewer bytes than promised is stream_cut", async () => {
    const raw = await rawLoopback(says("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"));
    closers.push(raw.close);
    await expect(collect(await client()(get(raw.url), never))).rejects.toMatchObject({ code: "stream_cut" });
  });

  test("that never ends, ends quietly when that was allowed", async () => {
    const { url } = await server((response) => void response.write("all"));
    const response = await client()(get(url), never);
    response.endWithin(20);
    expect(await collect(response)).toBe("all");
  });

  test("is cut at the bound when only its start matters, and its connection closed", async () => {
    const { url } = await server((response) => {
      response.on("error", () => undefined);
      response.write("x".repeat(300_000));
    });
    expect(await readText(await client()(get(url), never), 1_000)).toBe("x".repeat(1_000));
  });
});

describe("an abort", () => {
  test("before the request sends nothing", async () => {
    const { url, seen } = await server((response) => void response.end());
    await expect(client()(get(url), AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
    expect(seen).toEqual([]);
  });

  test("while waiting for the answer ends the wait", async () => {
    const stop = new AbortController();
    const { url } = await server(() => stop.abort());
    await expect(client()(get(url), stop.signal)).rejects.toMatchObject({ code: "aborted" });
  });

  test("in the middle of the body ends it with the fault aborted, and closes the connection", async () => {
    const stop = new AbortController();
    const closed = Promise.withResolvers<void>();
    const { url } = await server((response) => {
      response.on("close", () => closed.resolve());
      response.write("part");
    });
    const response = await client()(get(url), stop.signal);
    const reading = (async () => {
      for await (const _ of response.body) stop.abort();
    })();
    await expect(reading).rejects.toMatchObject({ code: "aborted" });
    await closed.promise;
  });

  test("leaves no listener on the signal of a finished request", async () => {
    const { url } = await server((response) => void response.end("ok"));
    const send = client();
    const { signal, added, removed } = countedSignal();
    await collect(await send(get(url), signal));
    expect([added(), removed()]).toEqual([2, 2]);
  });
});

describe("a failure to connect", () => {
  test("is unreachable, with a reason in words", async () => {
    const { url, close } = await loopback((response) => void response.end());
    await close();
    const { host } = new URL(url);
    await expect(client()(get(url), never)).rejects.toMatchObject({
      code: "unreachable",
      detail: { reason: `nothing answers at ${host}`, host },
    });
    await expect(client()(get("http://no-such-host.invalid"), never)).rejects.toMatchObject({
      code: "unreachable",
    });
  });

  test("is unreachable when the connection closes without an answer", async () => {
    const { url } = await server((response) => void response.destroy());
    await expect(client()(get(url), never)).rejects.toMatchObject({ code: "unreachable" });
  });

  test("is unreachable when no answer comes in time", async () => {
    const { url } = await server(() => undefined);
    await expect(client({ answerMs: 30 })(get(url), never)).rejects.toMatchObject({
      code: "unreachable",
      detail: { reason: "no answer within 0.03 seconds" },
    });
  });

  test("is stream_malformed when the other side does not speak HTTP", async () => {
    const raw = await rawLoopback(says("SSH-2.0-OpenSSH\r\n"));
    closers.push(raw.close);
    await expect(client()(get(raw.url), never)).rejects.toMatchObject({ code: "stream_malformed" });
  });

  test("is certificate_refused when the certificate is not trusted", async () => {
    const secure = https.createServer(selfSigned(), (_, response) => void response.end());
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    closers.push(() => void secure.close());
    const address = secure.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(client()(get(`https://127.0.0.1:${port}`), never)).rejects.toMatchObject({
      code: "certificate_refused",
    });
  });
});

/** Answers the first bytes of a connection with these, and closes it. */
const says = (bytes: string) => (socket: Socket) => void socket.once("data", () => socket.end(bytes));

/** A signal that counts its listeners. */
function countedSignal() {
  const { signal } = new AbortController();
  let added = 0;
  let removed = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...rest: Parameters<typeof add>) => {
    added += 1;
    add(...rest);
  };
  signal.removeEventListener = (...rest: Parameters<typeof remove>) => {
    removed += 1;
    remove(...rest);
  };
  return { signal, added: () => added, removed: () => removed };
}
