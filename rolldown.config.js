// Joins the modules of the program into few files, because Node takes longer to find, open and link hundreds than to run them.
// Packages stay outside, so that npm updates and audits them. The library, dist/index.js, keeps the modules that tsc wrote.
import { readdirSync, readFileSync } from "node:fs";
import { basename, relative, resolve } from "node:path";
import { defineConfig } from "rolldown";

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const packages = Object.keys({ ...dependencies, ...peerDependencies }).join("|");

/** The program finds a command by the name of its file, so that each stays where it is, in dist/commands. */
const commands = readdirSync("dist/commands").filter((file) => file.endsWith(".js"));

/** A module that looks for files beside itself finds them beside the one that tsc wrote. */
const ownPlace = {
  name: "own place",
  transform: (code, id) =>
    code.replaceAll("import.meta.url", `new URL("${relative("dist/program", id)}", import.meta.url).href`),
};

export default defineConfig({
  input: {
    main: resolve("dist/main.js"),
    ...Object.fromEntries(
      commands.map((file) => [`commands/${basename(file, ".js")}`, resolve("dist/commands", file)]),
    ),
  },
  platform: "node",
  external: new RegExp(`^(node:|(${packages})(/|$))`),
  plugins: [ownPlace],
  checks: { ineffectiveDynamicImport: false }, // an import that is late for one command can be early for another
  output: {
    dir: "dist",
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "program/[name].js",
    codeSplitting: {
      // A group takes the modules that these import, too, but for those of a group above it.
      groups: [
        // Without main.js: it waits for the command, and a file that waits cannot be imported meanwhile.
        { name: "start", test: /\/dist\/cli\/(cli|output)\.js$/ },
        // What several commands load with their file; all else comes when a command is at work.
        {
          name: "cli",
          tags: ["$initial"],
          minShareCount: 2,
          test: (id) => !/\/dist\/(main|commands\/|compare\/|dump\/formats\/csv\.js)/.test(id),
        },
        { name: "job", test: /\/dist\/(job\/load-job|cli\/check-line)\.js$/ },
        // Finding and listing runs, without the client of a service.
        { name: "store", test: /\/dist\/store\/(find-(named|run)|decide-runs|list-runs)\.js$/ },
        { name: "run", test: /\/dist\/run\/run-job\.js$/ },
      ],
    },
  },
});
