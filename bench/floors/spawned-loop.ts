/** The least program that a shell could start for the same work: it asks, reads the file that is asked for, asks again. */
import { bareAsk, bareLoop, http } from "../bare-loop.ts";

const { url, firstBytes, bytesPerTurn } = JSON.parse(process.argv[2] ?? "{}");
const agent = new http.Agent({ keepAlive: true });
await bareLoop({ url, session: "s", firstBytes, bytesPerTurn }, bareAsk(url, agent));
agent.destroy();
