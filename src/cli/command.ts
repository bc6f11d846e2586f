import type { InferredOptionType, PositionalOptions, Options as YargsOptions } from "yargs";
import type { World } from "./world.js";

/** Positionals by name, as yargs declares them. */
export type Positionals = Readonly<Record<string, PositionalOptions>>;
/** Options by name, as yargs declares them. */
export type Options = Readonly<Record<string, YargsOptions>>;

type CamelCase<Name> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

/** The arguments that a declaration of positionals or options stands for; `--base-url` arrives as `baseUrl`. */
export type ArgumentsOf<Declared extends Options> = {
  readonly [Name in keyof Declared as CamelCase<Name>]: InferredOptionType<Declared[Name]>;
};

/** One command of the program. */
export interface Command<P extends Positionals = Positionals, O extends Options = Options> {
  /** With its positionals, as yargs writes them: `run [job]`. */
  readonly name: string;
  readonly about: string;
  readonly positionals: P;
  readonly options: O;
  /** Ends the help: examples and exit codes. */
  readonly epilog: string;
  /**
   * Does the work and gives the exit code, or rejects with one of the errors of errors.ts. It is a method because
   * parameters of methods are bivariant: a list can hold commands of different arguments.
   */
  run(args: ArgumentsOf<P> & ArgumentsOf<O>, world: World): Promise<number>;
}

/** Infers the arguments of `run` from the declared positionals and options. */
export function defineCommand<const P extends Positionals, const O extends Options>(
  command: Command<P, O>,
): Command<P, O> {
  return command;
}
