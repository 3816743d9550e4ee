/** Pages of the documentation as the tests read them: fenced blocks in order, and what they claim. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Json, isArray, isObject, sameJson } from '../../../src/base/json/json.ts'

export interface Block {
  /** What stands after the fence, such as `sh` or `json query`. */
  readonly tag: string
  readonly text: string
  /** Line of the fence, from 1. */
  readonly line: number
}

export const ROOT = join(import.meta.dirname, '../../..')

export function blocksOf(page: string): readonly Block[] {
  const source = readFileSync(join(ROOT, page), 'utf8')
  return [...source.matchAll(/^```([^\n]*)\n([^]*?)\n?^```$/gm)].map(({ 1: tag, 2: text, index }) => ({
    tag: tag!.trim(),
    text: text!,
    line: source.slice(0, index).split('\n').length,
  }))
}

const ANYTHING = '…'

/**
 * Whether a value is what a page shows: the text `…` stands for any value, at the end of an array for any further
 * elements, and as a key for any further members.
 */
export function isAsShown(shown: Json, value: Json | undefined): boolean {
  if (value === undefined) return false
  if (shown === ANYTHING) return true
  if (isArray(shown)) {
    const isOpen = shown.at(-1) === ANYTHING
    const listed = isOpen ? shown.slice(0, -1) : shown
    if (!isArray(value) || (isOpen ? value.length < listed.length : value.length !== listed.length))
      return false
    return listed.every((each, i) => isAsShown(each, value[i]))
  }
  if (!isObject(shown)) return sameJson(shown, value)
  if (!isObject(value)) return false
  const isOpen = Object.hasOwn(shown, ANYTHING)
  const names = Object.keys(shown).filter((name) => name !== ANYTHING)
  const hasOnlyThese = isOpen || Object.keys(value).every((name) => names.includes(name))
  return (
    hasOnlyThese && names.every((name) => Object.hasOwn(value, name) && isAsShown(shown[name]!, value[name]))
  )
}

/** The same for text, in which `…` stands for anything on its line. */
export function isTextAsShown(shown: string, text: string): boolean {
  const parts = shown.trimEnd().split(ANYTHING)
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join('.*')}$`).test(text.trimEnd())
}
