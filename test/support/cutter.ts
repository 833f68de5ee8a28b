/** A way to a server on 127.0.0.1 that can be cut as real ones are: at once, after a question, or into silence. */
import { connect, createServer, type Socket } from "node:net";

export type Cutter = {
  readonly port: number;
  /** Ends every connection that there is. */
  cut(): void;
  /** `lose`: the next answer does not arrive, and its connection ends. `silent`: nothing arrives any more, and nothing ends. */
  how: "open" | "lose" | "silent" | "refuse";
  /** Each piece comes so much later. */
  delayMs: number;
  readonly lost: number;
  close(): Promise<void>;
};

export async function openCutter(to: number): Promise<Cutter> {
  const sockets = new Set<Socket>();
  let lost = 0;
  const server = createServer((near) => {
    if (cutter.how === "refuse") return void near.destroy();
    const far = connect(to, "127.0.0.1");
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const each of [near, far]) {
      sockets.add(each);
      each.on("error", end);
      each.on("close", () => {
        sockets.delete(each);
        end();
      });
      each.setNoDelay(true);
    }
    const pass = (part: Buffer, other: Socket): void => {
      const send = (): void => void (other.destroyed || other.write(part));
      if (cutter.delayMs > 0) setTimeout(send, cutter.delayMs);
      else send();
    };
    near.on("data", (part) => cutter.how !== "silent" && pass(part, far));
    far.on("data", (part) => {
      if (cutter.how === "silent") return;
      if (cutter.how === "lose") {
        lost += 1;
        cutter.how = "open";
        return end();
      }
      pass(part, near);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const cutter: Cutter = {
    port: typeof address === "object" && address ? address.port : 0,
    how: "open",
    delayMs: 0,
    get lost() {
      return lost;
    },
    cut() {
      for (const each of [...sockets]) each.destroy();
    },
    close() {
      cutter.cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return cutter;
}
