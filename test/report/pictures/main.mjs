// Takes the pictures of docs/pictures anew: `npm run pictures`. vite, which comes with the test runner, runs it without a build step.
import { runnerImport } from "vite";

const { module } = await runnerImport(`${import.meta.dirname}/take-pictures.ts`, {
  configFile: false,
  logLevel: "error",
});
await module.takePictures();
