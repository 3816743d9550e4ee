/** The options of the command line as data: parsing, checks and help all use these records. */

export interface Option {
  /** Whether a value follows. */
  readonly type: 'string' | 'boolean'
  /** Whether it may be repeated; its value is then a list. */
  readonly multiple?: boolean
  /** What help writes for the value, such as `N`. */
  readonly value?: string
  readonly summary: string
}

/** By name, without the dashes. */
export type Options = Readonly<Record<string, Option>>

/** The values that parsing these options gives. */
export type OptionValues<O extends Options> = { readonly [Name in keyof O]?: ValueOf<O[Name]> }

type ValueOf<O extends Option> = O['type'] extends 'boolean'
  ? boolean
  : O['type'] extends 'string'
    ? TextOf<O>
    : AnyValue

type TextOf<O extends Option> = O extends { readonly multiple: true } ? readonly string[] : string

/** Where it is not known which options these are. */
type AnyValue = string | boolean | readonly string[]

export function dashed(name: string): string {
  return `--${name}`
}
