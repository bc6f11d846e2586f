import { createHash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, manifestName } from "../dump/manifest/manifest.js";
import { type Original, originalsFolder } from "../dump/manifest/original.js";
import { type Findings, toldOfAKind } from "./findings.js";
import { readPieces } from "./readers/read-text.js";
import type { Checked } from "./verification.js";

type Listed = Original & { readonly path: string };

/** Reads every original that the manifest lists, and looks for files that it does not. Gives the numbers of files. */
export async function checkOriginals(
  folder: string,
  { originals }: Manifest,
  findings: Findings,
  onBytes: (bytes: number) => void,
): Promise<Pick<Checked, "originals" | "attachments">> {
  const listed = (originals ?? []).flatMap((original) =>
    original.path === null ? [] : [{ ...original, path: original.path }],
  );
  if (!originals) return { originals: null, attachments: null };
  await checkUnlisted(folder, listed, findings);
  for (const original of listed) {
    const problem = await placeProblem(folder, original.path);
    if (problem === undefined) await checkBytes(folder, original, findings, onBytes);
    else findings.add(original.path, "original", problem);
  }
  const attachments = listed.filter(({ attachment_id: id }) => id !== null).length;
  return { originals: listed.length - attachments, attachments };
}

/** The problem with a path of three names, none of which may be a link; undefined where there is none. */
async function placeProblem(folder: string, path: string): Promise<string | undefined> {
  const names = path.split("/");
  for (const [at] of names.entries()) {
    const facts = await lstat(join(folder, ...names.slice(0, at + 1))).catch(() => undefined);
    if (!facts) return "is not there";
    if (facts.isSymbolicLink()) return "is a symlink, or in one, which is not followed";
    if (at + 1 < names.length ? !facts.isDirectory() : !facts.isFile()) return "is no regular file";
  }
  return undefined;
}

async function checkBytes(
  folder: string,
  { path, bytes, sha256 }: Listed,
  findings: Findings,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const hash = createHash("sha256");
  let found = 0;
  for await (const piece of readPieces(join(folder, path))) {
    hash.update(piece);
    found += piece.length;
    onBytes(piece.length);
  }
  const digest = hash.digest("hex");
  if (found !== bytes) findings.add(path, "original", `has ${found} bytes instead of ${bytes}`);
  if (digest !== sha256) findings.add(path, "original", `has the SHA-256 ${digest} instead of ${sha256}`);
}

async function checkUnlisted(folder: string, listed: readonly Listed[], findings: Findings): Promise<void> {
  const known = new Set(listed.flatMap(({ path }) => [path, path.slice(0, path.lastIndexOf("/"))]));
  const others: string[] = [];
  for (const name of await namesIn(join(folder, originalsFolder))) {
    const path = `${originalsFolder}/${name}`;
    if (!known.has(path)) others.push(path);
    else
      for (const file of await namesIn(join(folder, path)))
        if (!known.has(`${path}/${file}`)) others.push(`${path}/${file}`);
  }
  for (const path of others.slice(0, toldOfAKind))
    findings.add(path, "not listed", `is in the folder, but not in ${manifestName}`);
  findings.addAll(originalsFolder, "not listed", [], Math.max(0, others.length - toldOfAKind));
}

/** The names in a folder, in order; none where it is no folder. A link is not followed. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const facts = await lstat(folder).catch(() => undefined);
  return facts?.isDirectory() ? (await readdir(folder)).sort() : [];
}
