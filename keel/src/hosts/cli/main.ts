// The command line: reads the arguments and hands over to what they ask for.
import manifest from "../../../package.json" with { type: "json" };

const USAGE_EXIT = 64;

export async function main(): Promise<void> {
  const [first] = process.argv.slice(2);
  if (first === "--version" || first === "-V") {
    process.stdout.write(`${manifest.version}\n`);
    return;
  }
  process.stderr.write("keel: only --version is built so far.\n");
  process.exitCode = USAGE_EXIT;
}
