import { readFileSync } from "node:fs";

/** A certificate, or the key of one, that ships with the tests; they are valid until 2120 and trusted by nobody. */
export function pemFile(name: string): string {
  return `${import.meta.dirname}/certificates/${name}.pem`;
}

/** The key and the certificate of a server. */
export function pairOf(name: string): { readonly key: Buffer; readonly cert: Buffer } {
  return { key: readFileSync(pemFile(`${name}.key`)), cert: readFileSync(pemFile(name)) };
}
