/** Checks whether a caller may insert a document with its fields, and lists paths in error messages. */
import { holds } from '../../access/conditions.ts'
import type { WriteVisibility } from '../../access/requests.ts'
import { ServiceError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { Prepared } from '../../schema/document.ts'
import { type FaultBudget, addFault, startFaults } from '../../schema/faults.ts'
import type { Field } from '../../schema/field.ts'

/** All faults of a new document, including fields and documents that the caller may not insert. */
export function faultsOfNew(
  prepared: Prepared,
  { mayInsert, insertRules }: WriteVisibility,
  budget: FaultBudget,
): readonly ServiceError[] {
  const { document, faults: reported } = prepared
  const faults = startFaults(budget, [...reported])
  for (const path of deniedIn(prepared, mayInsert)) {
    if (faults.isFull) break
    addFault(
      faults,
      new ServiceError('crud:insert:NoFieldAccess', `you may not insert "${path}"`, { context: path }),
    )
  }
  // Row rules are evaluated only on documents without faults.
  if (reported.length === 0 && !holds(insertRules, document)) {
    addFault(faults, new ServiceError('crud:NoAccess', 'you may not insert a document such as this one'))
  }
  budget.left -= faults.reported.length - reported.length
  return faults.reported
}

/** A denied container stands for all fields below it, which follow it directly. */
function* deniedIn(
  { sentFields, document }: Prepared,
  mayInsert: WriteVisibility['mayInsert'],
): Generator<string> {
  const isDenied = decidedOnce(document, mayInsert)
  let above = '.'
  for (const [path, field] of sentFields) {
    if (path.startsWith(above) || !isDenied(field)) continue
    yield path
    above = `${path}.`
  }
}

/**
 * Decided once per field, because a rule may have to inspect the whole document and is the same for every
 * value of a field.
 */
export function decidedOnce(
  document: JsonObject,
  may: (field: Field, document: JsonObject) => boolean,
): (field: Field) => boolean {
  const decisions = new Map<Field, boolean>()
  return (field) => {
    const known = decisions.get(field)
    if (known !== undefined) return known
    const isDenied = !may(field, document)
    decisions.set(field, isDenied)
    return isDenied
  }
}

/** Names the first paths and counts the others; of very many paths not all are counted. */
export function listPaths(paths: readonly string[]): string {
  const named = paths.slice(0, MAX_NAMED).map((path) => `"${path}"`)
  const others = paths.length - named.length
  if (others === 0) return named.join(', ')
  return `${named.join(', ')} and ${others < MAX_COUNTED ? others : `at least ${MAX_COUNTED}`} more`
}

const MAX_NAMED = 10
const MAX_COUNTED = 900
