import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { expect } from "vitest";
import { StopError } from "../../src/errors.js";
import { copyFolderOf } from "../../src/restore/copy/copy-result.js";
import type { LossyWire } from "../servers/lossy-wire.js";

/** Paths in the restore folder of a run, starting with the folder itself; `host` stands for the folder of a copy. */
export const places = [
  "",
  ...["journal.jsonl", "lock", "before", "before/.work/fenced", "before/latest", "before/runs", "after", "after/.work"],
  ...["to", "to/host", "to/host/journal.jsonl", "to/host/after", "to/host/after/runs"],
] as const;

/** The target of a planted link. */
export const targets = ["file", "folder", "nothing"] as const;

/** A link that is planted before one of several restores, numbered from 0. */
export interface PlantedLink {
  readonly before: number;
  readonly place: (typeof places)[number];
  readonly target: (typeof targets)[number];
}

export const plantedLink: fc.Arbitrary<PlantedLink> = fc.record({
  before: fc.nat(2),
  place: fc.constantFrom(...places),
  target: fc.constantFrom(...targets),
});

/** The path of one of `places`, beside this run. `url`: the service to which the run is copied. */
export function pathOf(run: string, place: string, url: string): string {
  return join(`${run}.restore`, place.replace("to/host", `to/${basename(copyFolderOf(run, url))}`));
}

/** The end of the error, after the path, if there is a link. */
export const isLink = "is a symbolic link, which is not followed; remove it";

/** Creates a file, a folder or a link at a path. `mine`: a path outside of the restore folder, to which a link may lead. */
export type Plant = (path: string, mine: string) => Promise<unknown>;

/** Creates a link to a file or folder with content, or to nothing. */
export function linkTo(target: PlantedLink["target"]): Plant {
  return async (path, mine) => {
    if (target === "file") await writeFile(mine, "mine");
    if (target === "folder") await mkdir(mine);
    if (target === "folder") await writeFile(join(mine, "mine"), "mine");
    await symlink(mine, path);
  };
}

/** Creates a hard link to a file with this text. */
export function hardLinkTo(text: string): Plant {
  return async (path, mine) => {
    await writeFile(mine, text);
    await link(mine, path);
  };
}

/** A restore that must be refused. */
export interface Refused {
  /** The path in the error message, and the text after it. */
  readonly path: string;
  readonly reason: string;
  readonly plant: Plant;
  readonly restore: () => Promise<unknown>;
  /** The proxy in front of the service, which records every write. */
  readonly wire: Pick<LossyWire, "seen">;
}

/**
 * Replaces what is at the path with the planted entry. Expects that the restore is refused because of it, sends no
 * write, and changes nothing there or behind a link. Then puts the original back.
 */
export async function expectRefusal({ path, reason, plant, restore, wire }: Refused): Promise<void> {
  const writes = () => wire.seen.filter(({ method }) => method !== "GET").length;
  const outside = await mkdtemp(join(tmpdir(), "kbdump-test-"));
  const aside = join(outside, "aside");
  const made = await mkdir(dirname(path), { recursive: true });
  const isAside = await rename(path, aside).then(
    () => true,
    () => false,
  );
  try {
    await plant(path, join(outside, "mine"));
    const before = [await contentsOf(outside), await contentsOf(dirname(path)), writes()];
    const error: unknown = await restore().then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(StopError);
    expect(error).toHaveProperty("message", expect.stringContaining(`${path} ${reason}`));
    expect([await contentsOf(outside), await contentsOf(dirname(path)), writes()]).toEqual(before);
  } finally {
    await rm(path, { recursive: true, force: true });
    if (isAside) await rename(aside, path);
    if (made !== undefined) await rm(made, { recursive: true });
    await rm(outside, { recursive: true });
  }
}

/** Like `expectRefusal`, for a random link. After an interrupted restore, its last writes may still arrive. */
export async function expectLinkRefused(
  run: string,
  { place, target }: PlantedLink,
  more: Pick<Refused, "restore"> & { readonly wire: LossyWire },
): Promise<void> {
  await delay(20);
  await expectRefusal({ path: pathOf(run, place, more.wire.url), reason: isLink, plant: linkTo(target), ...more });
}

/** The paths below a folder, with file contents. */
async function contentsOf(folder: string): Promise<readonly (readonly [string, string])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return [path, entry.isFile() ? await readFile(path, "utf8") : ""] as const;
  });
  return (await Promise.all(contents)).sort(([one], [other]) => (one < other ? -1 : 1));
}
