import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, parse } from "node:path";
import { UsageError } from "../errors.js";
import { looksLikeKey } from "./looks-like-key.js";
import { fileText } from "./quoted-text.js";
import { nearestName } from "./schema/nearest-name.js";

/** The error of a job file that is not there, or is a folder, with the file that was meant; undefined for any other file. */
export async function missingJobFile(file: string): Promise<UsageError | undefined> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error.code);
  const isFolder = typeof found === "object" && found.isDirectory();
  if (!isFolder && found !== "ENOENT" && found !== "ENOTDIR") return undefined;
  const meant = isFolder ? await jobIn(file) : await jobLike(file);
  const advice = meant === undefined ? "" : `; did you mean ${meant}?`;
  return new UsageError(`job file ${shown(file)} ${isFolder ? "is a folder" : "does not exist"}${advice}`, []);
}

/** A job file in a folder: the one named after it or job.yaml, else the only one. */
async function jobIn(folder: string): Promise<string | undefined> {
  const names = await jobFilesIn(folder);
  const own = names.find((name) => [basename(folder), "job"].includes(parse(name).name));
  const name = own ?? (names.length === 1 ? names[0] : undefined);
  return name === undefined ? undefined : join(folder, name);
}

/** A file of nearly the same name: beside it, in a folder `jobs` there, or in a folder of that name. */
async function jobLike(file: string): Promise<string | undefined> {
  const [folder, { name: stem }] = [dirname(file), parse(file)];
  for (const place of [folder, join(folder, "jobs")]) {
    const names = await jobFilesIn(place);
    const nearest = nearestName(
      stem,
      names.map((name) => parse(name).name),
    );
    const meant = names.find((name) => parse(name).name === nearest);
    if (meant !== undefined) return join(place, meant);
  }
  return jobIn(join(folder, stem));
}

async function jobFilesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.filter((name) => /\.(ya?ml|json)$/i.test(name)).sort();
}

/** A name without odd characters stands as it is. */
function shown(file: string): string {
  if (looksLikeKey(file)) return "(a name that is not shown, as it looks like a key)";
  return /^[\w./~-]+$/.test(file) ? file : fileText(file);
}
