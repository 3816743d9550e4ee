/** Writes checked documents as they are, found by `_id`: loading the same documents again changes nothing. */
import { authorizeLoad } from '../../access/authorize.ts'
import { ServiceError } from '../../base/errors.ts'
import { type JsonObject, sameJson } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { Work, during } from '../../base/work/work.ts'
import { resolveField, rootScope } from '../../lang/resolve/scope.ts'
import type { Change, Outcome, SaveItem, StoredDocument } from '../../plan/plan.ts'
import { planLoad } from '../../plan/write.ts'
import type { SimpleField } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Report, Store } from '../../store/store.ts'
import { boundsOf } from '../deps.ts'
import { type LoadRules, checkDocument } from './check-document.ts'

export interface LoadedBatch {
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  /** Members that no version defines, by path without indexes. */
  readonly dropped: ReadonlyMap<string, number>
  /** By position in the batch. */
  readonly rejected: ReadonlyMap<number, readonly ServiceError[]>
  /** The documents that are stored now. */
  readonly stored: readonly JsonObject[]
}

interface LoadTarget {
  readonly store: Pick<Store, 'write'>
  readonly rules: LoadRules
  /** The name that is recorded in the history of documents. */
  readonly principal: string
}

/** A batch is one transaction. Slow disks and busy servers may take their time for it. */
const TIME_LIMIT_MS = 600_000

export async function loadDocuments(
  documents: readonly JsonObject[],
  { store, rules, principal }: LoadTarget,
): Promise<LoadedBatch> {
  const work = new Work({ timeLimitMs: TIME_LIMIT_MS })
  const rejected = new Map<number, readonly ServiceError[]>()
  const dropped = new Map<string, number>()
  const valid: { readonly position: number; readonly document: JsonObject }[] = []
  during(work, () => {
    for (const [position, sent] of documents.entries()) {
      const checked = checkDocument(sent, rules)
      if (checked.kind === 'faulty') rejected.set(position, checked.faults)
      else {
        valid.push({ position, document: checked.document })
        for (const path of checked.dropped) addTo(dropped, path.replaceAll(/\.\d+(?=\.|$)/g, '.*'))
      }
    }
  })
  const schema = rules.schemas[0]!
  const plan = planLoad(
    authorizeLoad(schema),
    valid.map(({ document }) => itemFor(document, schema)),
  )
  let outcomes: (Outcome | undefined)[] = []
  const begin = (): Report => {
    outcomes = []
    return (outcome, item) => void (outcomes[item!] = outcome)
  }
  if (valid.length > 0) await store.write({ ...plan, principal }, begin, boundsOf(work, {}))
  for (const [i, { position }] of valid.entries()) {
    const faults = faultsOf(outcomes[i])
    if (faults.length > 0) rejected.set(position, faults)
  }
  const counted = (kind: Outcome['kind']): number =>
    outcomes.filter((outcome) => outcome?.kind === kind).length
  return {
    inserted: counted('inserted'),
    updated: counted('updated'),
    unchanged: counted('kept'),
    dropped,
    rejected,
    stored: valid.filter(({ position }) => !rejected.has(position)).map(({ document }) => document),
  }
}

function itemFor(document: JsonObject, schema: Schema): SaveItem {
  const field = resolveField({ path: '_id', at: '/data' }, rootScope(schema))
  const value = (field.field as SimpleField).type.cast(document['_id']!)!
  return {
    query: { kind: 'compare', field, op: '$eq', value },
    change: (stored) => changeTo(document, stored),
  }
}

function changeTo(document: JsonObject, stored: StoredDocument | undefined): Change {
  if (stored === undefined) return { kind: 'write', document }
  const before = parseTrusted(stored.text) as JsonObject
  return sameJson(before, document) ? { kind: 'keep' } : { kind: 'write', document, before }
}

function faultsOf(outcome: Outcome | undefined): readonly ServiceError[] {
  if (outcome?.kind === 'refused') return outcome.faults
  if (outcome?.kind !== 'duplicate') return []
  const problem = 'another document has this identity or one of these unique values'
  return [new ServiceError('store-crud:Duplicate', problem)]
}

function addTo(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
