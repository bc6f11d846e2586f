import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/**
 * Installs the programs that the examples call into `bin` of a folder: the built `kbdump`, and fakes for programs that
 * would change the machine or are not installed. A fake fails when the real program would: for a missing file, an
 * unknown script of package.json, an image that was not built.
 */
export async function installPrograms(folder: string): Promise<void> {
  await mkdir(join(folder, "bin"));
  for (const [name, script] of Object.entries(await programs())) {
    const path = join(folder, "bin", name);
    await writeFile(path, `#!/bin/sh\n${script}`);
    await chmod(path, 0o700);
  }
}

async function programs(): Promise<Readonly<Record<string, string>>> {
  const { version, scripts } = JSON.parse(await readFile("package.json", "utf8"));
  const known = Object.keys(scripts).join("|");
  const isThere = `is_there() { [ -e "$1" ] || { echo "there is no $1" >&2; exit 9; }; }\n`;
  return {
    kbdump: `"${process.execPath}" "${resolve("dist/main.js")}" "$@"
code=$?
if [ "$1 $code" = "diff 4" ]; then exit 0; fi # a difference is no mistake of the example
exit $code
`,
    npm: `${isThere}case "$*" in
  ci|test) ;;
  start) ${startScript(scripts.start)} ;;
  pack) : > kbdump-${version}.tgz ;;
  "install --global "*) is_there "$3" ;;
  run\\ *) case "$2" in ${known}) ;; *) echo "package.json has no script $2" >&2; exit 9 ;; esac ;;
  *) echo "unexpected: npm $*" >&2; exit 9 ;;
esac
`,
    npx: `${isThere}[ "$1 $2" = "--yes --package" ] || exit 9
is_there "$3"
shift 3
exec "$@"
`,
    docker: `${isThere}case "$1" in
  build) is_there "$3"; [ "$4 $6" = "--tag ." ] || exit 9; echo "$5" > image ;;
  run) case " $* " in *" $(cat image) run /etc/kbdump/nightly.yaml "*) is_there nightly.yaml ;; *) exit 9 ;; esac ;;
  *) exit 9 ;;
esac
`,
    kubectl: `${isThere}case "$*" in
  "create secret generic kbdump --from-file="*) is_there "\${5#--from-file=}" ;;
  "apply -f "*) is_there "$3" ;;
  "create job --from=cronjob/kbdump "*) grep -q "^kind: CronJob" jobs/kubernetes/cronjob.yaml ;;
  "wait --for=condition=complete "*) grep -q "^  name: \${4#job/}$" jobs/kubernetes/indexed-job.yaml ;;
  "patch job "*) grep -q "^  name: $3$" jobs/kubernetes/indexed-job.yaml ;;
  *) exit 9 ;;
esac
`,
    sudo: `${isThere}case "$*" in
  "install -d -m 700 "*|"systemctl daemon-reload") ;;
  "install -m 600 "*|"cp "*) for file; do case "$file" in sudo|install|cp|-m|600|/etc/*) ;; *) is_there "$file" ;; esac; done ;;
  "systemctl enable --now "*) is_there "jobs/systemd/$4" ;;
  *) exit 9 ;;
esac
`,
    duckdb: `exec "${process.execPath}" "${resolve("test/docs/duckdb.mjs")}" "$@"\n`,
  };
}

/** The fake for a script of package.json. `npm start` only runs the demo, because the program is already built. */
function startScript(script: string): string {
  return script === "npm run --silent build && node dist/main.js demo" ? "exec kbdump demo" : "exit 9";
}
