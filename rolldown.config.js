// Joins the modules of the program into few files, because Node takes longer to find, open and link hundreds than to run them.
// Packages stay outside, so that npm updates and audits them. The library, dist/index.js, keeps the modules that tsc wrote.
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { defineConfig } from "rolldown";

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const packages = Object.keys({ ...dependencies, ...peerDependencies }).join("|");
const main = resolve("dist/main.js");

/** A module that looks for files beside itself finds them beside the one that tsc wrote. */
const ownPlace = {
  name: "own place",
  transform: (code, id) =>
    code.replaceAll("import.meta.url", `new URL("${relative("dist/program", id)}", import.meta.url)`),
};

export default defineConfig({
  input: main,
  platform: "node",
  external: new RegExp(`^(node:|(${packages})(/|$))`),
  plugins: [ownPlace],
  checks: { ineffectiveDynamicImport: false }, // an import that is late for one command can be early for another
  output: {
    dir: "dist",
    comments: false,
    chunkFileNames: "program/[name].js",
    codeSplitting: {
      // A group takes the modules that these import, too, but for those of a group above it.
      groups: [
        // Without main.js: it waits for the command, and a file that waits cannot be imported meanwhile.
        { name: "start", tags: ["$initial"], test: (id) => id !== main },
        { name: "command", test: /\/dist\/cli\/run\.js$/ },
        { name: "job", test: /\/dist\/(job\/load-job|cli\/line\/(check-line|env-files))\.js$/ },
        { name: "run", test: /\/dist\/run\/run-job\.js$/ },
      ],
    },
  },
});
