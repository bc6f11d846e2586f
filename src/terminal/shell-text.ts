/** An argument as a POSIX shell takes it. */
export function shellText(argument: string): string {
  if (/^[\w./@%+=:,-]+$/.test(argument)) return argument;
  if (/["$`\\!]/.test(argument) && !argument.includes("'")) return `'${argument}'`;
  return `"${argument.replace(/(["$`\\])/g, "\\$1")}"`;
}

/** The command that reads again what failed, from the arguments of the run that it failed in. */
export function retryCommand(args: readonly string[]): string {
  const kept = args.filter((argument) => !/^--(no-)?(fresh|retry-failed)(=.*)?$/.test(argument));
  return ["kbdump", ...kept, "--retry-failed"].map(shellText).join(" ");
}
