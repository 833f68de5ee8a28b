/**
 * The files of the browser app. What is in its folder is read as a list once, and only what is in the list is served: no
 * path leads anywhere else. It holds no data, so that it may load before anybody was let in, and then says how to enter.
 */
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { pagePaths } from "../../protocol/page-paths.ts";
import { fieldsIn } from "./routes.ts";

export type WebPages = {
  /** Undefined for a path that is no page and no file of it. */
  find(path: string): Promise<PageFile | undefined>;
};

export type PageFile = {
  readonly file: string;
  readonly type: string;
  readonly bytes: number;
  /** Its name changes with its content. */
  readonly isLasting: boolean;
  readonly tag: string;
  /** The same, made smaller when it was built. */
  readonly smaller: ReadonlyMap<PageEncoding, { readonly file: string; readonly bytes: number }>;
};

/** Best first, with the ending that such a file has. */
const encodings = { br: ".br", gzip: ".gz" } as const;
type PageEncoding = keyof typeof encodings;

const index = "/index.html";

export const builtPages = (): string =>
  path.join(path.dirname(createRequire(import.meta.url).resolve("keel/package.json")), "dist/web");

export function openPages(folder = builtPages()): WebPages {
  let known: { readonly builtAt: number; readonly files: Promise<ReadonlyMap<string, PageFile>> } | undefined;
  return {
    async find(asked) {
      const isView = pagePaths.some((pattern) => fieldsIn(pattern, asked) !== undefined);
      // A build beside a running server replaces all of it.
      if (isView || !known) {
        const builtAt = await stat(path.join(folder, index)).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        );
        if (known?.builtAt !== builtAt) known = { builtAt, files: readFolder(folder) };
      }
      const files = await known?.files;
      return files?.get(isView ? index : asked);
    },
  };
}

/** Empty where nothing was built. */
async function readFolder(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = new Map<string, { readonly bytes: number; readonly changedAt: number }>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const { size, mtimeMs } = await stat(file);
    sizes.set(file, { bytes: size, changedAt: mtimeMs });
  }
  const files = new Map<string, PageFile>();
  for (const [file, { bytes, changedAt }] of sizes) {
    const type = types[path.extname(file)];
    if (type === undefined) continue;
    const smaller = new Map<PageEncoding, { file: string; bytes: number }>();
    for (const name of ["br", "gzip"] as const) {
      const found = sizes.get(file + encodings[name]);
      if (found) smaller.set(name, { file: file + encodings[name], bytes: found.bytes });
    }
    const name = `/${path.relative(folder, file).split(path.sep).join("/")}`;
    const isLasting = /^\/assets\/[^/]+-[\w-]{8}\.\w+$/.test(name);
    files.set(name, { file, type, bytes, isLasting, tag: `"${bytes}-${Math.round(changedAt)}"`, smaller });
  }
  return files;
}

/** What is of no kind that is here is not served. */
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
};

export async function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  page: PageFile,
): Promise<void> {
  response.setHeader("cache-control", page.isLasting ? "max-age=31536000, immutable" : "no-cache");
  response.setHeader("vary", "accept-encoding");
  response.setHeader("etag", page.tag);
  if (request.headers["if-none-match"] === page.tag) return void response.writeHead(304).end();
  const accepted = new Set(
    (request.headers["accept-encoding"] ?? "").split(",").map((name) => name.trim().toLowerCase()),
  );
  const encoding = ([...page.smaller.keys()] as PageEncoding[]).find((name) => accepted.has(name));
  const { file, bytes } = (encoding && page.smaller.get(encoding)) ?? page;
  if (encoding) response.setHeader("content-encoding", encoding);
  response.writeHead(200, { "content-type": page.type, "content-length": bytes });
  if (request.method === "HEAD") return void response.end();
  await pipeline(createReadStream(file), response);
}

/** In place of a page that was not built. */
export function sayNoPage(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
  response.end("A Keel server. Its page is not part of this build; programs come in with a secret.\n");
}
