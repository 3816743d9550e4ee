/** Generates values: identifiers, timestamps, and numbers from sequences. */
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import { numberFrom } from '../../base/json/parse-trusted.ts'
import { memoized } from '../../base/memo.ts'
import { uuidV7 } from '../../base/uuid.ts'
import { type Work, during, spend } from '../../base/work/work.ts'
import { printDate } from '../../schema/date.ts'
import { type Sources, prepareDocument } from '../../schema/document.ts'
import { type FaultBudget, faultBudget } from '../../schema/faults.ts'
import type { Sequence, SimpleField } from '../../schema/field.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import type { ValueType } from '../../schema/types.ts'
import type { Bounds } from '../../store/bounds.ts'
import type { Store } from '../../store/store.ts'
import { type Deps, boundsOf } from '../deps.ts'
import { type IsTaken, numberedIdentities, takenIdentities } from './taken-identities.ts'

/**
 * Sources for documents that are about to be prepared. Their sequence values are drawn in advance, in one
 * call per sequence, unless documents bring identities of elements that the sequence would give to others.
 */
export async function sourcesFor(
  origin: GeneratingFor,
  schema: Schema,
  { data, work }: { readonly data: readonly Json[]; readonly work: Work },
): Promise<Sources> {
  const drawn = new Map<string, Iterator<bigint>>()
  if (drawsSequences(schema)) {
    const store = origin.deps.storeOf(schema)
    const bounds = boundsOf(work, {})
    for (const needed of during(work, () => neededValues(origin, schema, data))) {
      drawn.set(needed.sequence.name, (await freeValues(needed, { store, work, bounds })).values())
    }
  }
  return drawSources(origin, (sequence) => drawn.get(sequence.name)!.next().value!)
}

/** Values that documents need of a sequence. */
interface NeededValues {
  readonly sequence: Sequence
  count: number
  /** Whether the identity of an element in the documents is this value. */
  readonly isTaken: (value: bigint) => boolean
}

interface Drawing {
  readonly store: Pick<Store, 'nextValues'>
  readonly work: Work
  readonly bounds: Bounds
}

async function freeValues(
  { sequence, count, isTaken }: NeededValues,
  { store, work, bounds }: Drawing,
): Promise<readonly bigint[]> {
  const free: bigint[] = []
  for (let batch = count; free.length < count; batch = Math.min(2 * batch, MAX_BATCH)) {
    const values = await store.nextValues(sequence, batch, bounds)
    const unused = during(work, () => values.filter((each) => !isTaken(each)))
    for (const each of unused) free.push(each)
  }
  return free
}

/** Of values that are drawn because documents have those that were drawn before. */
const MAX_BATCH = 10_000

/** The requested number of values; empty if the field has no generator. */
export async function generateValues(
  origin: GeneratingFor,
  schema: Schema,
  { field, count, bounds }: { readonly field: SimpleField; readonly count: number; readonly bounds: Bounds },
): Promise<readonly Json[]> {
  const { generator } = field
  if (!generator) return []
  const store = origin.deps.storeOf(schema)
  const drawn = generator.sequence && (await store.nextValues(generator.sequence, count, bounds)).values()
  const { generate } = drawSources(origin, () => drawn!.next().value!)
  return Array.from({ length: count }, () => generate(field)!)
}

/** For whom values are generated. */
export interface GeneratingFor {
  readonly deps: Deps
  readonly caller: Pick<Caller, 'principal'>
}

/** Sources that draw each sequence value on demand. */
export function drawSources(
  { deps, caller }: GeneratingFor,
  draw: (sequence: Sequence) => bigint,
  { faults = faultBudget(deps.limits), isTaken = () => false }: DrawOptions = {},
): Sources {
  return {
    faults,
    usesDefaults: true,
    uuid: () => randomUUID(),
    id: () => uuidV7(deps.now().getTime()),
    generate: (field) => {
      const { type, generator } = field
      switch (generator!.type) {
        case 'UUID':
          return randomUUID()
        case 'CurrentTime':
          return printDate(deps.now())
        case 'CurrentUser':
          return caller.principal
        case 'IntSequence':
          for (;;) {
            spend(1)
            const number = numberOf(generator!.sequence!, type, draw)
            if (!isTaken(field, number)) return number
          }
      }
    },
  }
}

interface DrawOptions {
  readonly faults?: FaultBudget
  /** Such numbers are passed over. */
  readonly isTaken?: IsTaken
}

/** Beyond 2^53 several numbers of a sequence become the same double, which would be issued more than once. */
function numberOf(sequence: Sequence, type: ValueType, draw: (sequence: Sequence) => bigint): Json {
  const number = draw(sequence)
  const isExact = type.name !== 'double' || Number.isSafeInteger(Number(number))
  if (isExact) return type.cast(numberFrom(String(number)))!
  const message = `the sequence ${sequence.name} has no more numbers that a double can tell apart`
  throw new ServiceError('crud:LimitExceeded', `${message}; make the field biginteger`)
}

const drawsSequences = memoized((schema: Schema): boolean =>
  allFields(schema.root.fields).some((field) => field.kind === 'simple' && field.generator?.sequence),
)

/**
 * A dry run: prepares the documents once with stand-ins, to count the values that each sequence must supply. Every stand-in
 * is unique, because a repeated identity of an element is a fault, and after too many faults the rest of a document is not
 * counted.
 */
function neededValues(origin: GeneratingFor, schema: Schema, data: readonly Json[]): Iterable<NeededValues> {
  const needed = new Map<string, NeededValues>()
  const isTaken = takenIdentities(schema, data)
  const start = (sequence: Sequence): NeededValues => {
    const fields = numberedIdentities(schema).filter(
      ({ generator }) => generator!.sequence!.name === sequence.name,
    )
    const isTakenIn = (value: bigint) => (field: SimpleField) =>
      isTaken(field, field.type.cast(numberFrom(String(value)))!)
    return { sequence, count: 0, isTaken: (value) => fields.some(isTakenIn(value)) }
  }
  const rehearsal: Sources = {
    ...drawSources(origin, () => 0n),
    standsIn: true,
    generate: ({ generator }) => {
      const { sequence } = generator!
      if (sequence) {
        const entry = needed.get(sequence.name) ?? start(sequence)
        entry.count++
        needed.set(sequence.name, entry)
      }
      return randomUUID()
    },
  }
  for (const sent of data) prepareDocument(schema, sent, rehearsal)
  return needed.values()
}
