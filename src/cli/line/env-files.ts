import { parseEnv } from "node:util";
import { readText } from "../../job/read-key.js";

/**
 * The environment with the variables of these files added; a later file wins over an earlier one, and what is set already wins
 * over all. UsageError if a file cannot be read.
 */
export async function withEnvFiles(env: NodeJS.ProcessEnv, files: readonly string[]): Promise<NodeJS.ProcessEnv> {
  const texts = await Promise.all(files.map((file) => readText(file, "the environment file")));
  return Object.assign({}, ...texts.map((text) => parseEnv(text)), env);
}
