// Runs a main.ts without a build step; vite comes with the test runner. Prints an error in one line, without its stack.
import { runnerImport } from "vite";

/** Runs `main` of a folder's main.ts with the arguments of this process. */
export async function runMain(folder) {
  const { module } = await runnerImport(`${folder}/main.ts`, { configFile: false, logLevel: "error" });
  try {
    await module.main(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
