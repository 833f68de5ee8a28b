/**
 * How bridges come in: two kinds of channels, each over a socket or, where none gets through, over a stream of events and
 * posts. A message holds one line or several; what is no line of its channel ends it.
 */
import type { Bridges, LinesReceiver } from "../../../app/bridges/bridges.ts";
import { fault } from "../../../kernel/fault.ts";
import { isObject } from "../../../kernel/json.ts";
import { Queue } from "../../../kernel/queue.ts";
import {
  bridgeConfigSchema,
  type EnvironmentLine,
  environmentLineSchema,
  type IngressLine,
  ingressLineSchema,
} from "../../../protocol/bridge.ts";
import { type ClientConnection, type ClientPeer, closeCodes } from "../connection.ts";
import type { EventSource } from "../event-stream.ts";

export type ChannelKind = "environment" | "ingress";

export type ChannelPlace = {
  readonly kind: ChannelKind;
  /** Of the environment, or of the session. */
  readonly id: string;
  /** The id of the device. */
  readonly device: string;
};

type ChannelEnd = { send(line: object): void; close(reason: string): void };
type ReadLines = (said: readonly unknown[]) => boolean;

/** Lines that wait for a stream that is not read. */
const maxWaiting = 10_000;

export class BridgeDoor {
  readonly #bridges: Bridges;
  /** Streams that are open, by the name that their client has given them. */
  readonly #streams = new Map<string, { readonly take: ReadLines; close(): void }>();

  constructor(bridges: Bridges) {
    this.#bridges = bridges;
  }

  /** Throws `usage` for what is no offer, and `access_refused` for an environment of another device. */
  async register(
    body: unknown,
    from: { readonly device: string; readonly calledAs: string },
  ): Promise<object> {
    const parsed = bridgeConfigSchema.safeParse(body);
    if (!parsed.success) {
      const { path = [], message = "" } = parsed.error.issues[0] ?? {};
      throw fault("usage", { reason: `Not an offer of a bridge: ${path.join(".")}: ${message}` });
    }
    return this.#bridges.register(parsed.data, from);
  }

  socket(place: ChannelPlace, peer: ClientPeer): Pick<ClientConnection, "receive" | "end"> {
    const channel = this.#open(place, {
      send: (line) => void peer.send(JSON.stringify(line)),
      close: (reason) => peer.close(closeCodes.wrongFrame, reason.slice(0, 100)),
    });
    return {
      receive(message) {
        const said = linesIn(message);
        if (!said || !channel.take(said)) peer.close(closeCodes.wrongFrame, "not the lines of a bridge");
      },
      end: channel.end,
    };
  }

  /** The half that tells; it ends when the other side has gone. */
  stream(place: ChannelPlace, name: string): EventSource {
    return async (signal) => {
      const told = new Queue<string>({ limit: maxWaiting });
      const channel = this.#open(place, {
        send: (line) => {
          if (!told.push(`data: ${JSON.stringify(line)}\n\n`)) told.end();
        },
        close: () => told.end(),
      });
      const key = keyOf(place, name);
      this.#streams.get(key)?.close();
      const mine = { take: channel.take, close: () => told.end() };
      this.#streams.set(key, mine);
      const leave = (): void => {
        told.end();
        channel.end();
        if (this.#streams.get(key) === mine) this.#streams.delete(key);
      };
      signal.addEventListener("abort", leave, { once: true });
      return told;
    };
  }

  /** The half that is told. Throws `session_closed` where nobody listens by this name, and `usage` for what is no line. */
  post(place: ChannelPlace, name: string, body: unknown): void {
    const stream = this.#streams.get(keyOf(place, name));
    if (!stream) throw fault("session_closed");
    const said = isObject(body) ? body["lines"] : undefined;
    if (!Array.isArray(said) || !stream.take(said)) {
      stream.close();
      throw fault("usage", { reason: "Not the lines of a bridge." });
    }
  }

  /** What comes before it is open waits. */
  #open({ kind, id, device }: ChannelPlace, end: ChannelEnd): { take: ReadLines; end(): void } {
    if (kind === "ingress")
      return receiving(this.#bridges.openIngress({ session: id, device }, end), ingressLine);
    const waiting: EnvironmentLine[] = [];
    let opened: LinesReceiver<EnvironmentLine> | undefined;
    let isEnded = false;
    void this.#bridges.openEnvironment({ environment: id, device }, end).then((receiver) => {
      if (!receiver) return end.close("there is no such environment");
      if (isEnded) return receiver.end();
      opened = receiver;
      receiver.receive(waiting.splice(0));
    });
    const late: LinesReceiver<EnvironmentLine> = {
      receive: (lines) => (opened ? opened.receive(lines) : void waiting.push(...lines)),
      end: () => {
        isEnded = true;
        opened?.end();
      },
    };
    return receiving(late, environmentLine);
  }
}

function receiving<Line>(
  receiver: LinesReceiver<Line>,
  read: (said: unknown) => Line | undefined,
): { take: ReadLines; end(): void } {
  return {
    take(said) {
      const lines = said.flatMap((one) => read(one) ?? []);
      if (lines.length < said.length) return false;
      receiver.receive(lines);
      return true;
    },
    end: () => receiver.end(),
  };
}

const ingressLine = (said: unknown): IngressLine | undefined => ingressLineSchema.safeParse(said).data;
const environmentLine = (said: unknown): EnvironmentLine | undefined =>
  environmentLineSchema.safeParse(said).data;

const keyOf = ({ kind, id, device }: ChannelPlace, name: string): string => `${kind} ${id} ${device} ${name}`;

/** Undefined where one of them is no JSON. */
function linesIn(message: string): unknown[] | undefined {
  try {
    return message.split("\n").map((line): unknown => JSON.parse(line));
  } catch {
    return undefined;
  }
}
