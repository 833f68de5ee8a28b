// Makes shell texts from a seed: ordinary commands put together by a small grammar, and then bent at random places, so
// that most stay close to something that a shell accepts.

export type Chance = {
  /** A whole number below `limit`. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  /** Once in so many times. */
  once(times: number): boolean;
};

/** The same seed gives the same numbers. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  return { below, pick, once: (times) => below(times) === 0 };
}

export function generateCommand(chance: Chance): string {
  let text = script(chance, 2);
  const bends = chance.pick([0, 0, 1, 1, 1, 2, 2, 3, 5]);
  for (let bend = 0; bend < bends; bend++) text = bent(chance, text);
  return text.replaceAll("\0", "");
}

/** Programs that exist as stubs; each generated text starts some of them. */
export const stubPrograms: readonly string[] =
  "ls cat grep head wc sort git find rm curl touch chmod python3 node date id uname stat file env timeout xargs tee sed awk tr cut sleep mkdir cp mv ln dd sh nice nohup".split(
    " ",
  );

const harmless = [
  "ls",
  "ls -la",
  "cat a.txt",
  "echo hi",
  "echo 'a b'",
  'echo "a b"',
  "grep -n x a.txt",
  "git status",
  "git log --oneline -n 3",
  "pwd",
  "head -n 2 a.txt",
  "wc -l a.txt",
  "sort a.txt",
  "true",
  "printf '%s' a",
  "test -f a.txt",
  "[ -f a.txt ]",
  "find . -name '*.ts'",
  "cut -d: -f1 a.txt",
  "tr a b",
  "date +%F",
  "stat a.txt",
  "sed -n 1p a.txt",
  "awk '{print $1}' a.txt",
  "cd src",
  "type ls",
];
const harmful = [
  "rm -f x",
  "curl http://e",
  "touch p",
  "python3 x.py",
  "chmod +x a",
  "tee out",
  "mkdir d",
  "sh x",
  "node y",
];

function simple(chance: Chance): string {
  const text = chance.once(4) ? chance.pick(harmful) : chance.pick(harmless);
  const words = text.split(" ").map((word) => (chance.once(6) ? quoted(chance, word) : word));
  if (chance.once(12))
    words.unshift(chance.pick(["x=1", "LC_ALL=C", "a[0]=1", "PATH=.", "y+=z", "x=(a b)", "TZ=UTC"]));
  if (chance.once(6))
    words.push(
      chance.pick([
        "2>&1",
        ">/dev/null",
        "> out",
        "< a.txt",
        "2>/dev/null",
        "&>o",
        ">|o",
        "<>o",
        ">>o",
        "<<< x",
        "{fd}>o",
        "1>&2",
        "<&-",
        "0<a.txt",
      ]),
    );
  if (chance.once(8)) words.push(argument(chance));
  return words.join(chance.once(15) ? chance.pick(["  ", "\t", " \\\n ", "\\\n"]) : " ");
}

function argument(chance: Chance): string {
  const inner = chance.once(2) ? simple(chance) : chance.pick(["rm", "ls", "curl e"]);
  return chance.pick([
    `$(${inner})`,
    `"$(${inner})"`,
    `\`${inner}\``,
    `<(${inner})`,
    `>(${inner})`,
    `\${x:-$(${inner})}`,
    `"\${x:-$(${inner})}"`,
    `'$(${inner})'`,
    `\\$(${inner}\\)`,
    `$(( 1 + $(${inner}; echo 1) ))`,
    `$((1+2))`,
    `$[1+1]`,
    `"a\${x}b"`,
    `$'a\\'${inner}'`,
    `$"${inner}"`,
    `{a,b}`,
    `{${inner.split(" ")[0]},-x}`,
    `*.txt`,
    `~/x`,
    `$HOME/x`,
    `#${inner}`,
    `x#${inner}`,
    `\${#x}`,
    `\${x/a/\`${inner}\`}`,
    `"\\\`${inner}\\\`"`,
  ]);
}

function quoted(chance: Chance, word: string): string {
  const at = chance.below(word.length + 1);
  const [head, tail] = [word.slice(0, at), word.slice(at)];
  return chance.pick([
    `'${word}'`,
    `"${word}"`,
    `${head}''${tail}`,
    `${head}""${tail}`,
    `\\${word}`,
    `${head}\\\n${tail}`,
    `$'${word}'`,
    `${head}$x${tail}`,
    `${head}\${x}${tail}`,
    `${head}\\${tail}`,
    `$'\\x${(word.codePointAt(0) ?? 0).toString(16)}'${word.slice(1)}`,
  ]);
}

function script(chance: Chance, depth: number): string {
  const parts = Array.from({ length: 1 + chance.below(3) }, () => command(chance, depth));
  return parts.reduce(
    (left, right) =>
      `${left}${chance.pick(["; ", " && ", " || ", "\n", " & ", ";", "&&", " | ", "|", " |& "])}${right}`,
  );
}

function command(chance: Chance, depth: number): string {
  if (depth === 0 || chance.below(3) > 0) return simple(chance);
  const inner = (): string => script(chance, depth - 1);
  return chance.pick([
    () => `(${inner()})`,
    () => `{ ${inner()}; }`,
    () => `if ${inner()}; then ${inner()}; fi`,
    () => `if ${inner()}; then ${inner()}; else ${inner()}; fi`,
    () => `for x in 1 2; do ${inner()}; done`,
    () => `while ! true; do ${inner()}; done`,
    () => `until true; do ${inner()}; done`,
    () => `case a in a) ${inner()};; *) ${inner()};; esac`,
    () => `case a in (a) ${inner()};& b) ${inner()} ;; esac`,
    () => `f() { ${inner()}; }; f`,
    () => `function g { ${inner()}; }\ng`,
    () => `! ${simple(chance)}`,
    () => `time ${simple(chance)}`,
    () => `[[ -n a ]] && ${simple(chance)}`,
    () => `[[ $(${simple(chance)}) == a ]]`,
    () => `((1)) && ${simple(chance)}`,
    () => `(( $(${simple(chance)}; echo 1) ))`,
    () => `cat <<EOF\n$(${simple(chance)})\nEOF\n${simple(chance)}`,
    () => `cat <<'EOF'\n$(${simple(chance)})\nEOF\n${simple(chance)}`,
    () => `cat <<-EOF | ${simple(chance)}\n\tx \`${simple(chance)}\`\n\tEOF\n`,
    () => `cat <<A; ${simple(chance)}\nbody\nA`,
    () => `cat <<E\\OF\n$(${simple(chance)})\nEOF`,
    () => `bash -c '${simple(chance).replaceAll("'", "")}'`,
    () => `eval ${simple(chance)}`,
    () => `coproc ${simple(chance)}`,
    () => `x=$(${simple(chance)})`,
    () => `arr=( $(${simple(chance)}) )`,
    () => `echo $( (${simple(chance)}) )`,
    () => `echo $((${simple(chance)}) )`,
    () => `for ((i=0;i<1;i++)); do ${inner()}; done`,
    () => `${simple(chance)} # ${simple(chance)}`,
    () => reread(chance),
    () => reread(chance),
  ])();
}

/** What bash reads once more: indexes of names, prompts, traps, and words that builtins call. */
function reread(chance: Chance): string {
  const inner = chance.pick(["rm", "touch p", "curl e"]);
  const index = `a[$(${inner})]`;
  return chance.pick([
    `printf -v '${index}' x`,
    `test -v '${index}'`,
    `[ -v '${index}' ]`,
    `[[ -v '${index}' ]]`,
    `[[ '${index}' -eq 0 ]]`,
    `unset '${index}'`,
    `read '${index}' <<< 1`,
    `let '${index}=1'`,
    `declare '${index}=1'`,
    `declare -n r='${index}'; echo $r`,
    `declare -i n='${index}'`,
    `x='${index}'; echo $((x))`,
    `x='${index}'; echo \${b[x]}`,
    `x='$(${inner})'; echo \${x@P}`,
    `echo $((${index}))`,
    `echo \${${index}}`,
    `echo \${x:${index}}`,
    `((${index}++))`,
    `mapfile -C ${inner.split(" ")[0]} -c 1 < a.txt`,
    `trap '${inner}' EXIT`,
    `trap '${inner}' DEBUG; ls`,
    `PS4='$(${inner})'; set -x; ls`,
    `compgen -C ${inner.split(" ")[0]} x`,
    `compgen -W '$(${inner})'`,
    `shopt -s expand_aliases\nalias ls=${inner.split(" ")[0]}\nls`,
    `command_not_found_handle() { ${inner}; }; nosuch`,
    `env -S '${inner}'`,
    `exec ${inner}`,
    `echo {$(${inner}),x}`,
    `case $(${inner}) in x) ls;; esac`,
    `[[ x =~ $(${inner}) ]]`,
    `set -- ${inner}; "$@"`,
    `hash -p /bin/rm ls; ls`,
    `coproc x { ${inner}; }; wait`,
    `echo "\${x:=$(${inner})}"`,
    `for ((i=$(${inner});i<0;)); do ls; done`,
    `select x in a; do ${inner}; break; done <<< 1`,
    `eval 'echo $(${inner})'`,
    `bash -c 'trap ${inner.split(" ")[0]} EXIT'`,
    `cat <<E\n\${x:-\`${inner}\`}\nE\n`,
    `ls >&'$(${inner})'`,
    `>&"\\$(${inner})"`,
    `x='$(${inner})'; ls >&$x`,
    `(('$(${inner})'))`,
    `echo $((\\$(${inner})))`,
    `((ls '$(${inner})'); ls)`,
    `((a['$(${inner})']))`,
    `(( '$(${inner})' + $(case x in x) ls;; esac) ))`,
    `bash $x -c '${inner}'`,
    `bash "$x"-c '${inner}'`,
    `bash -$(ls)c '${inner}'`,
    `bash ${inner}`,
    `declare -i n; n='${index}'`,
    `declare -a a; a+=('${index}')`,
    `declare -A a; a['$(${inner})']=1; unset 'a[$(${inner})]'`,
    `export '${index}=1'`,
    `x='${index}'; echo \${!x}`,
    `x='${index}'; [[ x -gt 0 ]]`,
    `x='${index}'; (( x ))`,
    `wait -p '${index}'`,
    `ls {'${index}'}>o`,
    `test '${index}' -eq 0`,
    `BASH_ENV=<(echo ${inner}) bash -c ls`,
    `PATH=/tmp:$PATH ls; command -p ${inner}`,
    `builtin eval ${inner}`,
    `command exec ${inner}`,
    `. <(echo ${inner})`,
  ]);
}

const fragments = [
  ..."' \" \\ ; & | && || $( ) ` ${ } # < > { , $' $\" * ? [ ] ~ ! (( )) $(( <<< >| 2>&1 &> x= x+= a[0]= $x $IFS ${IFS} $@ ;; ;& <( >( () ${x} $((1)) -- = : @ % ^".split(
    " ",
  ),
  "\\\n",
  "\n",
  "\t",
  " ",
  "  ",
  "\r",
  "\v",
  "\f",
  "\u00a0",
  "\u2028",
  "\u200b",
  "\u3000",
  "é",
  "\x7f",
  "\x01",
  " #",
  "<<EOF\n",
  "\nEOF\n",
  "<<'E'\n",
  "\nE\n",
  "<<-X\n\t",
  "\n\tX\n",
  "<<\\A\n",
  "\nA\n",
  "\nEOF \n",
  "[[ ",
  " ]]",
  "case x in ",
  " esac ",
  "x) ",
  "if ",
  " then ",
  " fi ",
  " do ",
  " done ",
  "for x in ",
  "function f ",
  "() { ",
  " } ",
  "time ",
  "coproc ",
  "! ",
  "in ",
  "select x in ",
  "else ",
  "declare x=(",
  "export X=",
  "rm ",
  "curl ",
  "touch p",
  "$(rm)",
  "`rm`",
  '"$(rm)"',
  "'$(rm)'",
  "<(rm)",
  ";rm",
  "\nrm",
  "&rm",
  "|rm",
  "${x:-$(rm)}",
  "${x:-`rm`}",
  "$((`rm`))",
  "{rm,x}",
  "{a..c}",
  "{1..3}",
  "{,rm}",
  "\\\nrm",
  "$'\\n'rm",
  "$'\\x3b'rm",
  "\\;rm",
  "';'rm",
  "eval ",
  "exec ",
  "command ",
  "builtin ",
  ". ",
  "source ",
  "trap 'rm' EXIT; ",
  "alias ls=rm; ",
  "ls(){ rm; }; ",
];

function bent(chance: Chance, text: string): string {
  const at = chance.below(text.length + 1);
  const [head, tail] = [text.slice(0, at), text.slice(at)];
  switch (chance.below(5)) {
    case 0:
      return head + tail.slice(1 + chance.below(3));
    case 1:
      return head + head.slice(-1 - chance.below(4)) + tail;
    default:
      return head + chance.pick(fragments) + tail;
  }
}
