// Runs main.ts without a build step; vite comes with the test runner.
import { runnerImport } from "vite";

const { module } = await runnerImport(`${import.meta.dirname}/main.ts`, { configFile: false, logLevel: "error" });
await module.main();
