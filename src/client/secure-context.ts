import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import { UsageError } from "../errors.js";

/**
 * Trusts what Node trusts anyway and the PEM certificates of the file. UsageError, naming the setting, where it has none. To be made once:
 * the `ca` option of a connection replaces the usual roots, and to give it all of them costs 18 ms for every connection.
 */
export function secureContextFromFile(caFile: string, setting: string): SecureContext {
  const certificates = certificatesOf(caFile, setting);
  const trust = createSecureContext();
  for (const certificate of [...extraCertificates(), ...certificates]) trust.context.addCACert(certificate);
  return trust;
}

function certificatesOf(caFile: string, setting: string): readonly string[] {
  const found = certificatesIn(textOf(caFile, setting));
  try {
    if (found.length > 0) return found.map((text) => new X509Certificate(text).toString());
  } catch {}
  throw wrongFile(`${caFile} holds ${found.length > 0 ? "a broken" : "no"} PEM certificate`, setting);
}

/** The certificates of NODE_EXTRA_CA_CERTS: Node 20 drops them if another is added. Node itself warns of a file it cannot read. */
function extraCertificates(): readonly string[] {
  try {
    return certificatesIn(readFileSync(process.env.NODE_EXTRA_CA_CERTS ?? "", "utf8"));
  } catch {
    return [];
  }
}

function certificatesIn(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

function textOf(caFile: string, setting: string): string {
  try {
    return readFileSync(caFile, "utf8");
  } catch {
    throw wrongFile(`cannot read ${caFile}`, setting);
  }
}

function wrongFile(message: string, setting: string): UsageError {
  return new UsageError("The job cannot run:", [{ path: setting, message }]);
}
