import { constants } from "node:fs";
import { copyFile, link, lstat, rm } from "node:fs/promises";
import { ifAbsent } from "../dump/files/is-there.js";
import { type Fingerprint, fingerprint } from "../dump/files/join-parts.js";
import { DamagedFileError } from "./damaged-file.js";

/**
 * Gives a file a second name, or copies it where the file system has no hard links; a file that has this name is replaced. DamagedFileError,
 * and no file, where its bytes are others.
 */
export async function takeFile(source: string, path: string, expected: Fingerprint): Promise<void> {
  await rm(path, { force: true });
  const facts = await lstat(source).catch(ifAbsent(undefined));
  if (!facts?.isFile()) throw new DamagedFileError(source, facts ? "it is no file" : "it is not there");
  await link(source, path).catch(() => copyFile(source, path, constants.COPYFILE_FICLONE));
  const { bytes, sha256 } = await fingerprint(path);
  if (bytes === expected.bytes && sha256 === expected.sha256) return;
  await rm(path, { force: true });
  const difference =
    bytes === expected.bytes ? "its SHA-256 is another" : `it has ${bytes} bytes, not ${expected.bytes}`;
  throw new DamagedFileError(source, difference);
}
