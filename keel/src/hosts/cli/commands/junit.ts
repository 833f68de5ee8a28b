/** Outcomes as JUnit writes them, which every CI reads. */

export type JunitCase = {
  readonly name: string;
  readonly ms: number;
  /** What went wrong; undefined where nothing did. */
  readonly failure?: string | undefined;
};

export function junit(suite: string, cases: readonly JunitCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const rows = cases.map(({ name, ms, failure }) => {
    const start = `  <testcase classname="${text(suite)}" name="${text(name)}" time="${seconds(ms)}"`;
    if (failure === undefined) return `${start}/>`;
    const message = failure.trim().split("\n")[0] ?? "";
    return `${start}>\n    <failure message="${text(message)}">${text(failure)}</failure>\n  </testcase>`;
  });
  const all = seconds(cases.reduce((sum, { ms }) => sum + ms, 0));
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuite name="${text(suite)}" tests="${cases.length}" failures="${failures}" time="${all}">`,
    ...rows,
    `</testsuite>`,
    "",
  ].join("\n");
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

/** What XML cannot hold at all is left out. */
const text = (words: string): string =>
  words
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML forbids.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
