// The platform's programs, as real processes: programs of our own stand for those of a desktop.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { notRunHere } from "../../../../test/support/not-run.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { DesktopPlatform } from "../../ports/desktop.ts";
import { desktopPlatform } from "./platform.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "keel-desktop-"));
  mkdirSync(path.join(folder, "bin"));
  mkdirSync(path.join(folder, "project"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, script: string, where = "bin"): void {
  const file = path.join(folder, where, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

const at = (env: Record<string, string>, platform: NodeJS.Platform = "linux") =>
  desktopPlatform({
    env: { PATH: `${folder}/project:${folder}/bin:relative`, STATE: path.join(folder, "state"), ...env },
    cwd: path.join(folder, "project"),
    platform,
  });
const { signal } = new AbortController();

describe.each([
  ["X11", { DISPLAY: ":9" }, "linux", "xclip", "xclip"],
  ["Wayland", { WAYLAND_DISPLAY: "w" }, "linux", "wl-copy", "wl-paste"],
  ["macOS", {}, "darwin", "pbcopy", "pbpaste"],
] as const)("on %s", (_, env, platform, writer, reader) => {
  test("what is written to the clipboard is read from it", async () => {
    verifies("S1.14");
    const read = '/bin/cat "$STATE"';
    const write = '/bin/cat > "$STATE"';
    if (writer === reader) put(writer, `case "$*" in *-o*) ${read};; *) ${write};; esac`);
    else {
      put(writer, write);
      put(reader, read);
    }
    const desktop = at(env, platform);
    expect(await desktop.writeClipboard("zwölf\nlines", signal)).toEqual({ ok: true });
    expect(await desktop.readClipboard(signal)).toEqual({ ok: true, text: "zwölf\nlines" });
  });
});

test("a picture of the screen comes from the first program that is installed, and leaves no file", async () => {
  verifies("S1.15");
  put("scrot", 'printf picture > "$1"; printf %s "$1" > "$STATE"');
  const taken = await at({ DISPLAY: ":9" }).screenshot("fullscreen", signal);
  expect(taken.ok && Buffer.from(taken.png).toString()).toBe("picture");
  expect(existsSync(readFileSync(path.join(folder, "state"), "utf8"))).toBe(false);
});

test("something is opened by the program that the person has for it, as one argument", async () => {
  verifies("S1.13");
  put("xdg-open", 'printf "%s|" "$@" > "$STATE"');
  expect(await at({ DISPLAY: ":9" }).open("https://example.com/a b;c", signal)).toEqual({ ok: true });
  expect(readFileSync(path.join(folder, "state"), "utf8")).toBe("https://example.com/a b;c|");
});

describe("without a desktop", () => {
  test("each says so at once, by a kind", async () => {
    verifies("S1.14", "S1.15");
    const bare = at({});
    for (const refused of [
      await bare.readClipboard(signal),
      await bare.writeClipboard("x", signal),
      await bare.screenshot("fullscreen", signal),
      await bare.open("/tmp", signal),
    ])
      expect(refused).toMatchObject({ ok: false, kind: "no_display" });
    const empty = await at({ DISPLAY: ":9" }).readClipboard(signal);
    expect(empty).toMatchObject({
      ok: false,
      kind: "no_program",
      why: expect.stringContaining("xclip or xsel"),
    });
    expect(await at({}, "win32").screenshot("window", signal)).toMatchObject({ kind: "no_program" });
  });

  test("a program of the folder that is worked in is never taken for one of the desktop", async () => {
    put("xclip", "echo stolen", "project");
    expect(await at({ DISPLAY: ":9" }).readClipboard(signal)).toMatchObject({ kind: "no_program" });
  });
});

test("a program that fails or hangs is told, and one that hangs is ended with its signal", async () => {
  put("xclip", "exit 1");
  expect(await at({ DISPLAY: ":9" }).readClipboard(signal)).toMatchObject({ ok: false, kind: "failed" });
  put("xclip", 'echo $$ > "$STATE"; exec /bin/sleep 300');
  const stop = new AbortController();
  const reading = at({ DISPLAY: ":9" }).readClipboard(stop.signal);
  while (!existsSync(path.join(folder, "state"))) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  expect(await reading).toMatchObject({ ok: false, kind: "stopped" });
});

const installed = (name: string): boolean =>
  (process.env["PATH"] ?? "").split(":").some((place) => existsSync(path.join(place, name)));

/** A real X server without a screen that anybody sees. */
async function onXvfb(work: (screen: DesktopPlatform) => Promise<void>): Promise<void> {
  const server = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "320x200x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const ended = once(server, "exit");
  try {
    const [display] = await once(server.stdio[3] as Readable, "data");
    const env = { PATH: process.env["PATH"] ?? "", DISPLAY: `:${String(display).trim()}` };
    await work(desktopPlatform({ env, cwd: path.join(folder, "project"), platform: "linux" }));
  } finally {
    server.kill();
    await ended;
  }
}

test("a real xclip takes and gives the clipboard of a real X server", async () => {
  verifies("S1.14");
  if (!installed("Xvfb") || !installed("xclip"))
    return notRunHere("clipboard of X11", "Xvfb or xclip absent");
  await onXvfb(async (screen) => {
    // Nobody has put anything there: that is told, and nothing hangs.
    expect(await screen.readClipboard(signal)).toMatchObject({ ok: false, kind: "failed" });
    for (const words of ["Grüße, 船 and a line\nmore\n", "x".repeat(1_000_000), ""]) {
      expect(await screen.writeClipboard(words, signal)).toEqual({ ok: true });
      // xclip ends before the server has heard of it: on a busy machine a reader may still be given what was there.
      await expect.poll(() => screen.readClipboard(signal)).toEqual({ ok: true, text: words });
    }
  });
});

test("a real program makes a picture of all of a real X server's screen", async () => {
  verifies("S1.15");
  if (!installed("Xvfb") || !["maim", "scrot", "import"].some(installed))
    return notRunHere("picture of an X11 screen", "Xvfb, or all of maim, scrot and import, absent");
  await onXvfb(async (screen) => {
    const taken = await screen.screenshot("fullscreen", signal);
    const png = Buffer.from(taken.ok ? taken.png : []);
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([320, 200]);
  });
});
