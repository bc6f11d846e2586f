import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { kinds } from "../../../src/rows/columns.js";

/** A folder for one test, removed after it. */
export async function plainFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-sinks-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A folder whose name contains every character that is special in a glob, SQL, a URL or a partitioned path. Beside it is
 * a folder that this name would match as a glob, with other rows in it.
 */
export async function oddFolder(): Promise<string> {
  const base = await plainFolder();
  const [odd, meant] = [`it's "q" [a-z] * ** {b,c} %41 ~ #é漢`, `it's "q" b any any {b,c} %41 ~ #é漢`].map((name) =>
    join(base, name, "id=1", "status=odd"),
  );
  if (odd === undefined || meant === undefined) throw new Error("no folder");
  await mkdir(odd, { recursive: true });
  for (const below of ["scratch", "stage", "~/dumps/scratch", "~/dumps/stage"]) {
    await mkdir(join(meant, below), { recursive: true });
    for (const kind of kinds) await writeFile(join(meant, below, `${kind}.jsonl`), '{"position":13}\n');
  }
  return odd;
}
