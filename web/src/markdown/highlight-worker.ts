/** Colours for code, in a thread of its own: a long file must not hold up what is typed. */
import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import type { CodeLine, HighlightAnswer, HighlightQuestion } from "./highlight.ts";

const grammars = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  jsonc: () => import("shiki/langs/jsonc.mjs"),
  jsx: () => import("shiki/langs/jsx.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  make: () => import("shiki/langs/make.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
} as const;

/** What people write behind a fence, and the ends of file names. */
const aliases: Readonly<Record<string, keyof typeof grammars>> = {
  cc: "cpp",
  cjs: "javascript",
  console: "bash",
  cs: "csharp",
  cts: "typescript",
  dockerfile: "docker",
  h: "c",
  hpp: "cpp",
  htm: "html",
  js: "javascript",
  kt: "kotlin",
  makefile: "make",
  md: "markdown",
  mjs: "javascript",
  mts: "typescript",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  shellscript: "bash",
  svg: "xml",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash",
};

const isKnown = (name: string): name is keyof typeof grammars => Object.hasOwn(grammars, name);

const prefix = "--tok-";
const theme = createCssVariablesTheme({ name: "keel", variablePrefix: prefix, fontStyle: false });

async function lookUp(
  made: Promise<HighlighterCore>,
  { language, text }: HighlightQuestion,
): Promise<readonly CodeLine[] | null> {
  const wanted = language.toLowerCase();
  const name = isKnown(wanted) ? wanted : aliases[wanted];
  if (!name) return null;
  const highlighter = await made;
  await highlighter.loadLanguage(grammars[name]());
  const lines = highlighter.codeToTokensBase(text, { lang: name, theme: "keel" });
  return lines.map((line) => line.map(({ content, color }) => ({ text: content, look: lookOf(color) })));
}

/** `var(--tok-token-keyword)` → `keyword`; what has the colour of plain text is plain. */
const lookOf = (color = ""): string => /--tok-token-([a-z-]+)/.exec(color)?.[1] ?? "";

const made = createHighlighterCore({
  themes: [theme],
  langs: [],
  engine: createJavaScriptRegexEngine({ forgiving: true }),
});

self.addEventListener("message", ({ data }: MessageEvent<HighlightQuestion>) => {
  const answer = (lines: readonly CodeLine[] | null): void =>
    self.postMessage({ id: data.id, lines } satisfies HighlightAnswer);
  lookUp(made, data).then(answer, () => answer(null));
});
