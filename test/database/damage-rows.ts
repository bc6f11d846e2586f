import { readFile, writeFile } from "node:fs/promises";
import { query } from "./query.js";

/** Damages a block of rows: the file still opens as a database, but reading all rows fails. */
export async function damageRows(path: string): Promise<void> {
  const sound = await readFile(path);
  const blocks = await query("SELECT DISTINCT block_id FROM pragma_storage_info('chunks') WHERE block_id >= 0", path);
  for (const [block] of blocks) {
    const at = 12_288 + Number(block) * 262_144;
    const damaged = Buffer.from(sound);
    damaged.fill(7, at + 8, at + 4096);
    await writeFile(path, damaged);
    const isReadable = await query("SELECT max(run_id) FROM runs", path).then(
      () => true,
      () => false,
    );
    if (isReadable) return;
  }
  throw new Error("no block holds rows of chunks alone");
}
