// What the guard does on the wire: where connections go, and which redirects are followed.
import https from "node:https";
import { describe, expect, test } from "vitest";
import { selfSigned } from "../../../../test/support/self-signed.ts";
import { type Answer, quiet, send, testWeb, web } from "../../../../test/support/web-site.ts";

const { serve, listen } = testWeb();

test("a certificate that nobody vouches for is refused", async () => {
  const server = https.createServer(selfSigned(), (_, response) => void response.end("secret"));
  const url = `https://127.0.0.1:${await listen(server)}/`;
  expect(await web().fetch(url, quiet)).toMatchObject({
    kind: "refused",
    why: expect.stringContaining("has a certificate that is not trusted"),
  });
});

describe("the guard", () => {
  test("reaches nothing private, not even to ask", async () => {
    const { url, seen } = await serve(send("secret", { "content-type": "text/plain" }));
    const answer = await web({ allowHosts: [] }).fetch(url, quiet);
    expect(answer).toMatchObject({ kind: "refused", why: expect.stringContaining("loopback") });
    expect(seen).toEqual([]);
  });

  test("a public name that leads inside is refused", async () => {
    const { port, seen } = await serve(send("secret", { "content-type": "text/plain" }));
    const answer = await web({ allowHosts: [], lookUp: async () => ["127.0.0.1"] }).fetch(
      `http://inside.example:${port}/`,
      quiet,
    );
    expect(answer).toMatchObject({ kind: "refused", why: expect.stringContaining("leads to 127.0.0.1") });
    expect(seen).toEqual([]);
  });

  test("connects to the address that was judged, however often the name changes its mind", async () => {
    const { port, seen } = await serve(send("judged", { "content-type": "text/plain" }));
    let asked = 0;
    // The second answer leads to a place where nobody listens.
    const lookUp = async () => [asked++ === 0 ? "127.0.0.1" : "127.0.0.77"];
    const answer = await web({ allowHosts: ["moving.example"], lookUp }).fetch(
      `http://moving.example:${port}/`,
      quiet,
    );
    expect(answer).toMatchObject({ kind: "page", page: { text: "judged" } });
    expect(asked).toBe(1);
    expect(seen[0]?.headers.host).toBe(`moving.example:${port}`);
  });

  test("judges the name again at every redirect", async () => {
    const { port, seen } = await serve(
      (_, response) => void response.writeHead(302, { location: "/again" }).end(),
    );
    let asked = 0;
    const lookUp = async () => [asked++ === 0 ? "127.0.0.1" : "127.0.0.77"];
    const url = `http://moving.example:${port}/`;
    const answer = await web({ allowHosts: ["moving.example"], lookUp }).fetch(url, quiet);
    expect(answer).toMatchObject({ kind: "refused", why: `${url} refuses the connection.` });
    expect(seen).toHaveLength(1);
    expect(asked).toBe(2);
  });
});

describe("a redirect", () => {
  const redirect =
    (target: (path: string) => string | undefined): Answer =>
    (request, response) => {
      const to = target(request.url ?? "");
      if (to === undefined)
        response.writeHead(200, { "content-type": "text/plain" }).end(`at ${request.url}`);
      else response.writeHead(301, { location: to }).end();
    };

  test("on its host is followed, and the page says where it was found", async () => {
    const { url } = await serve(
      redirect((path) => (path === "/" ? "/a" : path === "/a" ? "b?c" : undefined)),
    );
    const answer = await web().fetch(url, quiet);
    expect(answer).toMatchObject({ kind: "page", page: { url: `${url}b?c`, text: "at /b?c" } });
  });

  test("is followed five times and not six", async () => {
    const hops = (most: number) => redirect((path) => (path.length - 1 < most ? `${path}x` : undefined));
    const five = await serve(hops(5));
    const six = await serve(hops(6));
    expect(await web().fetch(five.url, quiet)).toMatchObject({ kind: "page", page: { text: "at /xxxxx" } });
    expect(await web().fetch(six.url, quiet)).toEqual({
      kind: "refused",
      why: `${six.url} redirects more than 5 times.`,
    });
    expect(six.seen).toHaveLength(6);
  });

  test("to another host or port is told and not followed", async () => {
    const other = await serve(send("other", { "content-type": "text/plain" }));
    const { url } = await serve(redirect(() => other.url));
    expect(await web().fetch(url, quiet)).toEqual({
      kind: "moved",
      status: 301,
      statusText: "Moved Permanently",
      to: other.url,
    });
    expect(other.seen).toEqual([]);
    const { url: outside } = await serve(redirect(() => "https://example.org/new"));
    expect(await web().fetch(outside, quiet)).toMatchObject({ kind: "moved", to: "https://example.org/new" });
  });

  test.each([["http://127.0.0.1:1/"], ["file:///etc/passwd"], ["http://169.254.169.254/"]])(
    "to %s reaches nothing",
    async (to) => {
      const { url, seen } = await serve(redirect(() => to));
      expect((await web().fetch(url, quiet)).kind).toBe("moved");
      expect(seen).toHaveLength(1);
    },
  );

  test("that names no place is a page like any other", async () => {
    const { url } = await serve(
      (_, response) => void response.writeHead(302, { "content-type": "text/plain" }).end("lost"),
    );
    expect(await web().fetch(url, quiet)).toMatchObject({
      kind: "page",
      page: { status: 302, text: "lost" },
    });
  });
});
