// Bundles the program into a few files, because Node takes longer to find, open and link hundreds of modules than to run them.
// Packages stay external, so that npm can update and audit them. The library, dist/index.js, uses the unbundled modules from tsc.
import { readdirSync, readFileSync } from "node:fs";
import { basename, relative, resolve } from "node:path";
import { defineConfig } from "rolldown";

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const packages = Object.keys({ ...dependencies, ...peerDependencies }).join("|");

/** The program finds a command by its file name, so every command keeps its own file in dist/commands. */
const commands = readdirSync("dist/commands").filter((file) => file.endsWith(".js"));

/** Modules that read files next to them must find these files next to the module from tsc. */
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
  checks: { ineffectiveDynamicImport: false }, // a module may be imported dynamically by one command and statically by another
  output: {
    dir: "dist",
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "program/[name].js",
    codeSplitting: {
      // A group also contains the modules that its modules import, except those in a group above it.
      groups: [
        // Not main.js: it awaits the command, so the command would wait forever for a file that contains main.js.
        { name: "start", test: /\/dist\/cli\/(cli|output)\.js$/ },
        // Modules that several commands import statically. Commands load all others only when they need them.
        {
          name: "cli",
          tags: ["$initial"],
          minShareCount: 2,
          test: (id) => !/\/dist\/(main|commands\/|compare\/|dump\/formats\/csv\.js)/.test(id),
        },
        { name: "job", test: /\/dist\/job\/load-job\.js$/ },
        // Modules to find and list runs, without the client of a service.
        { name: "store", test: /\/dist\/store\/(find-(named|run)|list-runs)\.js$/ },
        { name: "run", test: /\/dist\/run\/run-job\.js$/ },
      ],
    },
  },
});
