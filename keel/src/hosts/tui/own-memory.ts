/** What earlier conversations said: the index of this home, brought up to date when it is first asked. */
import type { Home } from "../../app/home.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { OpenOptions } from "../../app/options.ts";
import type { MemorySide } from "./screen/host.ts";

export function ownMemory(home: Home, { id, info }: OpenSession, { env }: OpenOptions): MemorySide {
  let ready: ReturnType<Home["memoryIndex"]> | undefined;
  const index = (): ReturnType<Home["memoryIndex"]> => {
    ready ??= home.memoryIndex({ env, cwd: info.cwd }).then(async (opened) => {
      await opened.catchUp();
      return opened;
    });
    return ready;
  };
  return {
    async search(words, scope) {
      const { found } = await (await index()).search({ words, scope, session: id, cwd: info.cwd, limit: 20 });
      return found.map(({ source, ...one }) => ({
        ...one,
        who: source.kind === "tool" ? source.tool : source.kind,
      }));
    },
    async holds() {
      const { chunks, sessions, embedder } = await (await index()).stats();
      return [
        `${chunks} pieces of ${sessions} sessions`,
        "Type words to look for them.",
        embedder === undefined ? "Found by words; memory.embedder adds meaning." : `By meaning: ${embedder}.`,
        "What the model is told of it by itself is the setting memory.recall.",
      ].join("\n");
    },
    async forget(piece) {
      const { chunks, busy } = await (await index()).forget({ chunks: [piece] });
      if (busy.length === 0) return `Forgotten: ${chunks} pieces. The log of the session says so, and stays.`;
      return busy.includes(id)
        ? "It is of this session, which is open: `keel memory forget` does it when it has ended."
        : "Its session is open elsewhere: nothing was forgotten.";
    },
  };
}
