/**
 * The module of the parser. It is one for a process, since the parser's package keeps it in a variable of its own: two
 * that are made at once would take each other's place. So it is made by loading this file, which happens once.
 */
import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { Language, Parser } from "web-tree-sitter";

/**
 * The parser's functions are as large as its tables. Making them faster takes V8 half a gigabyte and more time than a
 * session ever spends in them, so they stay as they are first translated: at their first call, which is here.
 */
async function load(): Promise<() => Parser> {
  const isChosen = process.execArgv.some((flag) => flag.includes("wasm") || flag.includes("liftoff"));
  if (isChosen) return loadParser();
  for (const flag of tiering) setFlagsFromString(`--no-${flag}`);
  try {
    const newParser = await loadParser();
    // Translating takes its time, and it must be done when a command comes.
    const parser = newParser();
    parser.parse(everyConstruct)?.delete();
    parser.delete();
    return newParser;
  } finally {
    // What the program around Keel translates is not our business.
    for (const flag of tiering) setFlagsFromString(`--${flag}`);
  }
}

const tiering = ["wasm-tier-up", "wasm-dynamic-tiering"];

/** Leads through every large function once. */
const everyConstruct = `
f() { local a=(1 2); readonly b="$1"; return $((a[0] + 0x1f * 2 ** 3)); }
for x in *.ts {1..3}; do [[ $x =~ ^a.*$ && -f "$x" ]] || continue; done; for ((i = 0; i < 3; i++)); do :; done
case "$y" in a|b) echo 'one' ;; *) echo $'two\n' ;; esac; while read -r z; do echo "\${z//a/b} \${#z} \${z:-"d"}"; done < <(ls)
if ! test -e a; then cat <<EOF | sed 's/a/b/' > out 2>&1 &
  \${HOME} $(date +%s) \`id\`
EOF
elif true; then cat <<-'END' >> out; else echo "$(( 1 + 2 ))" <<< "word"; fi
	text
	END
a=1 b+=2 env -i git log --oneline | head -n 5 && (cd / ; unset c) || { declare -a d; select e in f; do break; done; }
`;

async function loadParser(): Promise<() => Parser> {
  const require = createRequire(import.meta.url);
  // Named, since a bundle does not stand beside it.
  await Parser.init({ locateFile: () => require.resolve("web-tree-sitter/web-tree-sitter.wasm") });
  const language = await Language.load(
    require.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm"),
  );
  return () => new Parser().setLanguage(language);
}

/** Makes parsers of bash. */
export const bash: Promise<() => Parser> = load();
