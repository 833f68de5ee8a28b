/** What went wrong on the way to a web page, in a sentence for the model. By code, never by a message's words. */
import { codeOf } from "../../kernel/fault.ts";

export function sayWebError(thrown: unknown, url: string): string {
  const code = codeOf(thrown);
  const words =
    (code && Object.hasOwn(sentences, code) ? sentences[code] : undefined) ??
    (code && /^Z_|^ERR__ERROR/.test(code) ? "sent a body that cannot be unpacked" : undefined);
  if (words) return `${url} ${words}.`;
  if (code && certificates.test(code)) return `${url} has a certificate that is not trusted (${code}).`;
  if (code) return `${url} cannot be reached (${code}).`;
  return `${url} cannot be reached: ${thrown instanceof Error ? thrown.message : "unknown reason"}.`;
}

const sentences: Readonly<Record<string, string>> = {
  ENOTFOUND: "cannot be found: its host has no address",
  EAI_AGAIN: "cannot be found at the moment: the name service does not answer",
  ENODATA: "cannot be found: its host has no address",
  ECONNREFUSED: "refuses the connection",
  ECONNRESET: "broke the connection off",
  EPIPE: "broke the connection off",
  ETIMEDOUT: "does not answer",
  EHOSTUNREACH: "cannot be reached: there is no way to its host",
  ENETUNREACH: "cannot be reached: there is no network",
  HPE_HEADER_OVERFLOW: "sent a head that is too long",
  ERR_STREAM_PREMATURE_CLOSE: "broke the connection off",
};

const certificates = /CERT|^(?:DEPTH_|UNABLE_TO_|SELF_SIGNED|HOSTNAME_|ERR_TLS_)/;
