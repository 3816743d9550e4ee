/** Typed access to settings by path. Their values have been checked against the shapes before. */
import { readFileSync } from 'node:fs'
import { type Json, isArray, isObject } from '../../base/json/json.ts'
import { ConfigError } from './config-error.ts'
import { type Environment, type Given, type Settings, variableFor } from './settings.ts'

export class Reader {
  readonly #settings: Settings
  readonly #environment: Environment

  constructor(settings: Settings, environment: Environment) {
    this.#settings = settings
    this.#environment = environment
  }

  given(path: string): Given | undefined {
    return this.#settings.get(path)
  }

  /** The flag, variable or file position of a setting. */
  nameOf(path: string): string {
    return this.#settings.get(path)?.name ?? variableFor(path)
  }

  /** Whether the setting, or any setting below it, was given. */
  has(path: string): boolean {
    return [...this.#settings.keys()].some((each) => each === path || each.startsWith(`${path}.`))
  }

  text(path: string): string | undefined {
    const value = this.#settings.get(path)?.value as string | undefined
    if (value?.trim() === '') throw new ConfigError(`${this.nameOf(path)} must not be empty`)
    return value
  }

  isTrue(path: string, usual = false): boolean {
    return (this.#settings.get(path)?.value ?? usual) === true
  }

  number(path: string): number | undefined {
    return this.#settings.get(path)?.value as number | undefined
  }

  texts(path: string): readonly string[] | undefined {
    const value = this.#settings.get(path)?.value
    if (value === undefined) return undefined
    return isArray(value) ? (value as readonly string[]) : [value as string]
  }

  secret(path: string): string | undefined {
    const given = this.#settings.get(path)
    return given && this.reveal(given.name, given.value)
  }

  /** A secret given as text, or read from the variable or file that contains it. */
  reveal(name: string, value: Json): string {
    if (!isObject(value)) return value as string
    if ('env' in value) {
      const variable = value['env'] as string
      const found = this.#environment[variable]
      if (found !== undefined && found !== '') return found
      throw new ConfigError(`${name}: the variable ${variable} is not set`)
    }
    try {
      return readFileSync(value['file'] as string, 'utf8').trimEnd()
    } catch (error) {
      throw new ConfigError(`${name} cannot be read: ${(error as Error).message}`)
    }
  }
}
