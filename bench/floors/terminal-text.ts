/** The least program that shows a reply on a terminal: a line is sent, and what comes back is written as it comes. */
import http from "node:http";
import { createInterface } from "node:readline";
import { bareStart } from "../bare-loop.ts";

const { url, firstBytes } = JSON.parse(process.argv[2] ?? "{}");
const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "" });
process.stdout.write("ready> ");

lines.on("line", () => {
  const request = http.request(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "bench" },
  });
  request.on("response", (response) => {
    let rest = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      rest += chunk;
      let from = 0;
      for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n", from)) {
        const record = rest.slice(from, end);
        from = end + 2;
        const event = JSON.parse(record.slice(record.indexOf("data: ") + "data: ".length));
        if (event.type === "content_block_delta") process.stdout.write(event.delta.text);
      }
      rest = rest.slice(from);
    });
    response.on("end", () => process.stdout.write("\nready> "));
  });
  request.end(`${bareStart({ url, session: "s", firstBytes, bytesPerTurn: 0 })}]}`);
});
