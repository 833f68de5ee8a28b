/** The grammar of bash as a port: a parser in WebAssembly, loaded when the first command comes. */
import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import type { Parser, TreeCursor } from "web-tree-sitter";
import type { Grammar, SyntaxNode } from "../../ports/shell.ts";

/** A text longer than this is not parsed: nothing that long is approved by what it is made of. */
const maxCharacters = 10_000;
/** Nodes that a text of that length can have, and then some. */
const maxNodes = 40_000;
/** A list of commands is a tree that leans to one side: as deep as it is long. */
const maxDepth = 2_000;

/**
 * How often the parser may report before it is stopped: it does so every hundred operations or so. A script of the
 * longest length takes about 120 reports; some texts would take seconds.
 */
const maxReports = 250;
/**
 * Between two reports there may lie much work: a long word of signs is read to its end again and again. In processor
 * time, so that a busy machine changes no answer; a script of the longest length takes a third of it.
 */
const maxProcessorMs = 30;

/** One for a process: the parser's module is one for all. */
export function openGrammar(): Grammar {
  let loading: Promise<Parser> | undefined;
  return {
    async parse(text) {
      if (text.length > maxCharacters) return undefined;
      try {
        loading ??= load();
        return parseWith(await loading, text);
      } catch {
        return undefined; // Whatever is wrong with the parser, the text counts as not understood.
      }
    },
  };
}

function parseWith(
  parser: Parser,
  text: string,
  { maxMs = maxProcessorMs }: { maxMs?: number } = {},
): SyntaxNode | undefined {
  let reports = 0;
  const startedAt = processorMs();
  const isTooMuch = (): boolean => ++reports > maxReports || processorMs() - startedAt > maxMs;
  const tree = parser.parse(text, null, { progressCallback: isTooMuch });
  if (!tree) {
    // It would go on where it was stopped, with another text.
    parser.reset();
    return undefined;
  }
  const cursor = tree.walk();
  try {
    return plainTree(cursor, { nodes: maxNodes }, 0);
  } finally {
    cursor.delete();
    tree.delete();
  }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * The parser's functions are as large as its tables. Making them faster takes V8 half a gigabyte and more time than a
 * session ever spends in them, so they stay as they are first translated: at their first call, which is here.
 */
async function load(): Promise<Parser> {
  const isChosen = process.execArgv.some((flag) => flag.includes("wasm") || flag.includes("liftoff"));
  if (isChosen) return loadParser();
  for (const flag of tiering) setFlagsFromString(`--no-${flag}`);
  try {
    const parser = await loadParser();
    // Translating takes its time, and it must be done when a command comes.
    parseWith(parser, everyConstruct, { maxMs: Number.POSITIVE_INFINITY });
    return parser;
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

async function loadParser(): Promise<Parser> {
  const { Parser, Language } = await import("web-tree-sitter");
  const require = createRequire(import.meta.url);
  // Named, since a bundle does not stand beside it.
  await Parser.init({ locateFile: () => require.resolve("web-tree-sitter/web-tree-sitter.wasm") });
  const language = await Language.load(
    require.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm"),
  );
  const parser = new Parser();
  parser.setLanguage(language);
  return parser;
}

/** Undefined when there is more of it than can be looked at. */
function plainTree(cursor: TreeCursor, budget: { nodes: number }, depth: number): SyntaxNode | undefined {
  if (budget.nodes-- <= 0 || depth > maxDepth) return undefined;
  const { nodeType: type, startIndex: start, endIndex: end } = cursor;
  const isBroken = type === "ERROR" || cursor.nodeIsMissing;
  const children: SyntaxNode[] = [];
  if (cursor.gotoFirstChild()) {
    do {
      // Signs and words of the language itself tell nothing that the nodes around them do not, unless they are missing.
      if (!cursor.nodeIsNamed && !cursor.nodeIsMissing) continue;
      const child = plainTree(cursor, budget, depth + 1);
      if (!child) return undefined;
      children.push(child);
    } while (cursor.gotoNextSibling());
    cursor.gotoParent();
  }
  return { type, start, end, isBroken, children };
}
