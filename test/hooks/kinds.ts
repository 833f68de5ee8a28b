// One hook in three kinds: a function of the program, a command, and an address. What it answers is the same.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { HookEvent, HookOutput } from "../../keel/src/protocol/hook.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import type { Settings } from "../../keel/src/sdk/options/settings.ts";

export type HookWish = {
  readonly event: HookEvent;
  readonly answer: HookOutput;
  readonly matcher?: string;
  readonly onFailure?: "block";
};

/** The options that give a session this hook. */
export type Kind = (wish: HookWish) => Promise<Pick<Options, "hooks" | "settings">>;

export const kinds: Readonly<Record<string, Kind>> = {
  function: async ({ event, answer, matcher, onFailure }) => ({
    hooks: {
      [event]: [
        {
          ...(matcher === undefined ? {} : { matcher }),
          ...(onFailure ? { onFailure } : {}),
          hooks: [async () => structuredClone(answer)],
        },
      ],
    },
  }),
  command: async ({ event, answer, matcher, onFailure }) => {
    const quoted = JSON.stringify(answer).replaceAll("'", "'\\''");
    return inSettings({ event, matcher, entry: { type: "command", command: `echo '${quoted}'`, onFailure } });
  },
  address: async ({ event, answer, matcher, onFailure }) => {
    const server = createServer((request, response) => {
      request.resume().on("end", () => response.end(JSON.stringify(answer)));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return inSettings({ event, matcher, entry: { type: "http", url, onFailure } });
  },
};

function inSettings({
  event,
  matcher,
  entry,
}: {
  event: HookEvent;
  matcher: string | undefined;
  entry: object;
}): Pick<Options, "settings"> {
  const settings = {
    hooks: { [event]: [{ ...(matcher === undefined ? {} : { matcher }), hooks: [entry] }] },
  };
  return { settings: settings as Settings };
}
