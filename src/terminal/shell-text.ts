/** An argument as a POSIX shell takes it. */
export function shellText(argument: string): string {
  if (/^[\w./@%+=:,-]+$/.test(argument)) return argument;
  if (/["$`\\!]/.test(argument) && !argument.includes("'")) return `'${argument}'`;
  return `"${argument.replace(/(["$`\\])/g, "\\$1")}"`;
}

/** The words that started the program, and its arguments. */
export interface Invocation {
  readonly program: string;
  readonly args: readonly string[];
}

/** The command that reads again what failed, from the one of the run that it failed in. */
export function retryCommand({ program, args }: Invocation): string {
  const kept = args.filter((argument) => !/^--(no-)?(fresh|retry-failed)(=.*)?$/.test(argument));
  return [program, ...[...kept, "--retry-failed"].map(shellText)].join(" ");
}
