/**
 * The text of PDF files. A PDF is a program of a kind and may be made to never end, so it is read in a thread with a
 * limit of time and memory, which is ended when either is used up. The library is loaded there, and only then.
 */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { no } from "../../kernel/result.ts";
import type { Documents } from "../../ports/workspace.ts";

const maxMs = 20_000;
const maxHeapMb = 512;

type PdfOutcome = Awaited<ReturnType<Documents["pdfText"]>>;

export function nodeDocuments(): Documents {
  return { pdfText: (request, signal) => readPdf(request, signal) };
}

/** Plain JavaScript as text: a thread needs a file or a text, and where our files are depends on how Keel was built. */
const program = `
const { parentPort, workerData } = require("node:worker_threads");
const read = async ({ library, bytes, first, last }) => {
  const { getDocumentProxy } = await import(library);
  const pdf = await getDocumentProxy(bytes, { verbosity: 0, isEvalSupported: false, stopAtErrors: false });
  const pages = [];
  for (let number = first; number <= Math.min(last, pdf.numPages); number++) {
    const { items } = await (await pdf.getPage(number)).getTextContent();
    pages.push(items.map((item) => (item.str ?? "") + (item.hasEOL ? "\\n" : "")).join(""));
  }
  return { ok: true, totalPages: pdf.numPages, pages };
};
read(workerData).then(
  (outcome) => parentPort.postMessage(outcome),
  (error) => parentPort.postMessage({ ok: false, why: error?.name ?? "Error" }),
);
`;

const libraryUrl = (): string => pathToFileURL(createRequire(import.meta.url).resolve("unpdf")).href;

async function readPdf(
  { bytes, first, last }: Parameters<Documents["pdfText"]>[0],
  signal: AbortSignal,
): Promise<PdfOutcome> {
  const worker = new Worker(program, {
    eval: true,
    workerData: { library: libraryUrl(), bytes: new Uint8Array(bytes), first, last },
    env: {},
    // What a library prints is no part of any protocol of ours.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  try {
    return await answerOf(worker, signal);
  } finally {
    await worker.terminate();
  }
}

function answerOf(worker: Worker, signal: AbortSignal): Promise<PdfOutcome> {
  return new Promise((resolve) => {
    const settle = (outcome: PdfOutcome): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", interrupt);
      resolve(outcome);
    };
    const interrupt = (): void => settle(no("Reading the PDF was interrupted."));
    const timer = setTimeout(
      () => settle(no(`Reading the PDF took longer than ${maxMs / 1_000} s; ask for fewer pages.`)),
      maxMs,
    );
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    worker.once("message", (outcome: PdfOutcome) => settle(outcome.ok ? outcome : no(sayError(outcome.why))));
    worker.once("error", (error) => settle(no(sayError(error.name))));
    worker.once("exit", () => settle(no("Reading the PDF ended without a result.")));
  });
}

/** By the library's names of errors. */
function sayError(name: string): string {
  if (name === "PasswordException") return "The PDF is protected by a password.";
  if (name === "InvalidPDFException") return "The PDF is damaged or is none.";
  return `The PDF cannot be read (${name}).`;
}
