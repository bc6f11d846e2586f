import { runMain } from "../run-main.mjs";

await runMain(import.meta.dirname);
