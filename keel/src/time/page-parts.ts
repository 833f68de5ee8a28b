/** The frame of pages that need nothing else: no script runs on them, and nothing is fetched. */

const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function wholePage(title: string, style: string, body: readonly string[]): string {
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(title)}</title>`,
    `<style>${style}</style>`,
    "</head>",
    `<body><h1>${escaped(title)}</h1>`,
    ...body,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
