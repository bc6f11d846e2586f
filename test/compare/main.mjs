import { runMain } from "../bench/run-main.mjs";

await runMain(import.meta.dirname);
