/** `keel serve pair` and `keel serve devices`: who may come in to the server of this home, by word of the person. */
import { oneOf, usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { connectHere } from "../../../app/sessions/home-server.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { accessLevels, type DeviceEntry, type Pairing } from "../../../protocol/operation.ts";
import { spelled } from "../../../protocol/pairing.ts";
import { type QrModules, qrCode } from "../../../view/qr-code.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { hasPerson } from "../terminal/answer-asks.ts";
import { confirms } from "../terminal/terminal.ts";

type HomeClient = Awaited<ReturnType<typeof connectHere>>["client"];

type PairValues = {
  readonly name?: string | undefined;
  readonly access?: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
};

export const pair: CommandRun<PairValues> = async ({ values }, context) => {
  const access = oneOf("access", values.access, accessLevels);
  if (!values.yes && !hasPerson(context))
    throw usage("Nobody is here to compare the digits. With --yes whoever comes with the code is let in.");
  return withServer(context, async (client) => {
    const stop = new AbortController();
    const release = context.signals.take(() => stop.abort());
    try {
      const begun = await client.devices.pair({ access, name: values.name });
      if (values.json) context.out.line(toLine(begun));
      else context.out.write(invitation({ ...begun, isTerminal: context.out.isTerminal }));
      stop.signal.addEventListener(
        "abort",
        () => void client.devices.answer(begun.pairing, "deny").catch(() => undefined),
      );
      return await follow(client, begun.pairing, values, context, stop.signal);
    } finally {
      release();
    }
  });
};

/** Until it is over, in whatever way. */
async function follow(
  client: HomeClient,
  id: string,
  { yes, json }: PairValues,
  context: Context,
  signal: AbortSignal,
): Promise<number> {
  let known: Pairing["state"] = "open";
  for (;;) {
    const pairing: Pairing = await client.devices.pairing(id, known);
    if (pairing.state === known) continue;
    known = pairing.state;
    if (json) context.out.line(toLine(pairing));
    else context.out.write(sayPairing(pairing));
    if (pairing.state === "paired") return exitCodes.ended;
    if (pairing.state === "over") return exitCodes.turnFailed;
    if (pairing.state !== "claimed") continue;
    const isLetIn = yes || (await confirms(context, "Let it in? [no] > ", signal));
    await client.devices.answer(id, isLetIn ? "allow" : "deny");
  }
}

function sayPairing(pairing: Pairing): string {
  switch (pairing.state) {
    case "open":
    case "allowed":
      return "";
    case "claimed":
      return `\n${visible(pairing.name)} has come with the code. It must show these digits:\n\n    ${digits(pairing.digits)}\n\n`;
    case "paired":
      return `Let in: ${visible(pairing.name)} (${pairing.device}). \`keel serve devices\` lists who may come in.\n`;
    case "over":
      return `${overWords[pairing.why]} Nobody was let in.\n`;
  }
}

const overWords = {
  refused: "Refused.",
  "too-late": "That took longer than five minutes.",
  "wrong-codes": "Somebody tried wrong codes, so that this one is no good any more.",
} as const;

const digits = (all: string): string => `${all.slice(0, 3)} ${all.slice(3)}`;

function invitation({
  code,
  url = "",
  isTerminal,
}: {
  readonly code: string;
  readonly url?: string | undefined;
  readonly isTerminal: boolean;
}): string {
  // Behind the sign that no browser sends on, so that no log on the way has it.
  const modules = isTerminal ? qrCode(`${url}/pair#${code}`) : undefined;
  return [
    "",
    ...(modules ? [...drawing(modules), ""] : []),
    `On the other device open ${url}/pair and type this code, which is good once and for five minutes:`,
    "",
    `    ${spelled(code)}`,
    "",
    "",
  ].join("\n");
}

/** Two rows of modules in a line of text, dark on light whatever the colours of the terminal are. */
function drawing(modules: QrModules): string[] {
  const margin = 2;
  const width = modules.length + 2 * margin;
  const isDark = (x: number, y: number): boolean => modules[y - margin]?.[x - margin] === true;
  const halves = { "true true": "█", "true false": "▀", "false true": "▄", "false false": " " };
  return Array.from({ length: Math.ceil(width / 2) }, (_, line) => {
    const signs = Array.from({ length: width }, (__, x) => {
      const both = `${isDark(x, line * 2)} ${isDark(x, line * 2 + 1)}` as keyof typeof halves;
      return halves[both];
    });
    return `    \u001b[30;107m${signs.join("")}\u001b[0m`;
  });
}

export const devices: CommandRun<{ json: boolean }> = ({ values, positionals }, context) => {
  const [verb, id] = positionals;
  if (verb !== undefined && (verb !== "remove" || id === undefined || positionals.length > 2))
    throw usage("Say `keel serve devices`, or `keel serve devices remove ID`.");
  return withServer(context, async (client) => {
    if (id !== undefined) {
      await client.devices.remove(id);
      context.err.line(`Removed: ${visible(id)}`);
      return exitCodes.ended;
    }
    const all = await client.devices.list();
    if (values.json) context.out.line(toLine(all));
    else for (const device of all) context.out.line(sayDevice(device));
    return exitCodes.ended;
  });
};

function sayDevice({ id, name, access, createdAt, connected }: DeviceEntry): string {
  const since = new Date(createdAt).toISOString().slice(0, 10);
  const now = connected === 0 ? "" : `, ${connected} connected`;
  return `${id}  ${visible(name)}: may ${access}, since ${since}${now}`;
}

/** Over the socket, which only the person can reach. */
async function withServer(context: Context, use: (client: HomeClient) => Promise<number>): Promise<number> {
  const { client } = await connectHere(openHome(context).path, "keel serve");
  try {
    return await use(client);
  } finally {
    client.close();
  }
}
