// Takes the pictures in docs/pictures: `npm run pictures`. Runs without a build step, because vite comes with the test runner.
import { runnerImport } from "vite";

const { module } = await runnerImport(`${import.meta.dirname}/take-pictures.ts`, {
  configFile: false,
  logLevel: "error",
});
await module.takePictures();
