// Runs server.ts in a separate process, like a real service.
import { runnerImport } from "vite";

const { module } = await runnerImport(`${import.meta.dirname}/server.ts`, { configFile: false, logLevel: "error" });
await module.serve(JSON.parse(process.argv[2] ?? "{}"));
