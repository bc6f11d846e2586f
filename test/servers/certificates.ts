import { readFileSync } from "node:fs";

/** The path of a test certificate or its key. The certificates are self-signed and, except the expired one, valid until 2120. */
export function pemFile(name: string): string {
  return `${import.meta.dirname}/certificates/${name}.pem`;
}

/** The key and the certificate of a server. */
export function pairOf(name: string): { readonly key: Buffer; readonly cert: Buffer } {
  return { key: readFileSync(pemFile(`${name}.key`)), cert: readFileSync(pemFile(name)) };
}
