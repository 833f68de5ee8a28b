/** Programs that show, count, cut, sort and compare text. */
import { coreutils, nothingBy, type ReadOnlyProgram, rowOf, utilLinux } from "./reader.ts";

/** Shows what its operands hold; where it `shows`, none of its options does harm. */
const reads = rowOf("contents", coreutils);
const shows = rowOf("contents", coreutils, { isOpen: true });
const takesText = rowOf("text", coreutils, { isOpen: true });
// Not `-c`: it opens whatever files its list names.
const sums = shows("-b -t -z --binary --tag --text --zero");
// Not `-R`: unlike `-r` it follows links, which lead anywhere.
const grep = shows(
  `-E -F -G -P -e! -f< -i -y -v -w -x -c -L -l -m: -o -q -s -b -H -h -n -T -Z -A: -B: -C: -a -I -r -U -z -d: -D: -u -V -#
    --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp! --file< --ignore-case --no-ignore-case
    --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match --files-with-matches
    --max-count: --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label:
    --line-number --initial-tab --null --after-context: --before-context: --context: --group-separator:
    --no-group-separator --text --binary-files: --exclude: --exclude-from< --exclude-dir: --include: --recursive
    --line-buffered --binary --null-data --directories: --devices:`,
  {
    obeys: nothingBy("grep(1): GREP_COLORS only"),
    first: { count: 1, unless: ["-e", "-f", "--regexp", "--file"] },
  },
);
// Scripts that start `grep`.
const grepScript: ReadOnlyProgram = { ...grep, obeys: { ...grep.obeys, starts: ["grep"] } };
const diffutils = nothingBy("GNU diffutils manual: no file is read at the start");

export const textReaders: Readonly<Record<string, ReadOnlyProgram>> = {
  cat: shows(
    "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
  ),
  tac: shows("-b -r -s: --before --regex --separator:"),
  rev: shows("-0 --zero -V -h", { obeys: utilLinux }),
  head: shows("-c! -n! -q -v -z -# --bytes! --lines! --quiet --silent --verbose --zero-terminated"),
  // Not `-f`: it never ends.
  tail: shows("-c! -n! -q -v -z -# --bytes! --lines! --quiet --silent --verbose --zero-terminated"),
  wc: shows("-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total:"),
  nl: shows(
    "-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering: --section-delimiter: --footer-numbering: --header-numbering: --line-increment: --join-blank-lines: --number-format: --no-renumber --number-separator: --starting-line-number: --number-width:",
  ),
  od: shows(
    "-A: -j: -N: -S: -t: -v -w? -a -b -c -d -f -i -l -o -s -x --address-radix: --endian: --skip-bytes: --read-bytes: --strings? --format: --output-duplicates --width? --traditional",
  ),
  hexdump: shows(
    "-b -c -C -d -e: -f< -L? -n: -o -s: -v -x -V -h --one-byte-octal --one-byte-char --canonical --two-bytes-decimal --format: --length: --two-bytes-octal --skip: --no-squeezing --two-bytes-hex",
    { obeys: utilLinux },
  ),
  hd: { options: "-b -c -C -d -n: -o -s: -v -x", operands: "contents", obeys: utilLinux, isOpen: true },
  // A second operand is written to.
  xxd: {
    options:
      "-a -b -c: -C -d -e -E -g: -h -i -l: -n: -o: -p -ps -postscript -plain -s: -u -v -version -cols -len",
    operands: "contents",
    obeys: nothingBy("xxd(1)"),
    most: 1,
  },
  strings: reads(
    "-a -f -n: -t: -o -w -e: -d -s: -# --all --print-file-name --bytes: --radix: --encoding: --include-all-whitespace",
    { obeys: nothingBy("GNU binutils manual, strings: @file is refused here"), takesLists: true },
  ),
  base64: reads("-d -i -w: --decode --ignore-garbage --wrap:", { most: 1 }),
  base32: reads("-d -i -w: --decode --ignore-garbage --wrap:", { most: 1 }),
  cut: shows(
    "-b: -c: -d: -f: -n -s -z --bytes: --characters: --delimiter: --fields: --complement --only-delimited --output-delimiter: --zero-terminated",
  ),
  tr: takesText("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1"),
  // Not `-o`, `-T` and `--compress-program`.
  sort: reads(
    "-b -d -f -g -h -i -k: -M -m -n -R -r -S: -s -t: -u -V -z -c -C --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --random-source< --reverse --sort: --version-sort --batch-size: --check? --debug --key: --merge --stable --buffer-size: --field-separator: --parallel: --unique --zero-terminated",
  ),
  // A second operand is written to.
  uniq: reads(
    "-c -d -D -f: -i -s: -u -w: -z --count --repeated --all-repeated? --group? --skip-fields: --ignore-case --skip-chars: --unique --zero-terminated --check-chars:",
    { most: 1 },
  ),
  comm: reads("-1 -2 -3 -z --check-order --nocheck-order --output-delimiter: --total --zero-terminated", {
    most: 2,
  }),
  join: reads(
    "-a: -e: -i -j: -o: -t: -v: -1: -2: -z --ignore-case --check-order --nocheck-order --header --zero-terminated",
    { most: 2 },
  ),
  paste: shows("-d: -s -z --delimiters: --serial --zero-terminated"),
  fold: shows("-b -s -w: -# --bytes --spaces --width:"),
  fmt: shows(
    "-c -p: -s -t -u -w: -g: -# --crown-margin --prefix: --split-only --tagged-paragraph --uniform-spacing --width: --goal:",
  ),
  expand: shows("-i -t: -# --initial --tabs:"),
  unexpand: shows("-a -t: -# --all --first-only --tabs:"),
  column: shows(
    "-t -s: -o: -c: -x -n: -N: -R: -T: -H: -O: -W: -E: -d -e -J -L -l: --table --separator: --output-separator: --output-width: --fillrows --json --table-columns: --table-name: --table-right: --table-truncate: --table-hide: --table-order: --table-wrap: --table-noextreme: --table-noheadings --table-empty-lines --table-header-repeat -h -V",
    { obeys: utilLinux },
  ),
  tsort: reads("", { most: 1 }),
  shuf: reads("-e -i: -n: -r -z --echo --input-range: --head-count: --repeat --zero-terminated"),
  numfmt: takesText(
    "-d: --delimiter: --field: --format: --from: --from-unit: --grouping --header? --invalid: --padding: --round: --suffix: --to: --to-unit: -z --zero-terminated",
  ),
  md5sum: sums,
  sha1sum: sums,
  sha224sum: sums,
  sha256sum: sums,
  sha384sum: sums,
  sha512sum: sums,
  shasum: shows("-a: -b -t -U -0 --algorithm: --binary --text", {
    obeys: { variables: ["PERL5LIB", "PERL5OPT"], source: "shasum(1) is a script of perl, perlrun(1)" },
  }),
  b2sum: { ...sums, options: `-l: --length: ${sums.options}` },
  cksum: { ...sums, options: `-a: --algorithm: --untagged --raw --base64 ${sums.options}` },
  sum: shows("-r -s --sysv"),
  // Not `-l`: it runs `pr`.
  diff: reads(
    "-q -s -c -C: -u -U: -e -n -y -W: -p -F: -t -T -r -N -x: -X< -i -E -Z -b -w -B -I: -a -d -H -S: -# --normal --brief --report-identical-files --context? --unified? --ed --rcs --side-by-side --width: --left-column --suppress-common-lines --show-c-function --show-function-line: --label: --expand-tabs --initial-tab --tabsize: --recursive --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case --exclude: --exclude-from< --starting-file: --from-file< --to-file< --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --text --strip-trailing-cr --minimal --horizon-lines: --speed-large-files --color? --palette:",
    {
      obeys: diffutils,
      follows: { with: ["-r", "--recursive"], unless: ["--no-dereference"] },
    },
  ),
  cmp: reads("-b -i: -l -n: -s --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent", {
    obeys: diffutils,
    most: 4,
  }),
  grep,
  egrep: grepScript,
  fgrep: grepScript,
  // Not `--pre`, `--hostname-bin` and `-z`: they run programs. Not `-L`: links lead anywhere.
  rg: reads(
    `-n -N -i -S -s -w -x -v -c -l -o -q -F -P -U -e! -f< -g: -t: -T: -A: -B: -C: -m: -M: -d: -j: -r: -u -a -H -I -0 -p -b -E: -V -h -.
      --line-number --no-line-number --ignore-case --smart-case --case-sensitive --word-regexp --line-regexp --invert-match
      --count --count-matches --files --files-with-matches --files-without-match --only-matching --quiet --fixed-strings
      --pcre2 --multiline --multiline-dotall --regexp! --file< --glob: --iglob: --type: --type-not: --type-list --type-add:
      --after-context: --before-context: --context: --max-count: --max-columns: --max-columns-preview --max-depth: --maxdepth:
      --max-filesize: --threads: --replace: --unrestricted --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent
      --no-ignore-global --no-ignore-dot --no-ignore-files --ignore-file< --text --with-filename --no-filename --heading
      --no-heading --column --no-column --color: --colors: --json --vimgrep --stats --sort: --sortr: --trim --null --null-data
      --byte-offset --encoding: --no-messages --no-config --pretty --passthru --path-separator: --context-separator:
      --field-match-separator: --field-context-separator: --crlf --debug --line-buffered --block-buffered --mmap --no-mmap
      --one-file-system --include-zero --engine: --no-unicode --glob-case-insensitive --require-git --no-require-git
      --stop-on-nonmatch`,
    {
      obeys: {
        variables: ["RIPGREP_CONFIG_PATH"],
        source: "rg(1), configuration files: only by that variable, and it may say --pre; .ignore only hides",
      },
      first: { count: 1, unless: ["-e", "-f", "--regexp", "--file", "--files", "--type-list"] },
    },
  ),
};
