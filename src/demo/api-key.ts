import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { unauthorized } from "./refusal.js";

/** A new key for a service that was started without one. */
export function randomKey(): string {
  return `kbdump-demo-${randomBytes(12).toString("hex")}`;
}

/**
 * A check of Authorization headers against this key. It throws a 401 unless the header is `Bearer <key>`, and takes the
 * same time whichever part of a key is wrong: digests of equal length are compared, not the keys.
 */
export function keyCheck(key: string): (authorization: string | undefined) => void {
  const expected = hash("sha256", key, "buffer");
  return (authorization) => {
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    if (given === undefined || !timingSafeEqual(hash("sha256", given, "buffer"), expected)) throw unauthorized();
  };
}
