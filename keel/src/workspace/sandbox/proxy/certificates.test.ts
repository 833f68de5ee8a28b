import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { newAuthority } from "./certificates.ts";

test("what it issues is vouched for by itself, for that host only, and by no other of its kind", () => {
  const authority = newAuthority(Date.now());
  const root = new X509Certificate(authority.cert);
  const leaf = new X509Certificate(authority.issue("api.example.org").cert);
  expect(root.ca).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.checkIssued(root)).toBe(true);
  expect(leaf.verify(root.publicKey)).toBe(true);
  expect(leaf.verify(new X509Certificate(newAuthority(Date.now()).cert).publicKey)).toBe(false);
  expect(leaf.checkHost("api.example.org")).toBe("api.example.org");
  expect(leaf.checkHost("evil.example.org")).toBeUndefined();
  for (const address of ["10.0.0.7", "::1", "2001:db8::7:1", "1:2:3:4:5:6:7:8"])
    expect(new X509Certificate(authority.issue(address).cert).checkIP(address), address).toBe(address);
  expect(authority.issue("api.example.org")).toBe(authority.issue("api.example.org"));
});

test("openssl takes it by its strictest rules", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-certificates-"));
  try {
    const authority = newAuthority(Date.now());
    writeFileSync(path.join(folder, "root.pem"), authority.cert);
    writeFileSync(path.join(folder, "leaf.pem"), authority.issue("api.example.org").cert);
    const verify = (...more: string[]): string =>
      execFileSync("openssl", ["verify", "-x509_strict", "-CAfile", "root.pem", ...more, "leaf.pem"], {
        cwd: folder,
        encoding: "utf8",
        stdio: "pipe",
      });
    expect(verify("-purpose", "sslserver", "-verify_hostname", "api.example.org")).toBe("leaf.pem: OK\n");
    expect(() => verify("-verify_hostname", "evil.example.org")).toThrow();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
