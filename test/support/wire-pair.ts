// Two ends of a wire in one process, that can be cut: messages arrive in order, a turn of the loop later.
import type { ClientConnection, ClientPeer } from "../../keel/src/hosts/server/connection.ts";
import type { MessageWire } from "../../keel/src/transport/message-wire.ts";

export type WirePair = { readonly wire: MessageWire; cut(reason?: string): void };

/** `serve` makes the server's end; it is told of messages in the order in which they were sent. */
export function wirePair(serve: (peer: ClientPeer) => ClientConnection): WirePair {
  const closed = Promise.withResolvers<string>();
  let listener: (message: string) => void = () => undefined;
  let isCut = false;
  const cut = (reason = "cut"): void => {
    if (isCut) return;
    isCut = true;
    server.end();
    closed.resolve(reason);
  };
  const later = (work: () => void): void => void setImmediate(() => isCut || work());
  const server = serve({
    send(message) {
      later(() => listener(message));
      return true;
    },
    hasRoom: () => true,
    drained: async () => true,
    close: (_, reason) => cut(reason),
  });
  return {
    wire: {
      send: (message) => later(() => server.receive(message)),
      onMessage: (heard) => {
        listener = heard;
      },
      closed: closed.promise,
      close: () => cut("closed"),
    },
    cut,
  };
}
