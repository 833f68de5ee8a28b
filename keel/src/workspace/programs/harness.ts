/**
 * What runs inside, around the program: lines of JSON in and out. It is not what confines: the namespaces are, and whatever
 * it says is held to be the program's own words.
 */
export const harness = `const { stdin, stdout } = process;
const waiting = new Map();
let count = 0;
const send = (line) => stdout.write(JSON.stringify(line) + "\\n");
const call = (name, input = {}) =>
  new Promise((resolve, reject) => {
    waiting.set(++count, { resolve, reject });
    send({ call: count, name: String(name), input });
  });
const tools = new Proxy({}, { get: (_, name) => (typeof name === "string" ? (input) => call(name, input) : undefined) });
const shown = (value) => (typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)));
const print = (...values) => void send({ print: values.map(shown).join(" ") });
const end = (line) => stdout.write(JSON.stringify(line) + "\\n", () => process.exit(0));
const run = (code) => {
  const Program = Object.getPrototypeOf(async () => {}).constructor;
  return new Program("tools", "call", "console", code)(tools, call, { log: print, error: print, warn: print, info: print });
};
let text = "";
stdin.setEncoding("utf8").on("data", (chunk) => {
  text += chunk;
  for (let at = text.indexOf("\\n"); at >= 0; at = text.indexOf("\\n")) {
    const line = JSON.parse(text.slice(0, at));
    text = text.slice(at + 1);
    if (line.code !== undefined)
      Promise.resolve()
        .then(() => run(line.code))
        .then(
          (value) => end({ done: value === undefined ? "" : shown(value) }),
          (error) => end({ failed: String(error?.stack ?? error).slice(0, 4000) }),
        );
    const asked = waiting.get(line.id);
    waiting.delete(line.id);
    if (line.failed) asked?.reject(new Error(line.text));
    else asked?.resolve(line.text);
  }
}).on("end", () => process.exit(1));
process.on("uncaughtException", (error) => end({ failed: String(error?.stack ?? error).slice(0, 4000) }));
process.on("unhandledRejection", (error) => end({ failed: String(error?.stack ?? error).slice(0, 4000) }));`;
