// A process with one session that sends its spans, to be killed: home, project and the model's address are its environment.
import { openHome } from "../../keel/src/app/home.ts";
import { text } from "../../keel/src/protocol/message.ts";

const [session = "", words = ""] = process.argv.slice(2);
const { env } = process;
const cwd = process.cwd();
const home = openHome({ env, cwd });
const options = { version: "0", cwd, env, model: "claude-sonnet-4-5", asks: "refused" as const };
const known = await home.sessions.find(session);
const open = await home.open({
  ...options,
  which: known ? { kind: "resume", from: { session } } : { kind: "new", id: session },
});
process.stdout.write("open\n");
if (words !== "") await open.submit({ type: "input", content: [text(words)] });
await open.idle();
await open.close("ended");
await home.close();
