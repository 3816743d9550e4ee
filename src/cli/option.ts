/** The type of command-line options. Parsing, checks and help use the same records. */

export interface Option {
  /** Whether a value follows. */
  readonly type: 'string' | 'boolean'
  /** Whether the option may be repeated; its value is then a list. */
  readonly multiple?: boolean
  /** The placeholder for the value in the help, such as `N`. */
  readonly value?: string
  readonly summary: string
}

/** By name, without the dashes. */
export type Options = Readonly<Record<string, Option>>

/** The result type of parsing these options. */
export type OptionValues<O extends Options> = { readonly [Name in keyof O]?: ValueOf<O[Name]> }

type ValueOf<O extends Option> = O['type'] extends 'boolean'
  ? boolean
  : O['type'] extends 'string'
    ? TextOf<O>
    : AnyValue

type TextOf<O extends Option> = O extends { readonly multiple: true } ? readonly string[] : string

/** For options that are not statically known. */
type AnyValue = string | boolean | readonly string[]

export function dashed(name: string): string {
  return `--${name}`
}
