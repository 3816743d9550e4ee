/** Finds out where sequences continue, by the values that loaded documents have in fields with a sequence. */
import { type JsonObject, isNumber, numberText } from '../../base/json/json.ts'
import { candidates } from '../../lang/evaluate/candidates.ts'
import { type FieldRef, resolveField, rootScope } from '../../lang/resolve/scope.ts'
import type { Sequence } from '../../schema/field.ts'
import { type Schema, allFields } from '../../schema/schema.ts'

export interface SequenceWatch {
  readonly add: (document: JsonObject) => void
  /** Each sequence with the value that follows those of the documents; only sequences that have any. */
  readonly next: () => readonly Sequence[]
}

export function watchSequences(schemas: readonly Schema[]): SequenceWatch {
  const watched = schemas.flatMap(sequenceFieldsOf)
  const last = new Map<string, { readonly sequence: Sequence; value: bigint }>()
  const note = (given: Sequence, value: bigint): void => {
    const known = last.get(given.name)
    const sequence = known?.sequence ?? given
    if (!isDrawable(value, sequence)) return
    if (!known) last.set(sequence.name, { sequence, value })
    else if (isAfter(value, known.value, sequence)) known.value = value
  }
  return {
    add(document) {
      for (const { sequence, field } of watched) {
        for (const value of integersIn(document, field)) note(sequence, value)
      }
    },
    next: () =>
      [...last.values()].map(({ sequence, value }) => ({
        ...sequence,
        initialValue: value + sequence.increment,
      })),
  }
}

interface SequenceField {
  readonly sequence: Sequence
  readonly field: FieldRef
}

function sequenceFieldsOf(schema: Schema): readonly SequenceField[] {
  return [...allFields(schema.root.fields)].flatMap((field) => {
    const sequence = field.kind === 'simple' ? field.generator?.sequence : undefined
    return sequence
      ? [{ sequence, field: resolveField({ path: field.path, at: '' }, rootScope(schema)) }]
      : []
  })
}

/** A field of type string may have numbers as text; other texts do not come from a sequence. */
function integersIn(document: JsonObject, field: FieldRef): readonly bigint[] {
  return candidates({ value: document }, field).flatMap((each) => {
    const text = isNumber(each) ? numberText(each) : each
    return typeof text === 'string' && /^-?\d{1,19}$/.test(text) ? [BigInt(text)] : []
  })
}

/** A sequence ends with the 64-bit integers: it never draws a value whose next one is beyond them. */
function isDrawable(value: bigint, { increment }: Sequence): boolean {
  const next = value + increment
  return BigInt.asIntN(64, next) === next
}

function isAfter(value: bigint, other: bigint, { increment }: Sequence): boolean {
  return increment < 0n ? value < other : value > other
}
