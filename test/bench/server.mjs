// Runs server.ts in a process of its own, as a knowledge service has one.
import { runnerImport } from "vite";

const { module } = await runnerImport(`${import.meta.dirname}/server.ts`, { configFile: false, logLevel: "error" });
await module.serve(JSON.parse(process.argv[2] ?? "{}"));
