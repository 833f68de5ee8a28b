/**
 * The least program that anybody would write for the same work: it asks, reads the file that is asked for, asks again.
 * It imports `node:http` as programs do. `lean-loop` is the same without the import statement.
 */
import http from "node:http";
import { bareAsk, bareLoop } from "../bare-loop.ts";

const { url, firstBytes, bytesPerTurn } = JSON.parse(process.argv[2] ?? "{}");
const agent = new http.Agent({ keepAlive: true });
await bareLoop({ url, session: "s", firstBytes, bytesPerTurn }, bareAsk(url, agent));
agent.destroy();
