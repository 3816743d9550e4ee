/**
 * Versions share their documents: a value written by one version may have a type that another cannot compare.
 */
import { type Field, isComputed } from '../../schema/field.ts'
import { kindOf } from '../../schema/kind.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import { fieldPointer } from '../../schema/fields-on-path.ts'
import type { Finding } from '../finding.ts'
import type { Subject } from './subject.ts'

export function* typesDiffer({ schemas }: Subject): Generator<Finding> {
  const known = new Map<string, Typed>()
  for (const schema of schemas) {
    for (const typed of typesIn(schema)) {
      const { path } = typed.field
      const first = known.get(path)
      if (!first) known.set(path, typed)
      else if (isIncompatible(first.field, typed.field)) yield createFinding(first, typed)
    }
  }
}

/** A field of type any expects no specific type. */
function isIncompatible(a: Field, b: Field): boolean {
  const kinds = new Set([kindOf(a), kindOf(b)])
  return kinds.size > 1 && !kinds.has('any')
}

/** A field, and the version that has it. */
interface Typed {
  readonly field: Field
  readonly version: string
}

function* typesIn({ root, version }: Schema): Generator<Typed> {
  for (const field of allFields(root.fields)) {
    if (field.kind === 'reference' || isComputed(field)) continue
    yield { field, version }
    if (field.kind === 'array') yield { field: field.element, version }
  }
}

function createFinding(first: Typed, second: Typed): Finding {
  const { path } = second.field
  return {
    severity: 'warning',
    code: 'types-differ',
    at: `/schema${fieldPointer(path)}`,
    version: second.version,
    msg:
      `"${path}" is of type ${typeOf(first)} in version ${first.version} and of type ${typeOf(second)} in version ` +
      `${second.version}, and both share their documents: what one of them wrote counts as missing where the ` +
      `other one compares and sorts; give the field another name in version ${second.version}, or write the ` +
      `documents anew and disable version ${first.version}`,
  }
}

function typeOf({ field }: Typed): string {
  return field.kind === 'simple' ? field.type.name : field.kind
}
