/** Finds out where sequences continue, by the values that loaded documents have in fields with a sequence. */
import { type JsonObject, isNumber, numberText } from '../../base/json/json.ts'
import { candidates } from '../../lang/evaluate/candidates.ts'
import { resolveField, rootScope } from '../../lang/resolve/scope.ts'
import type { Sequence } from '../../schema/field.ts'
import { type Schema, allFields } from '../../schema/schema.ts'

export interface SequenceWatch {
  readonly add: (document: JsonObject) => void
  /** Each sequence with the value that follows those of the documents; only sequences that have any. */
  readonly next: () => readonly Sequence[]
}

export function watchSequences(schemas: readonly Schema[]): SequenceWatch {
  const watched = schemas.flatMap((schema) =>
    [...allFields(schema.root.fields)].flatMap((field) => {
      const sequence = field.kind === 'simple' ? field.generator?.sequence : undefined
      return sequence
        ? [{ sequence, field: resolveField({ path: field.path, at: '' }, rootScope(schema)) }]
        : []
    }),
  )
  const last = new Map<string, { readonly sequence: Sequence; value: bigint }>()
  return {
    add(document) {
      for (const { sequence, field } of watched) {
        for (const each of candidates({ value: document }, field)) {
          const text = isNumber(each) ? numberText(each) : each
          if (typeof text !== 'string' || !/^-?\d{1,19}$/.test(text)) continue
          const value = BigInt(text)
          const known = last.get(sequence.name)
          if (!known) last.set(sequence.name, { sequence, value })
          else if (isAfter(value, known.value, sequence)) known.value = value
        }
      }
    },
    next: () =>
      [...last.values()].map(({ sequence, value }) => ({
        ...sequence,
        initialValue: value + sequence.increment,
      })),
  }
}

function isAfter(value: bigint, other: bigint, { increment }: Sequence): boolean {
  return increment < 0n ? value < other : value > other
}
