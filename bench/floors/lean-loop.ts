/**
 * The same as `spawned-loop`, but without an import statement for `node:http`, which reads all that the module exports and
 * so loads `fetch` beside it: less is not possible in Node, and nobody would write it so.
 */
import { bareAsk, bareLoop, http } from "../bare-loop.ts";

const { url, firstBytes, bytesPerTurn } = JSON.parse(process.argv[2] ?? "{}");
const agent = new http.Agent({ keepAlive: true });
await bareLoop({ url, session: "s", firstBytes, bytesPerTurn }, bareAsk(url, agent));
agent.destroy();
